import { describe, expect } from 'vitest'
import { problem } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import { test } from './harness/stage.js'
import type { Upstream } from './harness/upstream.js'

const bad = { status: 503, headers: { 'content-type': 'application/json' }, body: '{"error":"busy"}' }
const good = { status: 200, body: 'fine' }
const key = { 'Idempotency-Key': 'order-7/\xfc' }

const payments = (upstream: Upstream, retry: Record<string, unknown> = {}, spec: Record<string, unknown> = {}) => [
  upstreamDoc('payments', upstream.url, { retry: quickRetry(retry), budget: ample, ...spec }),
]

describe('what may be repeated', () => {
  test('a GET that gets 503 twice and then 200 is served with 200 after three attempts', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, bad, good)
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url)])
    const answer = await sidecar.call('/payments/x')
    expect(answer.status).toBe(200)
    expect(answer.text).toBe('fine')
    expect(answer.headers['forbear-attempts']).toBe('3')
    expect(answer.headers['forbear-outcome']).toBe('delivered')
    expect(upstream.hits).toBe(3)
  })

  test('a POST without a key is sent once and its 503 comes back with its body', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, good)
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/pay', { method: 'POST', body: 'amount=1' })
    expect(answer.status).toBe(503)
    expect(answer.text).toBe(bad.body)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.headers['forbear-outcome']).toBe('not-repeatable')
    expect(answer.headers['forbear-attempts']).toBe('1')
    expect(upstream.hits).toBe(1)
  })

  test('a POST without a key is not sent again after a reset or an attempt timeout', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'reset' }, { instead: 'hang' })
    const sidecar = await stage.sidecar(payments(upstream, {}, { timeouts: { attempt: '200ms' } }))
    const reset = await sidecar.call('/payments/pay', { method: 'POST', body: 'amount=1' })
    const timeout = await sidecar.call('/payments/pay', { method: 'POST', body: 'amount=1' })
    expect([reset.status, problem(reset).reason]).toEqual([502, 'reset'])
    expect([timeout.status, problem(timeout).reason]).toEqual([504, 'attempt-timeout'])
    expect(upstream.hits).toBe(2)
  })

  test('a POST with an Idempotency-Key is repeated with the same key bytes and the same body', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, bad, good)
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/pay', { method: 'POST', headers: key, body: 'amount=1' })
    expect(answer.status).toBe(200)
    expect(upstream.received.map(one => one.headers['idempotency-key'])).toEqual(Array(3).fill(key['Idempotency-Key']))
    expect(upstream.received.map(one => one.body.toString())).toEqual(Array(3).fill('amount=1'))
  })

  test('generate: true adds one key that is the same on all attempts of a request and new for the next', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays(bad, bad, good)
    const sidecar = await stage.sidecar(payments(upstream, { idempotency: { generate: true } }))
    const answer = await sidecar.call('/payments/pay', { method: 'POST', body: 'amount=1' })
    await sidecar.call('/payments/pay', { method: 'POST', body: 'amount=2' })
    expect(answer.headers['forbear-attempts']).toBe('3')
    const keys = upstream.received.map(one => one.headers['idempotency-key'])
    expect(keys[0]).toMatch(/\S{16,}/)
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(keys[3]).toMatch(/\S{16,}/)
    expect(keys[3]).not.toBe(keys[0])
  })

  test('generate: true leaves the key that the app sent alone', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, good)
    const sidecar = await stage.sidecar(payments(upstream, { idempotency: { generate: true } }))
    await sidecar.call('/payments/pay', { method: 'POST', headers: { 'Idempotency-Key': 'mine' }, body: 'x' })
    expect(upstream.received.map(one => one.headers['idempotency-key'])).toEqual(['mine', 'mine'])
  })

  test('a route may generate keys while the rest of the upstream does not', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) => (received.headers['idempotency-key'] ? good : bad))
    const routes = [
      {
        name: 'place-order',
        match: { methods: ['POST'], path: '/v1/orders' },
        retry: { idempotency: { generate: true } },
      },
    ]
    const sidecar = await stage.sidecar(payments(upstream, {}, { routes }))
    const order = await sidecar.call('/payments/v1/orders', { method: 'POST', body: 'x' })
    const other = await sidecar.call('/payments/v1/refunds', { method: 'POST', body: 'x' })
    expect(order.status).toBe(200)
    expect([other.status, other.headers['forbear-outcome']]).toEqual([503, 'not-repeatable'])
    expect((await sidecar.accessLine('/payments/v1/orders'))['route']).toBe('place-order')
  })

  test('409 on a re-send with a key means still running: it waits and asks again', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(
      bad,
      { status: 409, body: 'running' },
      { status: 201, body: 'made' },
    )
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/pay', { method: 'POST', headers: key, body: 'x' })
    expect([answer.status, answer.text]).toEqual([201, 'made'])
    expect(upstream.hits).toBe(3)
  })

  test('422 on a re-send with a key is final', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, { status: 422, body: 'other body' }, good)
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/pay', { method: 'POST', headers: key, body: 'x' })
    expect([answer.status, answer.text]).toEqual([422, 'other body'])
    expect(upstream.hits).toBe(2)
  })

  test('a POST to a closed port that opens 300 ms later is served', async ({ stage }) => {
    const upstream = (await stage.upstream({ port: await freePort(), closed: true })).plays(good)
    const backoff = { kind: 'fixed', base: '200ms', jitter: 'none' }
    const sidecar = await stage.sidecar(payments(upstream, { backoff }))
    const answer = sidecar.call('/payments/pay', { method: 'POST', body: 'amount=1' })
    setTimeout(() => upstream.open(), 300)
    expect((await answer).status).toBe(200)
    expect(upstream.hits).toBe(1)
    expect(upstream.nth(1).body.toString()).toBe('amount=1')
  })

  test('an upstream that stays closed ends in 502 connect after all attempts', async ({ stage }) => {
    const upstream = await stage.upstream({ port: await freePort(), closed: true })
    const sidecar = await stage.sidecar(payments(upstream, { maxAttempts: 3 }))
    const answer = await sidecar.call('/payments/pay', { method: 'POST', body: 'x' })
    expect(answer.status).toBe(502)
    expect(problem(answer)).toMatchObject({ status: 502, reason: 'connect', upstream: 'payments', attempts: 3 })
    expect(answer.headers['forbear-outcome']).toBe('connect')
  })
})

describe('what is worth repeating', () => {
  test.for([400, 401, 404, 409, 422, 500, 501, 505])(
    '%i on a GET is passed on after one attempt',
    async (status, { stage }) => {
      const upstream = (await stage.upstream()).plays({ status, body: 'no' }, good)
      const sidecar = await stage.sidecar(payments(upstream))
      const answer = await sidecar.call('/payments/x')
      expect([answer.status, answer.text]).toEqual([status, 'no'])
      expect(answer.headers['forbear-outcome']).toBe('delivered')
      expect(upstream.hits).toBe(1)
    },
  )

  test('408, 425, 429, 502, 503 and 504 on a GET are repeated', async ({ stage }) => {
    const statuses = [408, 425, 429, 502, 503, 504]
    const upstream = (await stage.upstream()).plays(...statuses.map(status => ({ status })), good)
    const sidecar = await stage.sidecar(payments(upstream, { maxAttempts: 7 }))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, upstream.hits]).toEqual([200, 7])
  })

  test('a reset and an attempt timeout on a GET are repeated', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'reset' }, { instead: 'hang' }, good)
    const sidecar = await stage.sidecar(payments(upstream, {}, { timeouts: { attempt: '300ms' } }))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, upstream.hits]).toEqual([200, 3])
  })

  test('onHeaders makes an answer retryable that its status does not', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 500, headers: { 'x-transient': 'yes' } }, good)
    const sidecar = await stage.sidecar(payments(upstream, { onHeaders: { 'x-transient': 'yes' } }))
    expect((await sidecar.call('/payments/x')).status).toBe(200)
  })

  test('an answer that says forbear-exhausted is not repeated', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503, headers: { 'forbear-exhausted': '1' } }, good)
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, answer.headers['forbear-outcome'], upstream.hits]).toEqual([503, 'layer', 1])
  })

  test('a request that arrives as a re-send of another layer is not multiplied again', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, good)
    const sidecar = await stage.sidecar(payments(upstream))
    const answer = await sidecar.call('/payments/x', { headers: { 'forbear-attempt': '2' } })
    expect([answer.status, answer.headers['forbear-outcome'], upstream.hits]).toEqual([503, 'layer', 1])
  })
})
