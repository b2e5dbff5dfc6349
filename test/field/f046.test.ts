import { describe, expect, test } from 'vitest'
import { problem } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

describe('F046 a per-attempt time-out has no effect unless another setting is there, too (istio#13167)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).plays({ delayMs: 500, body: 'late' })
    const named = (name: string, spec: Record<string, unknown>) =>
      upstreamDoc(name, upstream.url, { budget: ample, breaker: { mode: 'disabled' }, ...spec })
    return {
      upstream,
      sidecar: await stage.sidecar([
        named('attempt', { timeouts: { attempt: '200ms' }, retry: quickRetry({ maxAttempts: 2 }) }),
        named('no-total', { timeouts: { attempt: '200ms', total: 'none' }, retry: quickRetry({ maxAttempts: 2 }) }),
        named('no-retry', { timeouts: { attempt: '200ms' }, retry: { maxAttempts: 1 } }),
        named('total', { timeouts: { total: '200ms' }, retry: quickRetry({ maxAttempts: 2 }) }),
        named('attempts', { retry: quickRetry({ maxAttempts: 2 }) }),
        named('routed', { routes: [{ name: 'r', match: { path: '/slow' }, timeouts: { attempt: '200ms' } }] }),
      ]),
    }
  })

  test.for([
    ['/attempt/x', 504, 2],
    ['/no-total/x', 504, 2],
    ['/no-retry/x', 504, 1],
    ['/total/x', 504, 1],
    ['/attempts/x', 200, 1],
    ['/routed/other', 200, 1],
  ] as const)('%s is %i after %i attempts', async ([path, status, attempts]) => {
    const before = hop.upstream.hits
    const answer = await hop.sidecar.call(path)
    expect([answer.status, hop.upstream.hits - before]).toEqual([status, attempts])
    if (status === 504) expect(problem(answer).attempts).toBe(attempts)
    if (status === 504) expect(answer.elapsedMs).toBeGreaterThanOrEqual(195 * attempts)
  })

  test('one on a route alone works there', async () => {
    const answer = await hop.sidecar.call('/routed/slow', { headers: { 'forbear-max-attempts': '1' } })
    expect([answer.status, problem(answer).reason]).toEqual([504, 'attempt-timeout'])
  })
})
