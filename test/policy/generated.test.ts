import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { BUILT_IN } from '../../src/policy/defaults.js'
import { parseDurationMs } from '../../src/policy/duration.js'
import { SECTION_FIELDS } from '../../src/policy/generated/fields.js'
import { parseSizeBytes } from '../../src/policy/size.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const schema = (name: string) => JSON.parse(readFileSync(`${root}schemas/${name}.schema.json`, 'utf8'))

interface Node {
  readonly $ref?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Node>>
}

/** The documented defaults, as a document would write them. */
function defaultsOf(node: Node): unknown {
  const { $defs } = schema('common')
  const full: Node = node.$ref === undefined ? node : { ...$defs[node.$ref.split('/').at(-1) ?? ''], ...node }
  if (full.properties === undefined) return full.default
  const entries = Object.entries(full.properties).map(([key, inner]) => [key, defaultsOf(inner)] as const)
  const known = entries.filter(([, value]) => value !== undefined)
  return known.length === 0 ? undefined : Object.fromEntries(known)
}

describe('what is generated from the schemas', () => {
  it('is fresh', () => {
    const run = () => execFileSync('node', ['schemas/generate.mjs', '--check'], { cwd: root, encoding: 'utf8' })
    expect(run).not.toThrow()
  })

  it('bounds every duration and size by words that parse', () => {
    for (const [name, field] of Object.entries(SECTION_FIELDS)) {
      if (field === null) continue
      const parse = field.format === 'size' ? parseSizeBytes : parseDurationMs
      expect([name, parse(field.min), parse(field.max)]).toEqual([name, expect.any(Number), expect.any(Number)])
    }
  })
})

describe('the built-in settings', () => {
  const common = schema('common').$defs
  const { longPoll } = schema('upstream').$defs.route.properties

  it('are the defaults that the schemas document', () => {
    const { propagate: _, longPoll: __, ...sections } = BUILT_IN
    for (const [name, section] of Object.entries(sections)) expect(defaultsOf(common[name])).toEqual(section)
    expect([common.propagate.default, longPoll.default]).toEqual([BUILT_IN.propagate, BUILT_IN.longPoll])
  })

  it('name no field that the schemas do not have', () => {
    expect(Object.keys(BUILT_IN).sort()).toEqual(
      [...new Set(Object.keys(SECTION_FIELDS).map(name => name.split('.')[0]))].sort(),
    )
  })
})
