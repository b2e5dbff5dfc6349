/** The JSON Schemas that `forbear schema` prints, each complete in itself. */
import { SCHEMA } from './generated/schema.js'
import type { JsonSchema } from './json-schema.js'

/** `any` fits a document of either kind. */
export const SCHEMA_KINDS = ['Upstream', 'Policy', 'any'] as const
export type SchemaKind = (typeof SCHEMA_KINDS)[number]

export function publishedSchema(kind: SchemaKind): JsonSchema {
  if (kind === 'any') return SCHEMA
  const { $schema } = SCHEMA
  const root = definition(kind)
  return { ...($schema === undefined ? {} : { $schema }), ...root, $defs: usedBy(root) }
}

/** In a line. */
export function schemaSummary(kind: SchemaKind): string {
  return publishedSchema(kind).description ?? ''
}

function definition(name: string): JsonSchema {
  const found = SCHEMA.$defs?.[name]
  if (found === undefined) throw new Error(`the schema defines no ${name}`)
  return found
}

/** What it refers to, and what that refers to. */
function usedBy(root: JsonSchema): Record<string, JsonSchema> {
  const used: Record<string, JsonSchema> = {}
  const collect = (schema: JsonSchema): void => {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)) {
      if (used[name] !== undefined) continue
      used[name] = definition(name)
      collect(used[name])
    }
  }
  collect(root)
  return used
}
