import { EventEmitter, once } from 'node:events'
import { describe, expect } from 'vitest'
import { open, problem } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import { sleep, until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

const slow = (upstream: { readonly url: string }, timeouts: Record<string, string>, maxAttempts = 1) => [
  upstreamDoc('slow', upstream.url, { timeouts, retry: quickRetry({ maxAttempts }), budget: ample }),
]

/** Writes `chunk` every `everyMs`, `times` times. */
async function* drip(chunk: string, everyMs: number, times: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < times; n++) {
    if (n > 0) await sleep(everyMs)
    yield Buffer.from(chunk)
  }
}

const streams = (upstream: Upstream, everyMs: number, times: number): Upstream =>
  upstream.runs(async ({ res }) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for await (const chunk of drip('event\n', everyMs, times)) res.write(chunk)
    res.end()
    return undefined
  })

describe.concurrent('clocks', () => {
  test('an upstream that answers after 12 s under an attempt clock of 30 s is one attempt and 200', {
    timeout: 40_000,
  }, async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ delayMs: 12_000, body: 'at last' })
    const sidecar = await stage.sidecar([upstreamDoc('slow', upstream.url, { timeouts: { attempt: '30s' } })])
    const answer = await sidecar.call('/slow/x')
    expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, 'at last', '1'])
    expect(upstream.hits).toBe(1)
    expect(answer.elapsedMs).toBeGreaterThanOrEqual(11_900)
  })

  test('an upstream that never answers ends in 504 attempt-timeout, never in an empty reply', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar(slow(upstream, { attempt: '300ms' }))
    const answer = await sidecar.call('/slow/x')
    expect(answer.status).toBe(504)
    expect(problem(answer)).toMatchObject({ status: 504, reason: 'attempt-timeout', upstream: 'slow', attempts: 1 })
    expect(answer.headers['forbear-outcome']).toBe('attempt-timeout')
    expect(answer.elapsedMs).toBeGreaterThanOrEqual(295)
    expect(answer.elapsedMs).toBeLessThan(3_000)
  })

  test('the attempt clock works alone and applies to each attempt', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar(slow(upstream, { attempt: '200ms' }, 2))
    const answer = await sidecar.call('/slow/x')
    expect([answer.status, answer.headers['forbear-attempts'], upstream.hits]).toEqual([504, '2', 2])
    expect(answer.elapsedMs).toBeGreaterThanOrEqual(395)
  })

  test('the total clock over several attempts ends in 504 with a body', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar(slow(upstream, { attempt: '400ms', total: '1s' }, 10))
    const answer = await sidecar.call('/slow/x')
    expect(answer.status).toBe(504)
    expect(['deadline', 'attempt-timeout']).toContain(problem(answer).reason)
    expect(answer.elapsedMs).toBeGreaterThanOrEqual(750)
    expect(answer.elapsedMs).toBeLessThan(3_000)
    expect(upstream.hits).toBeLessThanOrEqual(3)
  })

  test('the total clock alone ends a call that is never answered', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar(slow(upstream, { total: '500ms' }, 3))
    const answer = await sidecar.call('/slow/x')
    expect(answer.status).toBe(504)
    expect(['deadline', 'attempt-timeout']).toContain(problem(answer).reason)
    expect(answer.elapsedMs).toBeLessThan(3_000)
  })

  test('a reset is 502 reset and not a timeout', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'reset', delayMs: 150 })
    const sidecar = await stage.sidecar(slow(upstream, { attempt: '5s' }))
    const answer = await sidecar.call('/slow/x')
    expect([answer.status, problem(answer).reason]).toEqual([502, 'reset'])
  })

  test('header bytes that drip are cut by the attempt clock', async ({ stage }) => {
    const upstream = await stage.rawUpstream(socket => {
      socket.write('HTTP/1.1 200 OK\r\nx: ')
      const timer = setInterval(() => socket.write('a'), 50)
      socket.on('close', () => clearInterval(timer))
    })
    const sidecar = await stage.sidecar(slow(upstream, { attempt: '400ms' }))
    const answer = await sidecar.call('/slow/x')
    expect([answer.status, problem(answer).reason]).toEqual([504, 'attempt-timeout'])
    expect(answer.elapsedMs).toBeLessThan(3_000)
  })

  test('a streaming body that takes longer than the total is not cut', async ({ stage }) => {
    const upstream = streams(await stage.upstream(), 250, 8)
    const sidecar = await stage.sidecar(slow(upstream, { total: '600ms' }))
    const answer = await sidecar.call('/slow/x')
    expect(answer.status).toBe(200)
    expect(answer.text).toBe('event\n'.repeat(8))
    expect(answer.elapsedMs).toBeGreaterThan(1_500)
  })

  test('each event of a stream arrives before the next is sent, and the head before the first', async ({ stage }) => {
    const heard = new EventEmitter()
    const upstream = (await stage.upstream()).runs(async ({ res }) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      for (let n = 0; n < 20; n++) {
        await once(heard, 'by the app')
        res.write(`data: ${n}\n\n`)
      }
      res.end()
      return undefined
    })
    const sidecar = await stage.sidecar(slow(upstream, {}))
    const res = await open(sidecar.port, '/slow/x')
    heard.emit('by the app')
    let text = ''
    for await (const chunk of res) {
      text += chunk
      // Deaf until the event is there, the upstream would wait for ever.
      if (text.endsWith('\n\n')) heard.emit('by the app')
    }
    expect(text).toBe(Array.from({ length: 20 }, (_, n) => `data: ${n}\n\n`).join(''))
  })

  test('an upload that takes longer than the total is not cut', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({ body: String(received.bodyBytes) }))
    const sidecar = await stage.sidecar(slow(upstream, { total: '600ms', attempt: '500ms' }))
    const answer = await sidecar.call('/slow/x', { method: 'POST', body: drip('12345678', 250, 8) })
    expect([answer.status, answer.text]).toEqual([200, '64'])
  })

  test('a gap between two body bytes longer than idle breaks the answer off', async ({ stage }) => {
    const upstream = streams(await stage.upstream(), 5_000, 2)
    const sidecar = await stage.sidecar(slow(upstream, { idle: '400ms' }))
    await expect(sidecar.call('/slow/x')).rejects.toThrow(/aborted|ECONNRESET|socket hang up/)
    await until('the upstream transfer ends', () => upstream.nth(1).abandonedAtMs, 2_000)
  })

  test('response limits the whole answer, if written', async ({ stage }) => {
    const upstream = streams(await stage.upstream(), 100, 60)
    const sidecar = await stage.sidecar(slow(upstream, { response: '800ms' }))
    await expect(sidecar.call('/slow/x')).rejects.toThrow(/aborted|ECONNRESET|socket hang up/)
    await until('the upstream transfer ends', () => upstream.nth(1).abandonedAtMs, 2_000)
  })

  test('a call that times out leaves the other calls in flight alone', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) =>
      received.url === '/stalls' ? { instead: 'hang' } : { delayMs: 600, body: 'fine' },
    )
    const sidecar = await stage.sidecar(slow(upstream, { attempt: '1s' }))
    const stalled = sidecar.call('/slow/stalls')
    await sleep(300)
    const others = await Promise.all([sidecar.call('/slow/a'), sidecar.call('/slow/b')])
    expect((await stalled).status).toBe(504)
    expect(others.map(one => one.status)).toEqual([200, 200])
    expect((await sidecar.call('/slow/c')).status).toBe(200)
  })
})
