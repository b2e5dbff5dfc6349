import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { until } from '../e2e/harness/time.js'

const LIMIT = 64 * 1024
const fixed = (base: string) => ({ kind: 'fixed', base, jitter: 'none' })

describe('F004 a body above the replay buffer is not repeated even when nothing had left (envoy#32464)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.upstream({ closed: true })
    await upstream.open()
    const spec = {
      timeouts: { total: '10s' },
      breaker: { mode: 'disabled' },
      budget: { ratio: 1, window: '10s', minPerSecond: 100 },
      retry: { ...quickRetry({ maxAttempts: 5, maxBody: '64KiB' }), backoff: fixed('150ms') },
    }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  /** The port is closed for the first attempt and open for a later one. */
  async function callWhileClosed(bytes: number, chunked: boolean, method = 'PUT') {
    await hop.upstream.close()
    hop.upstream.runs(({ received }) => ({ body: String(received.bodyBytes) }))
    const body = Buffer.alloc(bytes, 'x')
    const stream = async function* () {
      yield body
    }
    const waits = (): number => hop.sidecar.logs.filter(line => line['msg'] === 'retry').length
    const before = waits()
    const called = hop.sidecar.call('/u/x', { method, body: chunked ? stream() : body })
    await until('the first attempt failed', () => waits() > before)
    await hop.upstream.open()
    return called
  }

  test.for([
    ['of exactly the limit', LIMIT, false, 'PUT'],
    ['of one byte more', LIMIT + 1, false, 'PUT'],
    ['of one byte more, chunked', LIMIT + 1, true, 'PUT'],
    ['of a MiB, chunked', 1_048_576, true, 'PUT'],
    ['of a MiB in a POST, which may be repeated as nothing was sent', 1_048_576, false, 'POST'],
  ] as const)('a body %s is sent once the port opens, whole', async ([, bytes, chunked, method]) => {
    const answer = await callWhileClosed(bytes, chunked, method)
    expect([answer.status, answer.text]).toEqual([200, String(bytes)])
    expect(Number(answer.headers['forbear-attempts'])).toBeGreaterThan(1)
  })

  test('once bytes beyond the limit have left it is not, and header, log and metric say why', async () => {
    hop.upstream.plays({ status: 503, body: 'busy' })
    const before = hop.upstream.hits
    const answer = await hop.sidecar.call('/u/over', { method: 'PUT', body: Buffer.alloc(LIMIT + 1) })
    expect([answer.status, answer.text, answer.headers['forbear-outcome']]).toEqual([503, 'busy', 'body-too-large'])
    expect(hop.upstream.hits - before).toBe(1)
    expect(await hop.sidecar.accessLine('/u/over')).toMatchObject({ outcome: 'body-too-large', attempts: 1 })
    const denied = await hop.sidecar.metrics()
    expect(denied.sum('forbear_retries_denied_total', { reason: 'body-too-large' })).toBe(1)
  })

  test('one byte less is', async () => {
    hop.upstream.plays({ status: 503 }, { status: 200, body: 'ok' })
    const answer = await hop.sidecar.call('/u/x', { method: 'PUT', body: Buffer.alloc(LIMIT) })
    expect([answer.text, answer.headers['forbear-attempts']]).toEqual(['ok', '2'])
  })
})
