import { describe, expect, test } from 'vitest'
import { problem } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

const slow = { kind: 'fixed', base: '150ms', jitter: 'none' }

describe('F043 the overall deadline closes the app’s socket with an empty reply (node-http-proxy#1032)', () => {
  const hop = onOneStage(async stage => {
    const hangs = (await stage.upstream()).plays({ instead: 'hang' })
    const fails = (await stage.upstream()).plays({ delayMs: 60, instead: 'reset' })
    const spec = { budget: ample, breaker: { mode: 'disabled' } }
    return {
      sidecar: await stage.sidecar([
        upstreamDoc('total', hangs.url, { ...spec, timeouts: { total: '150ms' }, retry: { maxAttempts: 1 } }),
        upstreamDoc('several', hangs.url, {
          ...spec,
          timeouts: { attempt: '100ms', total: '250ms' },
          retry: quickRetry({ maxAttempts: 9 }),
        }),
        upstreamDoc('waiting', fails.url, {
          ...spec,
          timeouts: { total: '300ms' },
          retry: { maxAttempts: 9, backoff: slow, throttled: slow },
        }),
        upstreamDoc('queued', hangs.url, {
          ...spec,
          timeouts: { total: '1s' },
          retry: { maxAttempts: 1 },
          limits: { maxInFlight: 1 },
        }),
        upstreamDoc('patient', hangs.url, { ...spec, timeouts: { total: '20s' }, retry: { maxAttempts: 1 } }),
      ]),
    }
  })

  test.for([
    ['the first attempt', '/total/x', ['deadline', 'attempt-timeout']],
    ['a later attempt', '/several/x', ['deadline', 'attempt-timeout']],
    ['a back-off', '/waiting/x', ['deadline', 'reset']],
    ['an upload is done', '/total/upload', ['deadline', 'attempt-timeout']],
  ] as const)('reached while %s, it is an answer with a body and a reason', async ([, path, reasons]) => {
    const options = path.endsWith('upload') ? { method: 'PUT', body: 'x'.repeat(100_000) } : {}
    const answer = await hop.sidecar.call(path, options)
    expect(reasons).toContain(problem(answer).reason)
    expect([504, 502]).toContain(answer.status)
    expect(answer.headers['forbear-outcome']).toBe(problem(answer).reason)
    expect(answer.elapsedMs).toBeLessThan(3_000)
  })

  test('so it is for calls that never got a turn', async () => {
    const first = hop.sidecar.call('/queued/x')
    await expect.poll(async () => (await hop.sidecar.upstreamStatus('queued')).inFlight).toBe(1)
    const headers = { 'forbear-timeout-ms': '100' }
    const answers = await Promise.all(Array.from({ length: 3 }, () => hop.sidecar.call('/queued/x', { headers })))
    expect(answers.map(one => [one.status, problem(one).reason, problem(one).attempts])).toEqual(
      Array(3).fill([504, 'deadline', 0]),
    )
    expect((await first).status).toBe(504)
  })

  test('and for a deadline that the app itself brings', async () => {
    const answer = await hop.sidecar.call('/patient/x', { headers: { 'forbear-timeout-ms': '120' } })
    expect([answer.status, problem(answer).status]).toEqual([504, 504])
  })
})
