import { describe, expect } from 'vitest'
import { problem } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import type { Upstream } from './harness/upstream.js'

const bad = { status: 503, headers: { 'content-type': 'application/json' }, body: '{"error":"busy"}' }
const good = { status: 200, body: 'fine' }

const payments = (upstream: Upstream, retry: Record<string, unknown> = {}, spec: Record<string, unknown> = {}) => [
  upstreamDoc('payments', upstream.url, { retry: quickRetry(retry), budget: ample, ...spec }),
]

describe('what the app gets', () => {
  test('no header of a failed attempt reaches the app', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(
      { status: 503, headers: { 'Set-Cookie': 'a=1', 'X-Attempt': 'one', 'X-Only-First': 'yes' } },
      { status: 200, headers: { 'X-Attempt': 'two' }, body: 'fine' },
    )
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/x')
    expect(answer.headers['x-attempt']).toBe('two')
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(answer.headers['x-only-first']).toBeUndefined()
  })

  test('when attempts run out the last upstream answer arrives unchanged, with the reason', async ({ stage }) => {
    const last = {
      status: 503,
      headers: { 'Content-Type': 'application/json', 'X-Shard': 'b' },
      body: '{"error":"three"}',
    }
    const upstream = (await stage.upstream()).plays(bad, { status: 502 }, last)
    const sidecar = await stage.sidecar(payments(upstream, { maxAttempts: 3 }))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, answer.text]).toEqual([503, last.body])
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.headers['x-shard']).toBe('b')
    expect(answer.headers['forbear-outcome']).toBe('retries-exhausted')
    expect(answer.headers['forbear-exhausted']).toBeDefined()
  })

  test('an upstream answer is preferred to an answer of our own when a later attempt gets none', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, { instead: 'reset' })
    const sidecar = await stage.sidecar(payments(upstream, { maxAttempts: 2 }))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([503, bad.body, '2'])
  })

  test('a held answer of up to 16 KiB arrives whole', async ({ stage }) => {
    const body = Buffer.alloc(16_000, 'forbear ')
    const upstream = (await stage.upstream()).plays({ status: 503, body })
    const sidecar = await stage.sidecar(payments(upstream, { maxAttempts: 2 }))
    const answer = await sidecar.call('/payments/x')
    expect(answer.status).toBe(503)
    expect(answer.body.equals(body)).toBe(true)
  })
})

describe('how often', () => {
  test('maxAttempts: 3 is three calls, the first included', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad)
    const sidecar = await stage.sidecar(payments(upstream, { maxAttempts: 3 }))
    const answer = await sidecar.call('/payments/x')
    expect([answer.headers['forbear-attempts'], upstream.hits]).toEqual(['3', 3])
  })

  test('forbear-max-attempts of the app only tightens', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad)
    const sidecar = await stage.sidecar(payments(upstream, { maxAttempts: 3 }))
    const fewer = await sidecar.call('/payments/x', { headers: { 'forbear-max-attempts': '2' } })
    const more = await sidecar.call('/payments/x', { headers: { 'forbear-max-attempts': '9' } })
    expect([fewer.headers['forbear-attempts'], more.headers['forbear-attempts']]).toEqual(['2', '3'])
  })

  test('forbear-timeout-ms of the app only tightens', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar(payments(upstream, {}, { timeouts: { total: '600ms' } }))
    const [shorter, longer] = await Promise.all([
      sidecar.call('/payments/x', { headers: { 'forbear-timeout-ms': '200' } }),
      sidecar.call('/payments/x', { headers: { 'forbear-timeout-ms': '60000' } }),
    ])
    expect([shorter.status, problem(shorter).reason]).toEqual([504, 'deadline'])
    expect(shorter.elapsedMs).toBeGreaterThan(180)
    expect(shorter.elapsedMs).toBeLessThan(longer.elapsedMs)
    expect(longer.status).toBe(504)
    expect(longer.elapsedMs).toBeLessThan(10_000)
  })

  test('each attempt tells the upstream its number and the time that is left', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, { ...bad, delayMs: 100 }, good)
    const sidecar = await stage.sidecar(payments(upstream, {}, { timeouts: { total: '8s' } }))
    await sidecar.call('/payments/x', { headers: { 'forbear-attempt': '1', 'forbear-timeout-ms': '5000' } })
    expect(upstream.received.map(one => one.headers['forbear-attempt'])).toEqual(['1', '2', '3'])
    const left = upstream.received.map(one => Number(one.headers['forbear-timeout-ms']))
    expect(left[0]).toBeLessThanOrEqual(5_000)
    expect(left[1]).toBeLessThan(left[0] ?? 0)
    expect(left[2]).toBeLessThanOrEqual((left[1] ?? 0) - 100)
    expect(left[2]).toBeGreaterThan(0)
  })

  test('a retry never uses the connection of the attempt that failed', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) => (received.n % 2 ? bad : good))
    const sidecar = await stage.sidecar(payments(upstream))
    for (let n = 0; n < 12; n++) expect((await sidecar.call('/payments/x')).status).toBe(200)
    for (let n = 1; n <= 24; n += 2) expect(upstream.nth(n + 1).connection).not.toBe(upstream.nth(n).connection)
  })

  test('each retry leaves one log line, each request one, and neither shows a secret', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, { instead: 'reset' }, good)
    const sidecar = await stage.sidecar(payments(upstream))
    const headers = { Authorization: 'Bearer sesame-1', Cookie: 'sid=sesame-2', 'Idempotency-Key': 'sesame-3' }
    await sidecar.call('/payments/x?token=sesame-4', { headers })
    const access = await sidecar.accessLine('/payments/x')
    expect(access).toMatchObject({
      upstream: 'payments',
      method: 'GET',
      status: 200,
      outcome: 'delivered',
      attempts: 3,
    })
    const retries = sidecar.logs.filter(line => 'delayMs' in line)
    expect(retries.map(line => line['attempt'])).toEqual([1, 2])
    expect(retries.map(line => line['reason'])).toEqual(['status', 'reset'])
    expect(retries[0]?.['status']).toBe(503)
    expect(sidecar.output).not.toContain('sesame')
  })
})
