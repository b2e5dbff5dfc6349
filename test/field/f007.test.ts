import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

describe('F007 a default policy repeats POSTs that the upstream has acted on: double pay-outs (istio#13851)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received, req, res }) => {
      const kind = received.url.split('/')[2] ?? ''
      if (kind === 'reset') req.socket.resetAndDestroy()
      else if (kind === 'cut')
        res.writeHead(200, { 'content-length': '100' }).write('ten bytes!', () => req.socket.destroy())
      else if (kind !== 'hang') return { status: Number(kind) }
      return undefined
    })
    const spec = { retry: quickRetry({ maxAttempts: 4 }), budget: ample, timeouts: { attempt: '120ms', total: '5s' } }
    return {
      upstream,
      sidecar: await stage.sidecar([
        upstreamDoc('u', upstream.url, { ...spec, breaker: { mode: 'disabled' } }),
        upstreamDoc('keyed', upstream.url, {
          ...spec,
          breaker: { mode: 'disabled' },
          routes: [{ name: 'pay', match: { methods: ['POST'] }, retry: { idempotency: { generate: true } } }],
        }),
      ]),
    }
  })

  async function hits(path: string, options: { method: string; headers?: Record<string, string>; body?: string }) {
    const before = hop.upstream.hits
    const answer = await hop.sidecar.call(path, { timeoutMs: 5_000, ...options }).catch(() => null)
    return { answer, count: hop.upstream.hits - before }
  }

  test.for(['503', '502', '504', '429', '408', '425', 'reset', 'hang', 'cut'])(
    'a POST that ends in %s is sent once',
    async kind => {
      const { answer, count } = await hits(`/u/pay/${kind}`, { method: 'POST', body: '{"amount":1}' })
      expect(count).toBe(1)
      const own = { reset: 'reset', hang: 'attempt-timeout', cut: undefined }
      const outcome = kind in own ? own[kind as keyof typeof own] : 'not-repeatable'
      expect(answer?.headers['forbear-outcome']).toBe(outcome)
    },
  )

  test.for(['PATCH', 'LOCK', 'MKCOL', 'SEARCH'])('so is a %s, whatever it means to the upstream', async method => {
    expect((await hits('/u/pay/503', { method, body: 'x' })).count).toBe(1)
  })

  test('a POST without a body is no other', async () => {
    expect((await hits('/u/pay/503', { method: 'POST' })).count).toBe(1)
  })

  test.for(['x-http-method-override', 'x-request-id', 'etag', 'idempotency-keys'])(
    '%s makes it no safer',
    async name => {
      const headers = { [name]: 'PUT' }
      expect((await hits('/u/pay/503', { method: 'POST', headers, body: 'x' })).count).toBe(1)
    },
  )

  test('an empty key is none', async () => {
    const headers = { 'idempotency-key': ' ' }
    expect((await hits('/u/pay/503', { method: 'POST', headers, body: 'x' })).count).toBe(1)
  })

  test('a key of the app is the word of somebody who knows', async () => {
    const headers = { 'idempotency-key': 'k1' }
    expect((await hits('/u/pay/503', { method: 'POST', headers, body: 'x' })).count).toBe(4)
  })

  test('so is a route that says generate: true, and only it', async () => {
    expect((await hits('/keyed/pay/503', { method: 'POST', body: 'x' })).count).toBe(4)
    expect((await hits('/keyed/pay/503', { method: 'PATCH', body: 'x' })).count).toBe(1)
  })
})
