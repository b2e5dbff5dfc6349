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

const sections = Object.keys(BUILT_IN).filter(name => !['propagate', 'longPoll', 'poll'].includes(name))
const defaults = sections.flatMap(name => documented($defs[name] ?? {}, name))

/** Whose being written turns it on. */
const OFF_UNLESS_WRITTEN: Readonly<Record<string, string>> = {
  hedge: 'mode: disabled',
  pace: 'mode: disabled',
  throttle: 'mode: disabled',
  park: 'accept: never',
}

/** `retry.backoff.jitter` → `retry: { backoff: { jitter: … } }` */
function written(path: string, value: unknown): string {
  const keys = path.split('.')
  const [section = '', key] = keys
  const off = OFF_UNLESS_WRITTEN[section]
  if (off !== undefined && !off.startsWith(`${key}:`)) return `${section}: { ${off}, ${key}: ${JSON.stringify(value)} }`
  const opened = keys.map((key, n) => (n === 0 ? `${key}: ` : `{ ${key}: `)).join('')
  return `${opened}${JSON.stringify(value)}${' }'.repeat(keys.length - 1)}`
}

const effective = (lines: string) =>
  new Map((explainPolicy(sourceOf(upstream(lines)), 'payments', null) ?? []).map(field => [field.path, field.value]))
/** A poll stands on a route only, and says until when. */
const polled = (fields: string) =>
  upstream(`routes:\n  - { name: job, match: {}, poll: { until: { status: [200] }${fields} } }`)
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

  it.each(documented($defs['poll'] ?? {}, ''))('poll.%s: %j', (path, value) => {
    const keys = path.split('.')
    const fields = `, ${keys.join(': { ')}: ${JSON.stringify(value)}${' }'.repeat(keys.length - 1)}`
    const routeOf = (text: string) => snapshotOf(text).upstreams.get('payments')?.routes[0]?.policy
    const explained = explainPolicy(sourceOf(polled('')), 'payments', 'job') ?? []
    expect(explained.find(field => field.path === `poll.${path}`)?.value).toEqual(value)
    expect(routeOf(polled(fields))).toEqual(routeOf(polled('')))
  })

  it('and fill what a section leaves out, whatever else it writes', () => {
    const fields = effective('retry: { backoff: { kind: linear, base: 1s } }')
    expect(fields.get('retry.backoff.jitter')).toBe('full')
    expect(fields.get('retry.backoff.cap')).toBe('30s')
    expect(fields.get('retry.backoff.kind')).toBe('linear')
  })
})
