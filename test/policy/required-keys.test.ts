import { expect, it } from 'vitest'
import type { JsonSchema } from '../../src/policy/json-schema.js'
import { publishedSchema } from '../../src/policy/published-schema.js'
import { messagesOf } from './set.js'

interface Key {
  readonly path: readonly string[]
  readonly required: boolean
}

/** Every key of an Upstream that may be left empty by mistake; `[]` stands for an item. */
function keysOf(schema: JsonSchema, path: readonly string[] = []): Key[] {
  const { $ref } = schema
  const resolved =
    $ref === undefined ? schema : (publishedSchema('Upstream').$defs?.[$ref.replace('#/$defs/', '')] ?? {})
  const required = (resolved['required'] ?? []) as readonly string[]
  const items = resolved.items === undefined ? [] : keysOf(resolved.items, [...path, '[]'])
  const own = Object.entries(resolved.properties ?? {}).flatMap(([key, value]) => [
    { path: [...path, key], required: required.includes(key) },
    ...keysOf(value, [...path, key]),
  ])
  return [...items, ...own]
}

/** A document of nothing but what leads to the key, which is empty. */
function emptyAt(path: readonly string[]): string {
  const [key, ...rest] = path
  if (key === undefined) return 'null'
  return key === '[]' ? `[${emptyAt(rest)}]` : `{ ${key}: ${emptyAt(rest)} }`
}

const keys = keysOf(publishedSchema('Upstream')).filter(({ path }) => !/^(apiVersion|kind)$/.test(path[0] ?? ''))

it('the schema has keys that are required and keys that are not', () => {
  expect(keys.filter(({ required }) => required).length).toBeGreaterThan(4)
  expect(keys.filter(({ required }) => !required).length).toBeGreaterThan(50)
})

it.each(keys.map(({ path, required }) => [path.join('.'), path, required] as const))(
  'an empty %s is told to be removed only where the document can do without it',
  (_, path, required) => {
    const rest = emptyAt(path).slice(2, -2)
    const told = messagesOf(`apiVersion: forbear.dev/v1alpha1\nkind: Upstream\n${rest}\n`)
    const line = told.find(text => text.includes(`${path.at(-1)} is empty: `)) ?? ''
    expect(line).toContain(required ? 'give it a value' : 'remove the key')
    expect(line.includes('remove the key')).toBe(!required)
  },
)
