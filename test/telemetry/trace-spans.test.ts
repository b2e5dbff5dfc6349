import { describe, expect, it } from 'vitest'
import { RequestTrace } from '../../src/core/request-trace.js'
import type { TargetSnapshot } from '../../src/core/snapshot.js'
import type { RequestFinished } from '../../src/telemetry/events.js'
import { type SpanData, spansOf } from '../../src/telemetry/trace-spans.js'
import { requestFinished } from './events.js'

const NOW = { nowMs: 5_000, wallMs: 1_767_225_600_000 }
const target: TargetSnapshot = {
  protocol: 'https:',
  hostname: 'shop.test',
  port: 443,
  authority: 'shop.test',
  basePath: '/base',
}

interface Part {
  readonly event?: Partial<RequestFinished>
  readonly attempt?: { readonly status: number | null; readonly result: string }
  readonly to?: { readonly target: TargetSnapshot; readonly path: string }
}

function rendered({
  event = {},
  attempt = { status: 200, result: 'response' },
  to = { target, path: '/x' },
}: Part = {}): {
  readonly request: SpanData
  readonly attempt: SpanData
} {
  let spans = 0
  const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 }
  const trace = new RequestTrace(context, null, false, () => String(++spans).padStart(16, '0'))
  trace.attempt(1, false, 4_900).end = { atMs: 4_990, ...attempt }
  // One that was not made after all.
  trace.attempt(2, false, 4_995)
  trace.waited('slot', 4_800, 4_900)
  const [first, second, ...more] = spansOf(requestFinished({ durationMs: 250, ...event }), { request: trace, to }, NOW)
  if (first === undefined || second === undefined || more.length > 0) throw new Error('not two spans')
  return { request: first, attempt: second }
}

describe('the spans of a request', () => {
  it('have the times of the wall clock, a wait those of its beginning', () => {
    const { request, attempt } = rendered()
    expect([request.startMs - NOW.wallMs, request.endMs - NOW.wallMs]).toEqual([-250, 0])
    expect([attempt.startMs - NOW.wallMs, attempt.endMs - NOW.wallMs]).toEqual([-100, -10])
    expect(request.events).toEqual([
      {
        name: 'forbear.wait',
        atMs: NOW.wallMs - 200,
        attributes: { 'forbear.wait.place': 'slot', 'forbear.wait.duration_ms': 100 },
      },
    ])
  })

  it('are named by known methods alone, whatever the app makes up', () => {
    const { request, attempt } = rendered({ event: { method: 'M-'.repeat(40) } })
    expect([request.name, attempt.name]).toEqual(['HTTP', 'HTTP'])
    expect(request.attributes).toMatchObject({ 'http.request.method': '_OTHER' })
    expect(String(request.attributes['http.request.method_original'])).toHaveLength(32)
  })

  it('keep to a bound, however long the path', () => {
    const path = `/${'x'.repeat(100_000)}`
    const { request, attempt } = rendered({ event: { path }, to: { target, path } })
    expect(String(request.attributes['url.path']).length).toBeLessThan(1100)
    expect(String(attempt.attributes['url.full']).length).toBeLessThan(1100)
  })

  it('name the server: a host and its port, or a socket file', () => {
    expect(rendered().attempt.attributes).toMatchObject({
      'server.address': 'shop.test',
      'server.port': 443,
      'url.full': 'https://shop.test/base/x',
    })
    const file = { ...target, hostname: 'localhost', socketPath: '/run/app.sock' }
    const { attributes } = rendered({ to: { target: file, path: '/x' } }).attempt
    expect(attributes['server.address']).toBe('/run/app.sock')
    expect(attributes).not.toHaveProperty('server.port')
  })

  it.each([
    ['an answer of ours', { status: 503, outcome: 'breaker-open' }, 'breaker-open'],
    ["the upstream's last answer", { status: 503, outcome: 'retries-exhausted' }, 'retries-exhausted'],
    ['an error that was delivered', { status: 500, outcome: 'delivered' }, '500'],
    ['a body that broke', { status: 200, outcome: 'cut' }, 'cut'],
    ['a mistake of the app', { status: 404, outcome: 'delivered' }, null],
    ['an app that left', { status: 499, outcome: 'aborted' }, null],
  ] as const)('of the app: %s', (_, event, type) => {
    const { failed, attributes } = rendered({ event }).request
    expect([failed, attributes['error.type'] ?? null]).toEqual([type !== null, type])
  })

  it.each([
    ['no connection', { status: null, result: 'connect' }, 'connect'],
    ['a 404', { status: 404, result: 'response' }, '404'],
    ['a redirect', { status: 302, result: 'response' }, null],
    ['an answer cut short', { status: 200, result: 'cut' }, 'cut'],
    ['the loser of a race', { status: null, result: 'lost' }, null],
    ['what the app gave up', { status: null, result: 'aborted' }, null],
  ] as const)('of the upstream: %s', (_, attempt, type) => {
    const { failed, attributes } = rendered({ attempt }).attempt
    expect([failed, attributes['error.type'] ?? null]).toEqual([type !== null, type])
  })
})
