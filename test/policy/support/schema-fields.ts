/** What the schemas say that a document may have, read from their sources. */
import { readFileSync } from 'node:fs'
import type { JsonSchema } from '../../../src/policy/json-schema.js'

export type Kind = 'Upstream' | 'Policy'

export interface SchemaField {
  /** `['spec', 'routes', '[]', 'match', 'path']`. */
  readonly path: readonly string[]
  readonly schema: JsonSchema
}

const read = (name: string): JsonSchema =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${name}.schema.json`, import.meta.url), 'utf8'))

const SOURCES: Readonly<Record<Kind, JsonSchema>> = { Upstream: read('upstream'), Policy: read('policy') }
const DEFS = { ...read('common').$defs, ...SOURCES.Upstream.$defs }

/** Every key of a document of this kind, sections included, in order; the document itself first. */
export function schemaFields(kind: Kind): SchemaField[] {
  return walk(SOURCES[kind], [])
}

function walk(schema: JsonSchema, path: readonly string[]): SchemaField[] {
  const within = Object.entries(schema.properties ?? {}).flatMap(([key, inner]) =>
    walk(resolved(inner), [...path, key]),
  )
  const item = schema.items === undefined ? undefined : resolved(schema.items)
  return [{ path, schema }, ...within, ...(item?.properties === undefined ? [] : walk(item, [...path, '[]']))]
}

function resolved({ $ref, ...own }: JsonSchema): JsonSchema {
  const name = $ref?.split('/').at(-1)
  return name === undefined ? own : { ...DEFS[name], ...own }
}
