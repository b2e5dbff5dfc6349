import { describe, expect, test } from 'vitest'
import { open } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { nowMs, sleep } from '../e2e/harness/time.js'

const EVERY_MS = 40

describe('F041 server-sent events are held back, cut by a time-out, or go on after the app has left (node-http-proxy#1520)', () => {
  const hop = onOneStage(async stage => {
    const sentAtMs: number[] = []
    const upstream = (await stage.upstream()).runs(async ({ received, res }) => {
      const count = received.url.startsWith('/20') ? 20 : 100_000
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      if (received.url === '/silent-head') res.flushHeaders()
      for (let n = 0; n < count && !res.destroyed; n++) {
        if (n > 0) await sleep(EVERY_MS)
        if (received.url === '/silent-head' && n === 0) continue
        sentAtMs[n] = nowMs()
        res.write(`data: ${n}\n\n`)
        if (received.url === '/20-and-die' && n === 3) res.destroy()
      }
      res.end()
      return undefined
    })
    const spec = {
      timeouts: { attempt: '200ms', total: '300ms', idle: '2s' },
      retry: quickRetry({ maxAttempts: 3 }),
      budget: ample,
      breaker: { mode: 'observe' },
    }
    const docs = [
      upstreamDoc('u', upstream.url, spec),
      upstreamDoc('cut', upstream.url, { ...spec, timeouts: { response: '300ms' } }),
      upstreamDoc('idle', upstream.url, { ...spec, timeouts: { idle: '20ms' } }),
    ]
    return { upstream, sentAtMs, sidecar: await stage.sidecar(docs) }
  })

  test('head and each event arrive as they are sent, far beyond the total clock', async () => {
    const res = await open(hop.sidecar.port, '/u/20')
    const delays: number[] = []
    for await (const chunk of res as AsyncIterable<Buffer>) {
      for (const [, n] of chunk.toString().matchAll(/data: (\d+)\n\n/g))
        delays.push(nowMs() - (hop.sentAtMs[Number(n)] ?? 0))
    }
    expect(delays.length).toBe(20)
    // An event that was held back would be a whole gap late, and most of them would be.
    expect(delays.filter(ms => ms >= EVERY_MS).length).toBeLessThan(10)
  })

  test('the head does not wait for the first event', async () => {
    const before = nowMs()
    const res = await open(hop.sidecar.port, '/u/silent-head')
    expect(res.headers['content-type']).toBe('text/event-stream')
    expect(nowMs() - before).toBeLessThan(1_000)
    res.destroy()
  })

  test('when the app leaves, the upstream sees it within a second', async () => {
    const before = hop.upstream.hits
    const res = await open(hop.sidecar.port, '/u/endless')
    await new Promise(resolve => res.once('data', resolve))
    res.destroy()
    await expect.poll(() => hop.upstream.nth(before + 1).abandonedAtMs, { timeout: 1_000 }).not.toBeNull()
    expect(await hop.sidecar.accessLine('/u/endless')).toMatchObject({ outcome: 'aborted' })
  })

  test.for(['/u/20-and-die', '/cut/endless', '/idle/endless'])(
    'a stream that breaks (%s) breaks for the app too, and is not begun anew',
    async path => {
      const before = hop.upstream.hits
      await expect(hop.sidecar.call(path)).rejects.toThrow()
      expect(hop.upstream.hits - before).toBe(1)
    },
  )
})
