/** What the schemas say about one field, for `forbear explain --field`. */
import { SCHEMA } from './generated/schema.js'
import type { JsonSchema } from './json-schema.js'
import { nearest } from './nearest.js'
import { allowedText } from './schema-words.js'

export interface FieldDoc {
  /** Without `spec.` and `spec.routes[].`: `retry.backoff.jitter`. */
  readonly path: string
  readonly description: string
  /** `text`, `whole number`, `section` … */
  readonly type: string
  /** `null` of a section. */
  readonly allowed: string | null
  /** Each word with what it means, where the words are all there is. */
  readonly words: readonly { readonly word: string; readonly meaning: string }[]
  /** `null` = it has none; in words where it depends on others. */
  readonly default: unknown
  readonly examples: readonly unknown[]
  /** Paths from the top of a document, each with the kinds of document that have it there. */
  readonly places: readonly { readonly path: string; readonly kinds: readonly string[] }[]
  /** Of a section. */
  readonly fields: readonly { readonly name: string; readonly type: string; readonly description: string }[]
}

export type FieldLookup =
  /** More than one where a name means one thing here and another there. */
  | { readonly found: true; readonly docs: readonly FieldDoc[] }
  | { readonly found: false; readonly suggestions: readonly string[] }

interface Node {
  readonly short: string
  readonly path: string
  readonly kind: string
  readonly schema: JsonSchema
}

/** `retry.backoff`, with or without `spec.` or `spec.routes[].` before it; `''` and `.` mean all there is. */
export function fieldDocs(query: string): FieldLookup {
  const asked = query
    .trim()
    .replaceAll(/\[\d*\]/g, '[]')
    .replace(/^\.|\.$/g, '')
  if (asked === '') return { found: true, docs: [docOf(NODES.filter(({ path }) => path === 'spec'))] }
  const meant = new Set(nodesAt(asked).map(keyOf))
  if (meant.size === 0) return { found: false, suggestions: suggestionsFor(asked) }
  return { found: true, docs: [...meant].map(key => docOf(NODES.filter(node => keyOf(node) === key))) }
}

/** What is the same wherever it stands. */
function keyOf({ short, schema }: Node): string {
  return `${short} ${schema.description}`
}

const NODES: readonly Node[] = ['Upstream', 'Policy'].flatMap(kind => walk(resolved(SCHEMA.$defs?.[kind]), '', kind))

function walk(schema: JsonSchema, path: string, kind: string): Node[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, raw]) => {
    const inner = resolved(raw)
    const at = path === '' ? key : `${path}.${key}`
    const items = inner.items === undefined ? {} : resolved(inner.items)
    return [
      { short: shortOf(at), path: at, kind, schema: inner },
      ...walk(inner, at, kind),
      ...walk(items, `${at}[]`, kind),
    ]
  })
}

function resolved(schema: JsonSchema | undefined): JsonSchema {
  const name = schema?.$ref?.split('/').at(-1)
  return (name === undefined ? schema : SCHEMA.$defs?.[name]) ?? {}
}

function shortOf(path: string): string {
  return path.replace(/^spec\.(routes\[\]\.)?/, '')
}

function nodesAt(asked: string): readonly Node[] {
  const exact = asked.replace(/^(spec\.)?routes(\[\])?(?=\.|$)/, 'spec.routes[]')
  const full = NODES.filter(({ path }) => path === exact || `${path}[]` === exact)
  return full.length > 0 ? full : NODES.filter(({ short }) => short === asked)
}

/** The same last name elsewhere, else what a slip of the pen would have made of it. */
function suggestionsFor(asked: string): string[] {
  const all = [...new Set(NODES.map(({ short }) => short))]
  const name = lastName(shortOf(asked))
  const sameName = all.filter(short => lastName(short) === name)
  if (sameName.length > 0) return sameName
  const near = nearest(shortOf(asked), all)
  if (near !== null) return [near]
  const nearName = nearest(name, new Set(all.map(lastName)))
  return nearName === null ? [] : all.filter(short => lastName(short) === nearName)
}

function lastName(path: string): string {
  return path.split('.').at(-1) ?? ''
}

function docOf(nodes: readonly Node[]): FieldDoc {
  const [{ short, schema }] = nodes as [Node]
  const fields = new Map(nodes.flatMap(node => Object.entries(propertiesOf(node.schema))))
  return {
    path: short,
    description: schema.description ?? '',
    type: typeOf(schema),
    allowed: fields.size > 0 ? null : [...new Set(nodes.map(node => allowedOf(node.schema)))].join(' or '),
    words: (schema.enum ?? []).map((word, n) => ({ word, meaning: schema.enumDescriptions?.[n] ?? '' })),
    default: schema.default ?? schema['x-default'] ?? null,
    examples: schema.examples ?? [],
    places: placesOf(nodes),
    fields: [...fields].map(([name, raw]) => {
      const field = resolved(raw)
      return { name, type: typeOf(field), description: field.description ?? '' }
    }),
  }
}

/** Its own, or those of the entries of a list. */
function propertiesOf({ properties, items }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties ?? (items === undefined ? {} : (resolved(items).properties ?? {}))
}

function placesOf(nodes: readonly Node[]): FieldDoc['places'] {
  const paths = [...new Set(nodes.map(({ path }) => path))]
  return paths.map(path => ({ path, kinds: nodes.filter(node => node.path === path).map(({ kind }) => kind) }))
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'mapping',
}

function typeOf(schema: JsonSchema): string {
  if (schema.properties !== undefined) return 'section'
  const format = schema['x-format']
  if (typeof format === 'string') return format === 'size' ? 'size' : 'duration'
  if (schema.enum !== undefined || schema.const !== undefined) return 'word'
  return [schema.type ?? []]
    .flat()
    .map(type => TYPES[type] ?? type)
    .join(' or ')
}

function allowedOf(schema: JsonSchema): string {
  if (schema.items !== undefined && schema['x-allowed'] === undefined) return `a list of: ${allowedText(schema.items)}`
  if (schema.type === 'object') return 'a mapping of text to text'
  return allowedText(schema as Parameters<typeof allowedText>[0])
}
