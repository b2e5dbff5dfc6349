import { describe, expect, test } from 'vitest'
import { open } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

describe('F033 a cancellation by the app is told and counted as an error of the upstream (node-http-proxy#1455)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received, res }) => {
      if (received.url.startsWith('/head')) res.writeHead(200, { 'content-length': '100' }).write('begun')
      return received.url.startsWith('/fails') ? { status: 503, headers: { 'retry-after': '2' } } : undefined
    })
    const spec = {
      retry: quickRetry({ maxAttempts: 3, retryAfter: { cap: '5s' } }),
      budget: ample,
      breaker: { consecutiveFailures: 3, minRequests: 5, failureRatio: 0.1 },
    }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  /** 30 calls whose app leaves as soon as `ready`. */
  async function leave(path: string, ready: () => boolean, method = 'GET'): Promise<void> {
    const leaving = new AbortController()
    const calls = Array.from({ length: 30 }, () =>
      open(hop.sidecar.port, `/u${path}`, { method, signal: leaving.signal }),
    )
    for (const call of calls)
      call.then(
        res => res.on('error', () => {}),
        () => {},
      )
    await expect.poll(ready).toBe(true)
    leaving.abort()
    await Promise.allSettled(calls)
    await expect.poll(() => hop.sidecar.accessLines().filter(line => line['path'] === `/u${path}`).length).toBe(30)
  }

  test.for([
    ['while the upstream is slow', '/slow', 'GET'],
    ['of a POST', '/slow-post', 'POST'],
    ['in the middle of the answer', '/head', 'GET'],
  ] as const)('a departure %s is the app’s own, logged as 499 at info, and no failure', async ([, path, method]) => {
    const before = hop.upstream.hits
    await leave(path, () => hop.upstream.hits === before + 30, method)
    const lines = hop.sidecar.accessLines().filter(line => line['path'] === `/u${path}`)
    const statuses = new Set(
      lines.map(line => `${line['level']} ${line['status']} ${line['outcome']} ${line['flags']}`),
    )
    expect([...statuses]).toEqual([expect.stringMatching(/^30 (499 aborted|200 \w+) DC$/)])
    expect(hop.upstream.hits).toBe(before + 30)
    const { breaker, inFlight, waiting } = await hop.sidecar.upstreamStatus('u')
    expect([breaker.state, breaker.failuresInARow, inFlight, waiting]).toEqual(['closed', 0, 0, 0])
  })

  test('and the count of failed attempts stays at nought', async () => {
    const metrics = await hop.sidecar.metrics()
    const results = metrics.samples.filter(one => one.name === 'forbear_attempts_total' && one.value > 0)
    expect(results.filter(one => /reset|connect|timeout|cut/.test(JSON.stringify(one.labels)))).toEqual([])
    expect(metrics.sum('forbear_retries_total')).toBe(0)
  })
})
