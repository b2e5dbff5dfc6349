import { describe, expect, test } from 'vitest'
import { problem } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

describe('F042 a time-out is told exactly as a broken connection (node-http-proxy#1331)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received, req }) => {
      const [, name = ''] = received.url.split('/')
      if (name === 'fin') req.socket.end()
      return name === 'fin' ? undefined : { instead: name === 'hang' ? 'hang' : 'reset', delayMs: 40 }
    })
    const closed = await stage.upstream({ closed: true })
    await closed.open()
    await closed.close()
    const spec = (retryOn: string[]) => ({
      timeouts: { attempt: '120ms', total: '5s' },
      retry: quickRetry({ maxAttempts: 2, retryOn }),
      budget: ample,
      breaker: { mode: 'disabled' },
    })
    return {
      upstream,
      sidecar: await stage.sidecar([
        upstreamDoc('none', upstream.url, { ...spec([]), retry: { maxAttempts: 1 } }),
        upstreamDoc('on-timeout', upstream.url, spec(['timeout'])),
        upstreamDoc('on-reset', upstream.url, spec(['reset'])),
        upstreamDoc('closed', closed.url, { ...spec([]), retry: { maxAttempts: 1 } }),
      ]),
    }
  })

  test.for([
    ['/none/hang', 504, 'attempt-timeout', 'UT'],
    ['/none/reset', 502, 'reset', 'UC'],
    ['/none/fin', 502, 'reset', 'UC'],
    ['/closed/x', 502, 'connect', 'UF'],
  ] as const)('%s is %i %s in body, header, log and metric', async ([path, status, reason, flag]) => {
    const before = await hop.sidecar.metrics()
    const answer = await hop.sidecar.call(path)
    expect([answer.status, answer.headers['forbear-outcome']]).toEqual([status, reason])
    expect(problem(answer)).toMatchObject({ status, reason })
    const line = await hop.sidecar.accessLine(path)
    expect(line).toMatchObject({ status, outcome: reason })
    expect(String(line['flags']).split(',')).toContain(flag)
    const after = await hop.sidecar.metrics()
    const labels = { outcome: reason }
    expect(after.sum('forbear_requests_total', labels) - before.sum('forbear_requests_total', labels)).toBe(1)
  })

  test.for([
    ['/on-timeout/hang', 2],
    ['/on-timeout/reset', 1],
    ['/on-timeout/fin', 1],
    ['/on-reset/hang', 1],
    ['/on-reset/reset', 2],
    ['/on-reset/fin', 2],
  ] as const)('retryOn sees the difference: %s is %i attempts', async ([path, attempts]) => {
    const before = hop.upstream.hits
    const answer = await hop.sidecar.call(path)
    expect([hop.upstream.hits - before, answer.headers['forbear-attempts']]).toEqual([attempts, String(attempts)])
  })
})
