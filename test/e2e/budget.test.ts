import { describe, expect } from 'vitest'
import { failures, okRatio, openLoop } from './harness/load.js'
import { quickRetry, upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import { nowMs, sleep, until } from './harness/time.js'
import type { Received, Upstream } from './harness/upstream.js'

const bad = { status: 503, body: 'busy' }
/** `minPerSecond × window` of the built-in budget. */
const FLOOR = 5

/** For each received request the sliding second that ends with it: first attempts and retries in it. */
function everySecond(received: readonly Received[]): { firsts: number; retries: number }[] {
  let from = 0
  return received.map((last, to) => {
    while (last.atMs - (received[from]?.atMs ?? 0) >= 1_000) from++
    const second = received.slice(from, to + 1)
    const firsts = second.filter(one => one.headers['forbear-attempt'] === '1').length
    return { firsts, retries: second.length - firsts }
  })
}

function expectWithinBudget(upstream: Upstream, requests: number): void {
  expect(upstream.hits).toBeLessThanOrEqual(1.2 * requests + FLOOR)
  for (const { firsts, retries } of everySecond(upstream.received)) {
    expect(firsts + retries).toBeLessThanOrEqual(1.2 * firsts + FLOOR)
  }
}

describe('the retry budget', () => {
  test('keeps 1,000 requests at an upstream that always fails within 1.2 times and the floor', {
    timeout: 30_000,
  }, async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad)
    const spec = { retry: quickRetry({ maxAttempts: 10 }), breaker: { mode: 'observe' } }
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, spec)])
    const shots = await openLoop({ perSecond: 250, forMs: 4_000, send: () => sidecar.call('/payments/x') })

    expect(shots.map(shot => shot.status)).toEqual(Array(1_000).fill(503))
    expectWithinBudget(upstream, 1_000)
    // Deposits come from successes only, so an upstream without any is left with the floor of each window.
    expect(upstream.hits - 1_000).toBeLessThanOrEqual(2 * FLOOR)
    expect(upstream.hits - 1_000).toBeGreaterThan(0)
    const denied = shots.filter(shot => shot.outcome === 'budget-exhausted').length
    expect(denied).toBeGreaterThan(900)
    await until('every access-log line', () => sidecar.accessLines().length === 1_000)
    expect(sidecar.accessLines().filter(line => line['outcome'] === 'budget-exhausted').length).toBe(denied)
    const metrics = await sidecar.metrics()
    expect(metrics.sum('forbear_retries_denied_total', { upstream: 'payments', reason: 'budget-exhausted' })).toBe(
      denied,
    )
    expect(metrics.sum('forbear_attempts_total', { upstream: 'payments' })).toBe(upstream.hits)
    expect(metrics.sum('forbear_requests_total', { upstream: 'payments' })).toBe(1_000)
  })

  test('gives a mostly healthy upstream the retries it needs', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) => (received.n % 12 === 0 ? bad : {}))
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, { retry: quickRetry() })])
    const shots = await openLoop({ perSecond: 150, forMs: 3_000, send: () => sidecar.call('/payments/x') })
    expect(failures(shots)).toEqual({})
    expectWithinBudget(upstream, shots.length)
  })

  test('grants a burst that fails all at once no more than the floor', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ ...bad, delayMs: 50 })
    const spec = { retry: quickRetry({ maxAttempts: 3 }), breaker: { mode: 'observe' } }
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, spec)])
    await Promise.all(Array.from({ length: 40 }, () => sidecar.call('/payments/x')))
    expect(upstream.hits).toBeGreaterThan(40)
    expect(upstream.hits).toBeLessThanOrEqual(40 + FLOOR)
  })
})

describe('the breaker', () => {
  test('once open lets nothing through but single probes, and closes with one good probe', { timeout: 40_000 }, async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ ...bad, delayMs: 5 })
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, { retry: quickRetry() })])
    let healed = false
    const load = openLoop({ perSecond: 60, forMs: 20_000, send: () => sidecar.call('/payments/x'), stop: () => healed })

    await until('the breaker opens', async () => (await sidecar.upstreamStatus('payments')).breaker.state === 'open')
    await sleep(100)
    const hitsAtOpening = upstream.hits
    // Each probe takes long enough for calls to arrive meanwhile.
    upstream.plays({ ...bad, delayMs: 150 })
    upstream.maxInFlight = 0
    await sleep(4_000)
    const probes = upstream.received.slice(hitsAtOpening)
    const probesAtATime = upstream.maxInFlight
    upstream.plays({ status: 200, body: 'fine' })
    const answered = upstream.hits
    await until(
      'a call is served',
      async () => (await sidecar.upstreamStatus('payments')).breaker.state === 'closed',
      8_000,
    )
    const closedMs = nowMs()
    await sleep(1_000)
    healed = true
    const shots = await load

    expect(probesAtATime).toBe(1)
    expect(probes.length).toBeGreaterThanOrEqual(2)
    const gaps = probes.slice(1).map((probe, n) => probe.atMs - (probes[n]?.atMs ?? 0))
    // 150 ms in flight, then open for 1 s × U(0.5, 1), then until the next call at 60 a second.
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(640)
    for (const gap of gaps) expect(gap).toBeLessThan(2_500)
    expect(upstream.nth(answered + 1).headers['forbear-attempt']).toBe('1')
    const after = shots.filter(shot => shot.startedMs > closedMs)
    expect(after.length).toBeGreaterThan(20)
    expect(failures(after)).toEqual({})

    const refused = shots.filter(shot => shot.outcome === 'breaker-open' && shot.attempts === 0)
    expect(refused.length).toBeGreaterThan(100)
    for (const shot of refused) expect(shot.status).toBe(503)
  })

  test('an open breaker answers with a problem that tells when to come back', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad)
    const breaker = { openFor: '15s' }
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, { retry: quickRetry(), breaker })])
    await openLoop({
      perSecond: 100,
      forMs: 3_000,
      send: () => sidecar.call('/payments/x'),
      stop: () => upstream.hits > 0 && sidecar.accessLines().some(line => line['outcome'] === 'breaker-open'),
    })
    const before = upstream.hits
    const answer = await sidecar.call('/payments/y', { method: 'POST', body: 'x' })
    expect(answer.status).toBe(503)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(JSON.parse(answer.text)).toMatchObject({ reason: 'breaker-open', upstream: 'payments', attempts: 0 })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(15)
    expect(upstream.hits).toBe(before)
  })

  test('one failing instant of many calls does not open it', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ delayMs: 200 })
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, { retry: { maxAttempts: 1 } })])
    await Promise.all(Array.from({ length: 20 }, () => sidecar.call('/payments/warm')))
    // All are there before the first of them fails: on a busy machine their sending alone takes longer than an instant.
    const waiting: (() => void)[] = []
    upstream.runs(async () => {
      const all = new Promise<void>(resolve => waiting.push(resolve))
      if (waiting.length >= 30) for (const go of waiting) go()
      await all
      return { instead: 'reset' }
    })
    await Promise.all(Array.from({ length: 30 }, () => sidecar.call('/payments/x')))
    // A few of them may have another try on a fresh connection.
    expect(upstream.hits).toBeGreaterThanOrEqual(50)
    expect((await sidecar.upstreamStatus('payments')).breaker.state).toBe('closed')
  })

  test('in observe mode counts and reports without refusing', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad)
    const spec = { retry: { maxAttempts: 1 }, breaker: { mode: 'observe' } }
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, spec)])
    const shots = await openLoop({ perSecond: 100, forMs: 1_000, send: () => sidecar.call('/payments/x') })
    expect(upstream.hits).toBe(100)
    expect(okRatio(shots)).toBe(0)
    expect(
      (await sidecar.metrics()).sum('forbear_breaker_transitions_total', { upstream: 'payments' }),
    ).toBeGreaterThan(0)
  })

  test('a run of 429, however long, does not open it', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 429 })
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, { retry: { maxAttempts: 1 } })])
    await openLoop({ perSecond: 100, forMs: 1_000, send: () => sidecar.call('/payments/x') })
    expect(upstream.hits).toBe(100)
    expect((await sidecar.upstreamStatus('payments')).breaker.state).toBe('closed')
  })
})
