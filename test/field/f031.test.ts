import { describe, expect, test } from 'vitest'
import { open } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { drained } from '../e2e/harness/upstream.js'

const BLOCK = Buffer.alloc(65_536)

describe('F031 when the app leaves, the transfer from the upstream goes on (node-http-proxy#1586)', () => {
  const hop = onOneStage(async stage => {
    let written = 0
    const upstream = (await stage.upstream()).runs(async ({ received, res }) => {
      const chunked = received.url === '/chunked'
      res.writeHead(200, chunked ? {} : { 'content-length': String(1_600 * BLOCK.length) })
      for (let n = 0; n < 1_600 && !res.destroyed; n++) {
        written += BLOCK.length
        if (!res.write(BLOCK)) await drained(res)
      }
      res.end()
      return undefined
    })
    const docs = [upstreamDoc('u', upstream.url, { retry: quickRetry(), budget: ample })]
    return { upstream, written: () => written, sidecar: await stage.sidecar(docs) }
  })

  /** Reads a MiB and goes. */
  async function leaves(path: string, how: 'destroy' | 'reset'): Promise<void> {
    const res = await open(hop.sidecar.port, path)
    let read = 0
    res.on('error', () => {})
    for await (const chunk of res as AsyncIterable<Buffer>) {
      read += chunk.length
      if (read >= 1_048_576) break
    }
    if (how === 'reset') res.socket.resetAndDestroy()
    else res.destroy()
  }

  test.for([
    ['/u/length', 'destroy'],
    ['/u/chunked', 'destroy'],
    ['/u/length', 'reset'],
  ] as const)('ten downloads of 100 MB (%s) whose app leaves (%s) stop within a second', async ([path, how]) => {
    const before = hop.upstream.hits
    await Promise.all(Array.from({ length: 10 }, () => leaves(path, how)))
    const calls = hop.upstream.received.slice(before)
    await expect.poll(() => calls.every(one => one.abandonedAtMs !== null), { timeout: 1_000 }).toBe(true)
    await expect.poll(() => hop.upstream.inFlight).toBe(0)
    expect((await hop.sidecar.upstreamStatus('u')).breaker.failuresInARow).toBe(0)
  })

  test('an app that has stopped reading and then leaves is noticed as well', async () => {
    const res = await open(hop.sidecar.port, '/u/length')
    res.on('error', () => {})
    let last = -1
    await expect.poll(() => last === (last = hop.written()), { interval: 20 }).toBe(true)
    res.destroy()
    await expect.poll(() => hop.upstream.inFlight, { timeout: 1_000 }).toBe(0)
  })

  test('one that leaves before the head, too', async () => {
    hop.upstream.plays({ instead: 'hang' })
    const leaving = new AbortController()
    const called = open(hop.sidecar.port, '/u/x', { signal: leaving.signal }).catch(() => null)
    await expect.poll(() => hop.upstream.inFlight).toBe(1)
    leaving.abort()
    await called
    await expect.poll(() => hop.upstream.inFlight, { timeout: 1_000 }).toBe(0)
  })
})
