import { describe, expect } from 'vitest'
import { problem } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import type { Behaviour, Upstream } from './harness/upstream.js'

/** A timer may wake this much before its time by another clock. */
const TIMER_SLACK_MS = 5

const told = (value: string, status = 503, more: Record<string, string> = {}): Behaviour => ({
  status,
  headers: { 'Retry-After': value, ...more },
  body: 'later',
})
const good = { status: 200, body: 'fine' }
const payments = (upstream: Upstream, retry: Record<string, unknown> = {}) => [
  upstreamDoc('payments', upstream.url, { retry: quickRetry(retry), budget: ample }),
]

/** From the answer to attempt n to the arrival of attempt n + 1, ms. */
const waitBefore = (upstream: Upstream, n: number): number =>
  upstream.nth(n).atMs - (upstream.nth(n - 1).answeredAtMs ?? Number.NaN)

const httpDate = (ms: number): string => new Date(ms).toUTCString()

describe.concurrent('Retry-After', () => {
  test('2 means that the second attempt comes not before 2 s', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(told('2'), good)
    const sidecar = await stage.sidecar(payments(upstream))
    expect((await sidecar.call('/payments/x')).status).toBe(200)
    expect(waitBefore(upstream, 2)).toBeGreaterThanOrEqual(2_000 - TIMER_SLACK_MS)
    expect(waitBefore(upstream, 2)).toBeLessThan(4_000)
  })

  test('on a 429 is obeyed as on a 503', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(told('1', 429), good)
    const sidecar = await stage.sidecar(payments(upstream))
    expect((await sidecar.call('/payments/x')).status).toBe(200)
    expect(waitBefore(upstream, 2)).toBeGreaterThanOrEqual(1_000 - TIMER_SLACK_MS)
  })

  test('as a date is measured against the Date of the answer, whatever the clock here says', async ({ stage }) => {
    const upstream = await stage.upstream()
    const tenMinutesAgo = Date.now() - 600_000
    upstream.plays(told(httpDate(tenMinutesAgo + 2_000), 503, { Date: httpDate(tenMinutesAgo) }), good)
    const sidecar = await stage.sidecar(payments(upstream))
    expect((await sidecar.call('/payments/x')).status).toBe(200)
    expect(waitBefore(upstream, 2)).toBeGreaterThanOrEqual(2_000 - TIMER_SLACK_MS)
    expect(waitBefore(upstream, 2)).toBeLessThan(4_000)
  })

  test('in the two obsolete date forms is understood too', async ({ stage }) => {
    const date = 'Sun, 06 Nov 1994 08:49:35 GMT'
    const upstream = (await stage.upstream()).plays(
      told('Sunday, 06-Nov-94 08:49:36 GMT', 503, { Date: date }),
      told('Sun Nov  6 08:49:36 1994', 503, { Date: date }),
      good,
    )
    const sidecar = await stage.sidecar(payments(upstream))
    expect((await sidecar.call('/payments/x')).status).toBe(200)
    expect(waitBefore(upstream, 2)).toBeGreaterThanOrEqual(1_000 - TIMER_SLACK_MS)
    expect(waitBefore(upstream, 3)).toBeGreaterThanOrEqual(1_000 - TIMER_SLACK_MS)
  })

  test('has the Age of the answer subtracted', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(told('20', 503, { Age: '19' }), good)
    const sidecar = await stage.sidecar(payments(upstream))
    expect((await sidecar.call('/payments/x')).status).toBe(200)
    expect(waitBefore(upstream, 2)).toBeGreaterThanOrEqual(1_000 - TIMER_SLACK_MS)
    expect(waitBefore(upstream, 2)).toBeLessThan(5_000)
  })

  test('in the past leaves the ordinary back-off', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(told(httpDate(Date.now() - 3_600_000)), good)
    const sidecar = await stage.sidecar(
      payments(upstream, { backoff: { kind: 'fixed', base: '150ms', jitter: 'none' } }),
    )
    expect((await sidecar.call('/payments/x')).status).toBe(200)
    expect(waitBefore(upstream, 2)).toBeGreaterThanOrEqual(150 - TIMER_SLACK_MS)
    expect(waitBefore(upstream, 2)).toBeLessThan(2_000)
  })

  test('that is not digits or a date is ignored and the ordinary back-off used', async ({ stage }) => {
    const values = [
      '',
      'soon',
      '1.5',
      '+30',
      '-1',
      '0x1e',
      '60, 120',
      '3e1',
      '30s',
      '30 Nov 2026',
      '2026-11-30T21:00:00Z',
    ]
    const upstream = await stage.upstream()
    const seen = new Map<string, number>()
    upstream.runs(({ received: { url } }) => {
      seen.set(url, (seen.get(url) ?? 0) + 1)
      return seen.get(url) === 1 ? told(values[Number(url.slice(1))] ?? '') : good
    })
    const sidecar = await stage.sidecar(payments(upstream))
    for (const [n, value] of values.entries()) {
      const answer = await sidecar.call(`/payments/${n}`)
      expect([value, answer.status, answer.headers['forbear-attempts']]).toEqual([value, 200, '2'])
      expect(answer.elapsedMs, `a wait after ${value}`).toBeLessThan(1_000)
    }
  })

  test('never makes an answer retryable', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(told('0', 500), good)
    const sidecar = await stage.sidecar(payments(upstream))
    expect((await sidecar.call('/payments/x')).status).toBe(500)
    expect(upstream.hits).toBe(1)
  })
})

describe.concurrent('a Retry-After that is too long', () => {
  test('brings the answer back at once with the header intact', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(told('86400'), good)
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, answer.text]).toEqual([503, 'later'])
    expect(answer.headers['retry-after']).toBe('86400')
    expect(answer.headers['forbear-outcome']).toBe('retry-after-too-long')
    expect(answer.elapsedMs).toBeLessThan(1_000)
    expect(upstream.hits).toBe(1)
    expect((await sidecar.accessLine('/payments/x'))['outcome']).toBe('retry-after-too-long')
  })

  test('is one that does not fit the deadline, even below the cap', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(told('5'), good)
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/x', { headers: { 'forbear-timeout-ms': '2000' } })
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
    expect(['retry-after-too-long', 'deadline']).toContain(answer.headers['forbear-outcome'])
    expect(answer.elapsedMs).toBeLessThan(1_500)
    expect(upstream.hits).toBe(1)
  })

  test('closes a gate for the cap under scope: upstream: the next call waits for it, one in a hurry is refused with the time left', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays(told('86400', 429), good)
    const sidecar = await stage.sidecar(payments(upstream, { retryAfter: { cap: '2s', scope: 'upstream' } }))
    await sidecar.call('/payments/x')
    const hurried = await sidecar.call('/payments/y', { headers: { 'forbear-timeout-ms': '300' } })
    expect([hurried.status, problem(hurried).reason]).toEqual([503, 'gate-closed'])
    expect(Number(hurried.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(upstream.hits).toBe(1)
    expect((await sidecar.call('/payments/z')).status).toBe(200)
    expect(waitBefore(upstream, 2)).toBeGreaterThanOrEqual(2_000 - TIMER_SLACK_MS)
  })
})

test('scope: upstream lets the hints of several answers hold every call back', async ({ stage }) => {
  const upstream = (await stage.upstream()).plays(told('2'))
  const retry = { maxAttempts: 2, retryAfter: { scope: 'upstream' } }
  const sidecar = await stage.sidecar(payments(upstream, retry))
  const first = Promise.allSettled(Array.from({ length: 4 }, (_, n) => sidecar.call(`/payments/${n}`)))
  await expect.poll(async () => (await sidecar.upstreamStatus('payments')).gate.closed, { timeout: 1_500 }).toBe(true)
  const hitsWhenClosed = upstream.hits
  upstream.plays(good)
  const refused = await sidecar.call('/payments/now', { headers: { 'forbear-timeout-ms': '200' } })
  expect([refused.status, problem(refused).reason]).toEqual([503, 'gate-closed'])
  const later = await sidecar.call('/payments/later')
  expect(later.status).toBe(200)
  expect(upstream.received.slice(hitsWhenClosed).every(one => one.atMs - upstream.nth(1).atMs >= 1_900)).toBe(true)
  await first
})
