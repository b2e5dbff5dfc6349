import { describe, expect, it } from 'vitest'
import { BUILT_IN } from '../../src/policy/defaults.js'
import { SCHEMA } from '../../src/policy/generated/schema.js'
import { explainPolicy } from '../../src/policy/provenance.js'
import { snapshotOf, sourceOf, upstream } from '../policy/set.js'

interface Field {
  readonly $ref?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Field>>
}

const { $defs } = SCHEMA as unknown as { readonly $defs: Readonly<Record<string, Field>> }

/** Each documented default, by dotted path. */
function documented(field: Field, path: string): [string, unknown][] {
  const full = field.$ref === undefined ? field : { ...$defs[field.$ref.split('/').at(-1) ?? ''], ...field }
  const inner = Object.entries(full.properties ?? {})
  if (inner.length > 0) return inner.flatMap(([key, next]) => documented(next, path === '' ? key : `${path}.${key}`))
  return full.default === undefined ? [] : [[path, full.default]]
}

const sections = Object.keys(BUILT_IN).filter(name => name !== 'propagate' && name !== 'longPoll')
const defaults = sections.flatMap(name => documented($defs[name] ?? {}, name))

/** `retry.backoff.jitter` → `retry: { backoff: { jitter: … } }` */
function written(path: string, value: unknown): string {
  const keys = path.split('.')
  // Off unless written; whoever writes the default of accept turns it on.
  if (keys[0] === 'park')
    return keys[1] === 'accept' ? '' : `park: { accept: never, ${keys[1]}: ${JSON.stringify(value)} }`
  const opened = keys.map((key, n) => (n === 0 ? `${key}: ` : `{ ${key}: `)).join('')
  return `${opened}${JSON.stringify(value)}${' }'.repeat(keys.length - 1)}`
}

const effective = (lines: string) =>
  new Map((explainPolicy(sourceOf(upstream(lines)), 'payments', null) ?? []).map(field => [field.path, field.value]))
const policyWith = (lines: string) => snapshotOf(upstream(lines)).upstreams.get('payments')?.policy

describe('F108: documented defaults are the effective ones', () => {
  it('has defaults to compare, those of unions among them', () => {
    expect(defaults.length).toBeGreaterThan(30)
    expect(defaults.map(([path]) => path)).toContain('retry.backoff.jitter')
  })

  it.each(defaults)('%s: %j', (path, value) => {
    expect(effective('').get(path)).toEqual(value)
    expect(policyWith(written(path, value))).toEqual(policyWith(''))
  })

  it('and fill what a section leaves out, whatever else it writes', () => {
    const fields = effective('retry: { backoff: { kind: linear, base: 1s } }')
    expect(fields.get('retry.backoff.jitter')).toBe('full')
    expect(fields.get('retry.backoff.cap')).toBe('30s')
    expect(fields.get('retry.backoff.kind')).toBe('linear')
  })
})
