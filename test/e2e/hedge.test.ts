import { describe, expect } from 'vitest'
import { open } from './harness/client.js'
import { ample, type Document, upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import { until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

const late = { status: 200, body: 'late', delayMs: 10_000 }
const good = { status: 200, body: 'good' }
const key = { 'Idempotency-Key': 'k' }

const hedged = (upstream: Upstream, hedge: Document = {}, spec: Document = {}) => [
  upstreamDoc('payments', upstream.url, { hedge: { after: '50ms', ...hedge }, budget: ample, ...spec }),
]

describe('a hedge over real sockets', () => {
  test('wins over a call that is late, which is ended at once, and is counted apart', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(late, good)
    const sidecar = await stage.sidecar(hedged(upstream))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, answer.text]).toEqual([200, 'good'])
    expect([answer.headers['forbear-outcome'], answer.headers['forbear-attempts']]).toEqual(['hedge-won', '2'])
    expect(upstream.received.map(one => one.headers['forbear-attempt'])).toEqual(['1', '1'])
    expect(upstream.nth(2).connection).not.toBe(upstream.nth(1).connection)
    await until('the upstream sees that the late call was ended', () => upstream.nth(1).abandonedAtMs !== null)
    const metrics = await sidecar.metrics()
    expect(metrics.sum('forbear_hedges_total', { result: 'won' })).toBe(1)
    expect(metrics.sum('forbear_attempts_total', { result: 'lost' })).toBe(1)
    expect(metrics.sum('forbear_retries_total')).toBe(0)
    expect(await sidecar.accessLine('/payments/x')).toMatchObject({ attempts: 2, hedges: 1, outcome: 'hedge-won' })
    const { hedge } = (await sidecar.upstreamStatus('payments')) as unknown as { hedge: unknown }
    expect(hedge).toMatchObject({ mode: 'enabled', afterMs: 50 })
  })

  test('that loses leaves the answer of the first call, and the next call a sound connection', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ ...good, delayMs: 200 }, late, good)
    const sidecar = await stage.sidecar(hedged(upstream))
    const answer = await sidecar.call('/payments/x')
    expect([answer.text, answer.headers['forbear-outcome']]).toEqual(['good', 'delivered'])
    await until('the hedge is ended', () => upstream.nth(2).abandonedAtMs !== null)
    const next = await sidecar.call('/payments/y')
    expect([next.text, next.headers['forbear-attempts']]).toEqual(['good', '1'])
    expect((await sidecar.metrics()).sum('forbear_in_flight')).toBe(0)
  })

  test('streams its answer whole, however large, while the other is cut', async ({ stage }) => {
    const body = Buffer.alloc(3_000_000, 'x')
    const upstream = (await stage.upstream()).plays(late, { status: 200, body })
    const sidecar = await stage.sidecar(hedged(upstream))
    expect((await sidecar.call('/payments/x')).body.equals(body)).toBe(true)
  })

  test('is sent at once when the first call fails', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 }, good)
    const sidecar = await stage.sidecar(hedged(upstream, { after: '5s' }))
    const answer = await sidecar.call('/payments/x')
    expect(answer.headers['forbear-outcome']).toBe('hedge-won')
    expect(answer.elapsedMs).toBeLessThan(4_000)
  })

  test('carries the same key and the same body, where writes are allowed', async ({ stage }) => {
    const body = Buffer.alloc(50_000, 'order ')
    const upstream = (await stage.upstream()).plays(late, good)
    const sidecar = await stage.sidecar(hedged(upstream, { keyedWrites: true }))
    const answer = await sidecar.call('/payments/x', { method: 'POST', headers: key, body })
    expect(answer.headers['forbear-outcome']).toBe('hedge-won')
    expect(upstream.received.map(one => [one.headers['idempotency-key'], one.bodySha256])).toEqual(
      Array(2).fill(['k', upstream.nth(1).bodySha256]),
    )
    expect(upstream.nth(2).bodyBytes).toBe(50_000)
  })

  test('waits for a body that is still coming in', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(late, good)
    const sidecar = await stage.sidecar(hedged(upstream, { keyedWrites: true }))
    let end = () => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    async function* body() {
      yield Buffer.from('first, ')
      await ended
      yield Buffer.from('last')
    }
    const call = sidecar.call('/payments/x', { method: 'POST', headers: key, body: body() })
    await until('the call has begun', () => upstream.hits === 1)
    // Three times the delay, and no second call: there is nothing whole to send.
    await new Promise(resolve => setTimeout(resolve, 150))
    expect(upstream.hits).toBe(1)
    end()
    expect((await call).headers['forbear-outcome']).toBe('hedge-won')
    expect(upstream.received.map(one => one.body.toString())).toEqual(['first, last', 'first, last'])
  })

  test.for(['POST', 'PUT', 'DELETE'])(
    'is never sent for %s, nor for a key without keyedWrites',
    async (method, { stage }) => {
      const upstream = (await stage.upstream()).plays({ ...good, delayMs: 250 })
      const sidecar = await stage.sidecar(hedged(upstream))
      await sidecar.call('/payments/x', { method, body: 'x' })
      await sidecar.call('/payments/x', { method, headers: key, body: 'x' })
      expect(upstream.hits).toBe(2)
    },
  )

  test('ends with its call when the app goes away', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar(hedged(upstream))
    const gone = new AbortController()
    const call = open(sidecar.port, '/payments/x', { signal: gone.signal }).catch(() => null)
    await until('both calls are there', () => upstream.hits === 2)
    gone.abort()
    await call
    await until('both are ended', () => upstream.received.every(one => one.abandonedAtMs !== null))
    expect((await sidecar.metrics()).sum('forbear_hedges_total', { result: 'aborted' })).toBe(1)
  })

  test('follows the times of the answers', async ({ stage }) => {
    const upstream = await stage.upstream()
    upstream.runs(({ received }) => (received.url === '/late' && received.n % 2 === 1 ? late : { ...good, delayMs: 5 }))
    const sidecar = await stage.sidecar(hedged(upstream, { after: 'p95', minSamples: 20 }))
    for (let n = 0; n < 20; n++) await sidecar.call(`/payments/${n}`)
    const answer = await sidecar.call('/payments/late')
    expect([answer.text, answer.headers['forbear-outcome']]).toEqual(['good', 'hedge-won'])
  })

  test('is not sent while retries are switched off by hand', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ ...good, delayMs: 200 })
    const sidecar = await stage.sidecar(hedged(upstream))
    await sidecar.admin('/retries/off?for=1m', { method: 'POST' })
    await sidecar.call('/payments/x')
    expect(upstream.hits).toBe(1)
    await sidecar.admin('/retries/on', { method: 'POST' })
    await sidecar.call('/payments/x')
    expect(upstream.hits).toBe(3)
  })

  test('is not sent any more once the sidecar is to leave', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ ...good, delayMs: 200 })
    const sidecar = await stage.sidecar(hedged(upstream))
    await sidecar.admin('/drain', { method: 'POST' })
    await sidecar.call('/payments/x')
    expect(upstream.hits).toBe(1)
    expect((await sidecar.metrics()).sum('forbear_hedges_total', { result: 'draining' })).toBe(1)
  })
})
