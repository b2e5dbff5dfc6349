import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { DELIVERED_OUTCOMES, OWN_REASONS, UNANSWERED_OUTCOMES } from '../../src/core/reasons.js'
import type { ForbearEvent, RequestFinished } from '../../src/telemetry/events.js'
import { flagsOf } from '../../src/telemetry/flags.js'
import { type AccessLog, createLogSink, type LogLevel } from '../../src/telemetry/log.js'
import { requestFinished, retryScheduled } from './events.js'

function logged(
  events: readonly ForbearEvent[],
  options: { level?: LogLevel; accessLog?: AccessLog; accessLogSample?: number; lost?: number } = {},
) {
  const text: string[] = []
  const sink = createLogSink({
    level: options.level ?? 'info',
    accessLog: options.accessLog ?? 'all',
    accessLogSample: options.accessLogSample,
    pretty: false,
    destination: { write: line => text.push(line), flush() {}, drain() {}, lostLines: options.lost ?? 0 },
  })
  for (const event of events) sink.emit(event)
  return text.map(line => JSON.parse(line))
}

const policyReloaded = {
  type: 'policy-reloaded',
  result: 'applied',
  trigger: 'watch',
  generation: 4,
  hash: 'abc',
  upstreams: 2,
  durationMs: 12.7,
  messages: [],
  noPolicy: [],
  kept: [],
} as const

const breakerChanged = {
  type: 'breaker-changed',
  upstream: 'payments',
  route: 'place-order',
  from: 'closed',
  to: 'open',
  reason: 'failure-ratio',
  openForMs: 1000,
  observeOnly: false,
} as const

describe('the access log', () => {
  it('has one line a request, with all an operator asks for', () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const [line, ...more] = logged([requestFinished({ route: 'place-order', method: 'POST', traceId })])
    expect(more).toEqual([])
    expect(line).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      msg: 'request',
      upstream: 'payments',
      route: 'place-order',
      method: 'POST',
      path: '/v1/orders',
      status: 200,
      outcome: 'delivered',
      flags: '-',
      denied: null,
      attempts: 1,
      hedges: 0,
      polls: 0,
      durationMs: 12.35,
      headMs: 11.23,
      waitedMs: 0,
      bytes: 1024,
      generation: 3,
      traceId,
    })
  })

  it('tells why an answer of our own had no further attempt before it', () => {
    expect(logged([requestFinished({ outcome: 'connect', denied: 'budget-exhausted' })])).toMatchObject([
      { outcome: 'connect', denied: 'budget-exhausted' },
    ])
  })

  it.each([...DELIVERED_OUTCOMES, ...OWN_REASONS, ...UNANSWERED_OUTCOMES])(
    'names the outcome %s and its flag',
    outcome => {
      expect(logged([requestFinished({ outcome })])).toMatchObject([{ outcome, flags: flagsOf(outcome) }])
    },
  )

  it('has one line a retry', () => {
    const [line] = logged([retryScheduled({ status: null, error: 'connect ECONNREFUSED', reason: 'connect' })])
    expect(line).toMatchObject({
      msg: 'retry',
      attempt: 1,
      status: null,
      error: 'connect ECONNREFUSED',
      delayMs: 187.65,
      reason: 'connect',
    })
  })

  it('has one line for the end of a tunnel, unless it has errors alone', () => {
    const closed = {
      type: 'tunnel-closed',
      upstream: 'chat',
      route: null,
      method: 'GET',
      path: '/room',
      durationMs: 12.3456,
      bytesToUpstream: 7,
      bytesToApp: 11,
      generation: 3,
    } as const
    const { type: _, ...fields } = closed
    expect(logged([closed])).toMatchObject([{ level: 30, msg: 'tunnel closed', ...fields, durationMs: 12.35 }])
    expect(logged([closed], { accessLog: 'errors' })).toEqual([])
  })

  it('keeps a hostile path on one short line', () => {
    const path = `/"\n\u0000\u2028${'x'.repeat(100_000)}`
    const [line] = logged([requestFinished({ path })])
    expect(line.path.length).toBeLessThan(1100)
    expect(path.startsWith(line.path.slice(0, -1))).toBe(true)
  })

  it('with `errors` has only requests that were not plainly delivered', () => {
    const events = [
      requestFinished(),
      requestFinished({ status: 404 }),
      requestFinished({ status: 500 }),
      requestFinished({ status: 200, outcome: 'cut' }),
    ]
    expect(logged(events, { accessLog: 'errors' }).map(line => line.status)).toEqual([500, 200])
  })

  it('with `sampled` has every request that was not plain, and one of N of the plain ones', () => {
    const plain = Array.from({ length: 100 }, () => requestFinished())
    const odd = [
      requestFinished({ status: 500 }),
      requestFinished({ outcome: 'cut' }),
      requestFinished({ outcome: 'hedge-won', attempts: 2, hedges: 1 }),
      requestFinished({ attempts: 2 }),
      requestFinished({ polls: 3 }),
      requestFinished({ denied: 'budget-exhausted' }),
    ]
    const lines = logged([...plain, ...odd, retryScheduled()], { accessLog: 'sampled', accessLogSample: 25 })
    expect(lines).toHaveLength(4 + odd.length + 1)
  })

  it('with `sampled` chooses the same traces wherever they pass, and more of the same with a smaller N', () => {
    const traces = Array.from({ length: 2000 }, (_, n) =>
      requestFinished({ traceId: createHash('md5').update(String(n)).digest('hex') }),
    )
    const chosen = (accessLogSample: number, events: readonly RequestFinished[]): Set<string> =>
      new Set(logged(events, { accessLog: 'sampled', accessLogSample }).map(line => line.traceId))
    const few = chosen(20, traces)
    expect(few.size).toBeGreaterThan(50)
    expect(few.size).toBeLessThan(170)
    expect(chosen(20, [...traces].reverse())).toEqual(few)
    const more = chosen(5, traces)
    expect([...few].filter(id => !more.has(id))).toEqual([])
    expect(chosen(1, traces).size).toBe(2000)
  })

  it('with `off` has neither requests nor retries', () => {
    expect(logged([requestFinished({ status: 500 }), retryScheduled()], { accessLog: 'off' })).toEqual([])
  })

  it('does not depend on the level', () => {
    expect(logged([requestFinished(), retryScheduled()], { level: 'error' })).toHaveLength(2)
  })
})

describe("an operator's log", () => {
  it('warns when a breaker opens and informs when it closes', () => {
    const events = [
      breakerChanged,
      { ...breakerChanged, from: 'half-open', to: 'closed', reason: 'probe-succeeded' } as const,
    ]
    expect(logged(events)).toMatchObject([
      {
        level: 40,
        msg: 'breaker open',
        upstream: 'payments',
        route: 'place-order',
        reason: 'failure-ratio',
        openForMs: 1000,
      },
      { level: 30, msg: 'breaker closed', reason: 'probe-succeeded' },
    ])
  })

  it('says when a breaker only observes', () => {
    expect(logged([{ ...breakerChanged, observeOnly: true }])[0].msg).toContain('observed only')
  })

  it('tells of gates', () => {
    const events: ForbearEvent[] = [
      { type: 'gate-changed', upstream: 'payments', to: 'closed', closedForMs: 3000 },
      { type: 'gate-changed', upstream: 'payments', to: 'open', closedForMs: null },
    ]
    expect(logged(events)).toMatchObject([
      { level: 40, msg: expect.stringContaining('gate closed'), closedForMs: 3000 },
      { level: 30, msg: 'gate opened' },
    ])
  })

  it('gives one error with all messages when policies are rejected', () => {
    const messages = ['a.yaml:1:1  spec.target  missing', 'a.yaml:2:1  spec.retry  unknown key']
    expect(logged([{ ...policyReloaded, result: 'rejected', messages }])).toMatchObject([{ level: 50, messages }])
  })

  it('warns when applied policies drew a warning', () => {
    const [line] = logged([{ ...policyReloaded, messages: ['a.yaml:1:1  spec.retry  unwise'] }])
    expect(line).toMatchObject({ level: 40, msg: 'policies applied', generation: 4, durationMs: 13 })
  })

  it('names the upstreams that a reload added, changed, removed and left out, twenty of each at most', () => {
    const many = Array.from({ length: 23 }, (_, n) => `shop-${n}`)
    const changes = { added: many, changed: ['bank'], removed: [] }
    const [line] = logged([{ ...policyReloaded, result: 'partial', changes, noPolicy: ['ledger'] }])
    expect(line).toMatchObject({
      added: [...many.slice(0, 20), 'and 3 more'],
      changed: ['bank'],
      noPolicy: ['ledger'],
    })
    expect(line).not.toHaveProperty('removed')
    expect(line).not.toHaveProperty('kept')
  })

  it('tells that policies are good again after a bad edit was taken back', () => {
    expect(logged([{ ...policyReloaded, result: 'unchanged', recovered: true }])).toMatchObject([
      { level: 30, msg: 'policies are good again' },
    ])
  })

  it('is silent about a poll that finds nothing, but answers an operator who asks', () => {
    const unchanged = { ...policyReloaded, result: 'unchanged' } as const
    expect(
      logged([
        { ...unchanged, trigger: 'poll' },
        { ...unchanged, trigger: 'signal' },
      ]),
    ).toMatchObject([{ msg: 'policies unchanged', trigger: 'signal' }])
  })

  it('tells of a port that is closed, or cannot be opened, under the fields of one that was', () => {
    const about = { role: 'upstream', upstream: 'payments', address: '127.0.0.1:15101' } as const
    const events = [null, 'cannot listen'].map(error => ({ type: 'not-listening', error, ...about }) as const)
    expect(logged(events)).toMatchObject([
      { level: 30, msg: 'no longer listening', ...about },
      { level: 50, msg: 'cannot listen', ...about },
    ])
  })

  it('tells of listeners and notices', () => {
    const events: ForbearEvent[] = [
      { type: 'listening', role: 'shared', upstream: null, address: '127.0.0.1:15080' },
      { type: 'notice', level: 'error', message: 'port taken', detail: { port: 15101 } },
      { type: 'notice', level: 'info', message: 'draining' },
    ]
    expect(logged(events)).toMatchObject([
      { level: 30, msg: 'listening', role: 'shared', address: '127.0.0.1:15080' },
      { level: 50, msg: 'port taken', detail: { port: 15101 } },
      { level: 30, msg: 'draining' },
    ])
  })

  it('shows attempts and denials at debug level only', () => {
    const events: ForbearEvent[] = [
      {
        type: 'attempt-finished',
        upstream: 'payments',
        route: null,
        attempt: 1,
        status: 503,
        result: 'response',
        durationMs: 3,
      },
      { type: 'retry-denied', upstream: 'payments', route: null, attempt: 1, reason: 'budget-exhausted' },
      { type: 'hedge-decided', upstream: 'payments', route: null, result: 'won' },
    ]
    expect(logged(events)).toEqual([])
    expect(logged(events, { level: 'debug' })).toMatchObject([
      { msg: 'attempt-finished', status: 503 },
      { msg: 'retry-denied', reason: 'budget-exhausted' },
      { msg: 'hedge-decided', result: 'won' },
    ])
  })

  it('says how many lines were lost, once', () => {
    const events: ForbearEvent[] = [breakerChanged, breakerChanged]
    expect(logged(events, { lost: 12 }).filter(line => line.msg.includes('lost'))).toMatchObject([
      { level: 40, lines: 12 },
    ])
  })
})

it('is readable text in a terminal', () => {
  const text: string[] = []
  const sink = createLogSink({
    level: 'info',
    accessLog: 'all',
    pretty: true,
    destination: { write: line => text.push(line), flush() {}, drain() {}, lostLines: 0 },
  })
  sink.emit(requestFinished({ outcome: 'connect', status: 502 }))
  sink.log.warn('careful', { count: 2 })
  const lines = text.join('').split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/WARN.*payments {2}GET \/v1\/orders {2}502 connect UF {2}1 attempt, /)
  expect(lines[1]).toMatch(/WARN.*careful/)
})
