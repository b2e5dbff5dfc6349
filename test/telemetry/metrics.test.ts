import { describe, expect, it } from 'vitest'
import {
  DELIVERED_OUTCOMES,
  DENIAL_REASONS,
  HEDGE_DENIALS,
  HEDGE_RESULTS,
  OWN_REASONS,
  POLL_RESULTS,
  UNANSWERED_OUTCOMES,
} from '../../src/core/reasons.js'
import type { AttemptFinished, BreakerChanged, ForbearEvent } from '../../src/telemetry/events.js'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.js'
import type { SidecarStatus } from '../../src/telemetry/status.js'
import { requestFinished, retryScheduled } from './events.js'
import { readPrometheusText } from './prometheus-text.js'
import { sidecarStatus, upstreamStatus } from './status.js'

function setUp(options: { status?: () => SidecarStatus; maxSeries?: number } = {}) {
  const metrics = createMetrics({ status: () => sidecarStatus(), ...options })
  return { metrics, emit: (...events: ForbearEvent[]) => events.forEach(event => metrics.emit(event)) }
}

type Series = { readonly [label: string]: unknown; readonly value: number }

async function scrape(metrics: Metrics) {
  const { samples, types } = readPrometheusText((await metrics.scrape()).body)
  return {
    types,
    own: samples.filter(sample => sample.name.startsWith('forbear_')),
    series: (wanted: string): Series[] =>
      samples.filter(({ name }) => name === wanted).map(({ labels, value }) => ({ ...labels, value })),
  }
}

const attempt: AttemptFinished = {
  type: 'attempt-finished',
  upstream: 'payments',
  route: null,
  attempt: 1,
  status: 200,
  result: 'response',
  durationMs: 20,
}
const transition: BreakerChanged = {
  type: 'breaker-changed',
  upstream: 'payments',
  route: null,
  from: 'closed',
  to: 'open',
  reason: 'failure-ratio',
  openForMs: 1000,
  observeOnly: false,
}
const reloaded = (result: 'applied' | 'rejected'): ForbearEvent => ({
  type: 'policy-reloaded',
  result,
  trigger: 'watch',
  generation: 4,
  hash: 'abc',
  upstreams: 1,
  durationMs: 1,
  messages: [],
  noPolicy: [],
  kept: [],
})

describe('requests', () => {
  it.each([...DELIVERED_OUTCOMES, ...OWN_REASONS, ...UNANSWERED_OUTCOMES])(
    'that end as %s are counted as such',
    async outcome => {
      const { metrics, emit } = setUp()
      emit(requestFinished({ outcome, route: 'place-order', method: 'POST', status: 503 }))
      expect((await scrape(metrics)).series('forbear_requests_total')).toEqual([
        { upstream: 'payments', route: 'place-order', method: 'POST', code: '5xx', outcome, value: 1 },
      ])
    },
  )

  it('are told apart by method and code class', async () => {
    const { metrics, emit } = setUp()
    emit(
      requestFinished(),
      requestFinished(),
      requestFinished({ status: 404 }),
      requestFinished({ method: 'HEAD', status: 499 }),
    )
    const counts = (await scrape(metrics))
      .series('forbear_requests_total')
      .map(({ method, code, value }) => ({ method, code, value }))
    expect(counts).toEqual([
      { method: 'GET', code: '2xx', value: 2 },
      { method: 'GET', code: '4xx', value: 1 },
      { method: 'HEAD', code: '4xx', value: 1 },
    ])
  })

  it('without an upstream count under _none', async () => {
    const { metrics, emit } = setUp()
    emit(requestFinished({ upstream: null, outcome: 'no-route', status: 404 }))
    expect((await scrape(metrics)).series('forbear_requests_total')).toMatchObject([
      { upstream: '_none', route: '', value: 1 },
    ])
  })

  it('fill a cumulative histogram in seconds', async () => {
    const { metrics, emit } = setUp()
    for (const durationMs of [1, 7, 10, 99_000]) emit(requestFinished({ durationMs }))
    const { series, types } = await scrape(metrics)
    const buckets = series('forbear_request_duration_seconds_bucket')
    expect(types.get('forbear_request_duration_seconds')).toBe('histogram')
    expect(
      buckets
        .filter(({ le }) => ['0.001', '0.005', '0.01', '30', '+Inf'].includes(String(le)))
        .map(({ value }) => value),
    ).toEqual([1, 1, 3, 3, 4])
    expect(series('forbear_request_duration_seconds_count')).toMatchObject([{ upstream: 'payments', value: 4 }])
    expect(series('forbear_request_duration_seconds_sum')[0]?.value).toBeCloseTo(99.018)
  })
})

describe('attempts', () => {
  it.each(['connect', 'reset', 'timeout', 'bad-response', 'cut', 'aborted', 'deadline'] as const)(
    'that end by %s have no code',
    async result => {
      const { metrics, emit } = setUp()
      emit({ ...attempt, status: null, result })
      expect((await scrape(metrics)).series('forbear_attempts_total')).toEqual([
        { upstream: 'payments', route: '', code: '', result, value: 1 },
      ])
    },
  )

  it('are timed', async () => {
    const { metrics, emit } = setUp()
    emit(attempt, { ...attempt, durationMs: 40 })
    const { series } = await scrape(metrics)
    expect(series('forbear_attempts_total')).toMatchObject([{ code: '2xx', result: 'response', value: 2 }])
    expect(series('forbear_attempt_duration_seconds_sum')[0]?.value).toBeCloseTo(0.06)
  })
})

describe('retries', () => {
  it.each(['connect', 'reset', 'timeout', 'status', 'header', 'key-conflict'] as const)(
    'because of %s are counted with their wait',
    async reason => {
      const { metrics, emit } = setUp()
      emit(retryScheduled({ reason, delayMs: 300 }))
      const { series } = await scrape(metrics)
      expect(series('forbear_retries_total')).toEqual([{ upstream: 'payments', route: '', reason, value: 1 }])
      expect(series('forbear_backoff_seconds_sum')[0]?.value).toBeCloseTo(0.3)
    },
  )

  it.each([...new Set([...HEDGE_RESULTS, ...HEDGE_DENIALS])])(
    'hedges that came to %s are counted apart',
    async result => {
      const { metrics, emit } = setUp()
      emit({ type: 'hedge-decided', upstream: 'payments', route: 'r', result })
      const { series } = await scrape(metrics)
      expect(series('forbear_hedges_total')).toEqual([{ upstream: 'payments', route: 'r', result, value: 1 }])
      expect(series('forbear_retries_total')).toEqual([])
    },
  )

  it.each(POLL_RESULTS)('polls that came to %s are counted apart', async result => {
    const { metrics, emit } = setUp()
    emit({ type: 'poll-judged', upstream: 'payments', route: 'r', result })
    const { series } = await scrape(metrics)
    expect(series('forbear_polls_total')).toEqual([{ upstream: 'payments', route: 'r', result, value: 1 }])
  })

  it.each(DENIAL_REASONS)('denied because of %s are counted', async reason => {
    const { metrics, emit } = setUp()
    emit({ type: 'retry-denied', upstream: 'payments', route: null, attempt: 1, reason })
    expect((await scrape(metrics)).series('forbear_retries_denied_total')).toEqual([
      { upstream: 'payments', route: '', reason, value: 1 },
    ])
  })
})

describe('breakers', () => {
  it('count their transitions, observed ones apart, each with its reason', async () => {
    const { metrics, emit } = setUp()
    emit(transition, { ...transition, observeOnly: true }, { ...transition, to: 'half-open', reason: 'time' })
    expect((await scrape(metrics)).series('forbear_breaker_transitions_total')).toEqual([
      { upstream: 'payments', route: '', to: 'open', reason: 'failure-ratio', mode: 'enforce', value: 1 },
      { upstream: 'payments', route: '', to: 'open', reason: 'failure-ratio', mode: 'observe', value: 1 },
      { upstream: 'payments', route: '', to: 'half-open', reason: 'time', mode: 'enforce', value: 1 },
    ])
  })

  it('tell of own ports whether they are open', async () => {
    const address = '127.0.0.1:15101'
    const listeners = new Map([
      ['payments', { address, state: 'open', error: null } as const],
      ['stock', { address, state: 'failed', error: 'cannot listen' } as const],
    ])
    const { metrics } = setUp({ status: () => sidecarStatus({ listeners }) })
    expect((await scrape(metrics)).series('forbear_listener_up')).toEqual([
      { upstream: 'payments', value: 1 },
      { upstream: 'stock', value: 0 },
    ])
  })

  it.each([
    ['closed', 0],
    ['half-open', 1],
    ['open', 2],
  ] as const)('show %s as %d', async (state, value) => {
    const breaker = { state, mode: 'enforce', openForMs: 0, failuresInARow: 0, held: null }
    const { metrics } = setUp({ status: () => sidecarStatus({ upstreams: [upstreamStatus({ breaker })] }) })
    expect((await scrape(metrics)).series('forbear_breaker_state')).toEqual([
      { upstream: 'payments', route: '', value },
    ])
  })
})

describe('gauges', () => {
  it('are read at the time of the scrape, a route with its own instances apart', async () => {
    let upstreams = [upstreamStatus(), upstreamStatus({ route: 'place-order', inFlight: 7 })]
    const { metrics } = setUp({ status: () => sidecarStatus({ upstreams }) })
    expect((await scrape(metrics)).series('forbear_in_flight')).toEqual([
      { upstream: 'payments', route: '', value: 2 },
      { upstream: 'payments', route: 'place-order', value: 7 },
    ])
    upstreams = [
      upstreamStatus({
        gate: { closed: true, closedForMs: 10 },
        budget: { allowedPerSec: 1, spentPerSec: 0, balance: 4.5, ratio: 0.2 },
      }),
    ]
    const { series } = await scrape(metrics)
    expect(series('forbear_in_flight')).toHaveLength(1)
    expect(series('forbear_gate_closed')[0]?.value).toBe(1)
    expect(series('forbear_budget_balance')[0]?.value).toBe(4.5)
    expect(series('forbear_waiting')[0]?.value).toBe(1)
  })

  it('tell which policies are in force, since when and whether the latest were accepted', async () => {
    const lastReloadError = { at: '2024-05-06T08:00:00.000Z', messages: ['a.yaml:1:1  bad'] }
    const { metrics, emit } = setUp({ status: () => sidecarStatus({ lastReloadError, retries: 'off' }) })
    emit(reloaded('applied'), reloaded('rejected'), reloaded('rejected'))
    const { series } = await scrape(metrics)
    expect(series('forbear_policy_generation')).toEqual([{ value: 3 }])
    expect(series('forbear_policy_info')).toEqual([{ hash: 'c0ffee', value: 1 }])
    expect(series('forbear_policy_loaded_timestamp_seconds')).toEqual([{ value: Date.UTC(2024, 4, 6, 7, 8, 9) / 1000 }])
    expect(series('forbear_policy_last_reload_successful')).toEqual([{ value: 0 }])
    expect(series('forbear_retries_enabled')).toEqual([{ value: 0 }])
    expect(series('forbear_policy_reloads_total')).toEqual([
      { result: 'applied', value: 1 },
      { result: 'unchanged', value: 0 },
      { result: 'partial', value: 0 },
      { result: 'rejected', value: 2 },
    ])
  })

  it('tell since when the tls files are in force and when the certificate ends, where that is known', async () => {
    const tls = new Map([
      ['both', { loadedAt: '2024-05-06T07:08:09.000Z', certificateExpiresAt: '2025-05-06T07:08:09.000Z' }],
      ['authority', { loadedAt: '2024-05-06T07:08:09.000Z', certificateExpiresAt: null }],
      ['unused', { loadedAt: null, certificateExpiresAt: null }],
    ])
    const { series } = await scrape(setUp({ status: () => sidecarStatus({ tls }) }).metrics)
    const loaded = Date.UTC(2024, 4, 6, 7, 8, 9) / 1000
    expect(series('forbear_tls_files_loaded_timestamp_seconds')).toEqual([
      { upstream: 'both', value: loaded },
      { upstream: 'authority', value: loaded },
    ])
    expect(series('forbear_tls_certificate_expiry_timestamp_seconds')).toEqual([
      { upstream: 'both', value: Date.UTC(2025, 4, 6, 7, 8, 9) / 1000 },
    ])
  })

  it('tell how many tunnels stand, those to undeclared hosts as well', async () => {
    const known = setUp({ status: () => sidecarStatus() })
    expect((await scrape(known.metrics)).series('forbear_tunnels_open')).toEqual([
      { upstream: 'payments', route: '', value: 4 },
    ])
    const all = setUp({ status: () => sidecarStatus({ unmatchedTunnels: 2 }) })
    expect((await scrape(all.metrics)).series('forbear_tunnels_open')[1]).toEqual({
      upstream: '_unmatched',
      route: '',
      value: 2,
    })
  })

  it('tell of the process itself', async () => {
    const { series } = await scrape(setUp().metrics)
    expect(series('process_resident_memory_bytes')[0]?.value).toBeGreaterThan(1e6)
    expect(series('nodejs_eventloop_lag_p99_seconds')).toHaveLength(1)
  })
})

describe('the number of series', () => {
  it('does not grow with paths and nonsense methods', async () => {
    const { metrics, emit } = setUp()
    emit(requestFinished(), requestFinished({ method: 'X0' }))
    const before = (await scrape(metrics)).own.length
    for (let n = 0; n < 10_000; n += 1) emit(requestFinished({ path: `/${n}`, method: n % 2 === 0 ? 'GET' : `X${n}` }))
    const { own, series } = await scrape(metrics)
    expect(own).toHaveLength(before)
    expect(series('forbear_requests_total')).toMatchObject([
      { method: 'GET', value: 5001 },
      { method: 'OTHER', value: 5001 },
    ])
  })

  it('has a cap, beyond which nothing is lost but the name', async () => {
    const { metrics, emit } = setUp({ maxSeries: 100 })
    for (let n = 0; n < 500; n += 1) emit(requestFinished({ upstream: `up-${n}` }))
    const { own, series } = await scrape(metrics)
    expect(own.length).toBeLessThan(150)
    const counts = series('forbear_requests_total')
    expect(counts.reduce((sum, { value }) => sum + value, 0)).toBe(500)
    expect(counts.at(-1)).toMatchObject({ upstream: '_overflow' })
  })

  it('shrinks when a reload removes upstreams, after their last counts were shown once', async () => {
    let upstreams = [upstreamStatus(), upstreamStatus({ name: 'gone' })]
    const { metrics, emit } = setUp({ status: () => sidecarStatus({ upstreams }), maxSeries: 40 })
    emit(
      requestFinished({ upstream: 'payments' }),
      requestFinished({ upstream: 'gone' }),
      requestFinished({ upstream: null }),
    )
    upstreams = [upstreamStatus()]
    emit(reloaded('applied'))
    const names = async () => (await scrape(metrics)).series('forbear_requests_total').map(({ upstream }) => upstream)
    expect(await names()).toEqual(['payments', 'gone', '_none'])
    expect(await names()).toEqual(['payments', '_none'])
    emit(requestFinished({ upstream: 'new' }))
    expect(await names()).toContain('new')
  })

  it('shrinks, too, when the reload falls into a scrape, and what the reload added keeps its counts', async () => {
    let upstreams = [upstreamStatus({ name: 'gone' })]
    const { metrics, emit } = setUp({ status: () => sidecarStatus({ upstreams }) })
    emit(requestFinished({ upstream: 'gone' }), reloaded('applied'))
    const during = scrape(metrics)
    upstreams = [upstreamStatus({ name: 'new' })]
    emit(reloaded('applied'), requestFinished({ upstream: 'new' }))
    await during
    const names = async () => (await scrape(metrics)).series('forbear_requests_total').map(({ upstream }) => upstream)
    expect(await names()).toEqual(['gone', 'new'])
    expect(await names()).toEqual(['new'])
  })
})

it('a scrape lets other work go on between any two families', async () => {
  const { metrics } = setUp()
  const { types } = await scrape(metrics)
  let turns = 0
  const count = () => {
    turns += 1
    ticking = setImmediate(count)
  }
  let ticking = setImmediate(count)
  await scrape(metrics)
  clearImmediate(ticking)
  const families = [...types.keys()].filter(name => name.startsWith('forbear_'))
  expect(turns).toBeGreaterThanOrEqual(families.length - 1)
})

it('label values are escaped', async () => {
  const { metrics } = setUp({ status: () => sidecarStatus({ hash: 'a"b\\c\nd' }) })
  expect((await scrape(metrics)).series('forbear_policy_info')).toEqual([{ hash: 'a"b\\c\nd', value: 1 }])
})
