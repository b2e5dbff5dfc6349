import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isMap, isPair, isScalar, LineCounter, parseDocument, stringify, visit } from 'yaml'
import { LanguageServer, type Position } from './support/language-server.js'
import { type Kind, type SchemaField, schemaFields } from './support/schema-fields.js'

const COMMENT = '# yaml-language-server: $schema=../schemas/forbear.schema.json\n'
const KINDS: readonly Kind[] = ['Upstream', 'Policy']

let server: LanguageServer
beforeAll(async () => {
  server = await LanguageServer.start()
})
afterAll(() => server.stop())

const named = (field: SchemaField): string => field.path.join('.')
const isMapping = ({ schema }: SchemaField): boolean => schema.properties !== undefined
const isSection = (field: SchemaField): boolean => isMapping(field) && field.path.length > 0

/** A document up to the place where a key under the path would be written, and that place. */
function upTo(kind: Kind, path: readonly string[]): { text: string; at: Position } {
  const head = `${COMMENT}apiVersion: forbear.dev/v1alpha1\nkind: ${kind}\n`
  let [text, indent] = [head + (path[0] === 'metadata' ? '' : 'metadata: { name: shop }\n'), '']
  for (const step of path) {
    text += step === '[]' ? `${indent}- x: 1\n` : `${text.endsWith('- ') ? '' : indent}${step}:\n`
    if (step === '[]') text = text.slice(0, -'x: 1\n'.length)
    indent += '  '
  }
  const lines = (text.endsWith('- ') ? text : text + indent).split('\n')
  return { text: lines.join('\n'), at: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 } }
}

/** Formatting differs with the place, the words do not. */
const plain = (text: string): string => text.replaceAll('\\', '')

describe.each(KINDS)('in a document of kind %s an editor', kind => {
  const fields = schemaFields(kind)

  it.each(fields.filter(isSection).map(field => [named(field), field] as const))(
    'offers every key of %s with what it does',
    async (_, { path, schema }) => {
      const { text, at } = upTo(kind, path)
      const offers = await server.complete(await server.open(text), at)
      const known = within(fields, path)
      expect(known.length).toBe(Object.keys(schema.properties ?? {}).length)
      for (const field of known) {
        const offer = offers.find(({ label }) => label === field.path.at(-1))
        expect(plain(offer?.documentation ?? 'not offered'), named(field)).toContain(field.schema.description)
      }
    },
  )

  it.each(fields.filter(({ schema }) => wordsOf(schema).length > 0).map(field => [named(field), field] as const))(
    'offers every word of %s',
    async (_, { path, schema }) => {
      const { text, at } = upTo(kind, path.slice(0, -1))
      const list = schema.type === 'array'
      const line = `${path.at(-1)}: ${list ? '[ ]' : ''}`
      const offers = await server.complete(await server.open(text + line), {
        ...at,
        character: at.character + line.length - (list ? 1 : 0),
      })
      const labels = offers.map(({ label }) => label)
      expect(labels).toEqual(expect.arrayContaining(wordsOf(schema)))
    },
  )

  it('finds nothing wrong with a document that has every field, and tells what each is for', async () => {
    const text = COMMENT + stringify(exampleOf(fields, []))
    expect(await server.complaints(text)).toEqual([])
    const uri = await server.open(text)
    const told = new Map<string, string>()
    for (const [name, at] of keysOf(text)) told.set(name, plain(await server.hover(uri, at)))
    for (const field of fields.filter(({ path }) => path.length > 0 && path.at(-1) !== '[]')) {
      expect(told.get(named(field)) ?? `no key ${named(field)}`).toContain(plain(field.schema.description ?? '?'))
    }
  })
})

function within(fields: readonly SchemaField[], path: readonly string[]): SchemaField[] {
  const prefix = path.map(step => `${step}.`).join('')
  return fields
    .filter(field => named(field).startsWith(prefix) && field.path.length === path.length + 1)
    .filter(({ path: steps }) => steps.at(-1) !== '[]')
}

function wordsOf(schema: SchemaField['schema']): string[] {
  if (schema.type === 'boolean') return ['true', 'false']
  const source = (schema.items ?? schema) as SchemaField['schema'] & { 'x-words'?: string[] }
  return [...(source.enum ?? source['x-words'] ?? (schema.const === undefined ? [] : [schema.const]))]
}

/** A value with everything under the path, made of the schemas' examples. */
function exampleOf(fields: readonly SchemaField[], path: readonly string[]): unknown {
  const field = fields.find(({ path: own }) => own.join('.') === path.join('.'))
  if (field === undefined || !isMapping(field)) {
    return fields.some(({ path: own }) => own.join('.') === [...path, '[]'].join('.'))
      ? [exampleOf(fields, [...path, '[]'])]
      : field?.schema.examples?.[0]
  }
  const keys = within(fields, path).map(({ path: own }) => own)
  return Object.fromEntries(keys.map(own => [own.at(-1), exampleOf(fields, own)]))
}

/** `spec.routes.[].name` → where its key stands. */
function keysOf(text: string): Map<string, Position> {
  const lines = new LineCounter()
  const keys = new Map<string, Position>()
  visit(parseDocument(text, { lineCounter: lines }), {
    Pair(_, { key }, ancestors) {
      if (!isScalar(key)) return
      const steps = ancestors.flatMap(node => (isPair(node) ? [String(node.key)] : isMap(node) ? [] : ['[]']))
      const { line, col } = lines.linePos(key.range?.[0] ?? 0)
      keys.set([...steps.slice(1), String(key.value)].join('.'), { line: line - 1, character: col })
    },
  })
  return keys
}
