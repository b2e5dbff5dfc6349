import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDurationMs } from '../../src/policy/duration.js'
import { parseSizeBytes } from '../../src/policy/size.js'
import { type Kind, type SchemaField, schemaFields } from './support/schema-fields.js'

const KINDS: readonly Kind[] = ['Upstream', 'Policy']
const fields = KINDS.flatMap(schemaFields).map(field => [field.path.join('.'), field.schema] as const)
const leaves = fields.filter(([, { properties }]) => properties === undefined)

describe('the schemas', () => {
  it.each(fields)('say what %s does', (_, { description }) => {
    expect(description).toMatch(/^[A-Z`].*\.$/s)
  })

  it.each(leaves)('show how %s is written', (_, { examples }) => {
    expect(examples?.length).toBeGreaterThan(0)
  })

  it.each(leaves.filter(([, schema]) => schema.enum !== undefined))('say what each word of %s means', (_, schema) => {
    expect(schema.enumDescriptions).toHaveLength(schema.enum?.length ?? 0)
  })
})

describe('the patterns for editors accept what the parsers accept', () => {
  const digits = fc.array(fc.constantFrom('0', '1', '9'), { maxLength: 4 }).map(list => list.join(''))
  const pieces = fc.constantFrom('h', 'm', 's', 'ms', '.', ' ', '-', 'none', 'B', 'KiB', 'MiB', 'GiB', 'KB', '1', '20')
  const text = fc.array(fc.oneof(pieces, digits), { maxLength: 6 }).map(list => list.join(''))
  const some = (format: string): readonly [string, SchemaField['schema']] => {
    const found = leaves.find(([, schema]) => schema['x-format'] === format)
    if (found === undefined) throw new Error(`no field of format ${format}`)
    return found
  }
  const parsers: Readonly<Record<string, (text: string) => boolean>> = {
    duration: value => parseDurationMs(value) !== null,
    'duration-or-none': value => value === 'none' || parseDurationMs(value) !== null,
    size: value => parseSizeBytes(value) !== null,
  }

  it.each(Object.keys(parsers))('as a %s', format => {
    const pattern = new RegExp(String(some(format)[1]['pattern']))
    fc.assert(
      fc.property(text, value => {
        // Longer numbers may be more than a number holds, which no pattern tells.
        fc.pre(!/\d{6}/.test(value))
        expect(pattern.test(value)).toBe(parsers[format]?.(value))
      }),
      { numRuns: 2000 },
    )
  })

  it('which is the same wherever that form stands', () => {
    for (const [name, schema] of leaves) {
      const format = schema['x-format']
      if (typeof format === 'string') expect([name, schema['pattern']]).toEqual([name, some(format)[1]['pattern']])
    }
  })
})
