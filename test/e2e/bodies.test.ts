import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { describe, expect } from 'vitest'
import { open } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import { test } from './harness/stage.js'
import { nowMs, sleep, until } from './harness/time.js'
import { drained, type Upstream } from './harness/upstream.js'

const MIB = 1_048_576
const BLOCK = randomBytes(MIB)
/** Streamed each way; 1024 by hand, in the measure of the design. */
const LARGE = Number(process.env['FORBEAR_TEST_BODY_MIB'] ?? 200)
const LARGE_MS = 30_000 + LARGE * 500

const files = (upstream: Upstream, retry: Record<string, unknown> = {}) => [
  upstreamDoc('files', upstream.url, { retry: quickRetry(retry), budget: ample }),
]

async function* blocks(count: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n++) yield BLOCK
}

function blocksSha256(count: number): string {
  const hash = createHash('sha256')
  for (let n = 0; n < count; n++) hash.update(BLOCK)
  return hash.digest('hex')
}

/** 200 with `count` blocks, as fast as the reader takes them. */
const serves = (upstream: Upstream, count: number): Upstream =>
  upstream.runs(async ({ res }) => {
    res.writeHead(200, { 'content-length': count * MIB })
    for (let n = 0; n < count && !res.destroyed; n++) {
      if (!res.write(BLOCK)) await drained(res)
    }
    res.end()
    return undefined
  })

describe('large bodies', () => {
  test(`an upload of ${LARGE} MiB arrives whole, chunked or declared, with memory bounded`, {
    timeout: LARGE_MS,
  }, async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({ body: received.bodySha256 }))
    const sidecar = await stage.sidecar(files(upstream))
    await sidecar.call('/files/warm')
    const lengths = [{ 'Transfer-Encoding': 'chunked' }, { 'Content-Length': String(LARGE * MIB) }]
    for (const [n, headers] of lengths.entries()) {
      const method = n === 0 ? 'POST' : 'PUT'
      const answer = await sidecar.call('/files/x', { method, headers, body: blocks(LARGE), timeoutMs: LARGE_MS })
      expect([answer.status, answer.text]).toEqual([200, blocksSha256(LARGE)])
    }
    expect(await sidecar.memoryBytes('VmHWM')).toBeLessThan(150 * MIB)
  })

  test(`a download of ${LARGE} MiB arrives whole, with memory bounded`, { timeout: LARGE_MS }, async ({ stage }) => {
    const upstream = serves(await stage.upstream(), LARGE)
    const sidecar = await stage.sidecar(files(upstream))
    const hash = createHash('sha256')
    const res = await open(sidecar.port, '/files/x', { timeoutMs: LARGE_MS })
    for await (const chunk of res as AsyncIterable<Buffer>) hash.update(chunk)
    expect(hash.digest('hex')).toBe(blocksSha256(LARGE))
    expect(await sidecar.memoryBytes('VmHWM')).toBeLessThan(150 * MIB)
  })
})

describe('an app that hangs up', () => {
  test('in the middle of a download stops the upstream transfer within a second and is nobody else’s failure', async ({
    stage,
  }) => {
    const upstream = serves(await stage.upstream(), 1_000)
    const sidecar = await stage.sidecar(files(upstream))
    for (let n = 1; n <= 12; n++) {
      const res = await open(sidecar.port, '/files/x')
      await once(res, 'data')
      res.destroy()
      const leftMs = nowMs()
      await until('the upstream sees the end', () => upstream.nth(n).abandonedAtMs, 3_000)
      expect((upstream.nth(n).abandonedAtMs ?? Number.NaN) - leftMs).toBeLessThan(1_000)
    }
    await until('twelve access-log lines', () => sidecar.accessLines().length === 12)
    expect(sidecar.accessLines()[0]).toMatchObject({ status: 499, outcome: 'aborted', attempts: 1 })
    const { breaker, inFlight } = await sidecar.upstreamStatus('files')
    expect([breaker.state, breaker.failuresInARow, inFlight]).toEqual(['closed', 0, 0])
    expect(sidecar.errorLines()).toEqual([])
  })

  test('before the answer ends the attempt, and no other follows', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar(files(upstream))
    for (let n = 1; n <= 12; n++) {
      const leave = new AbortController()
      const left = sidecar.call('/files/x', { signal: leave.signal }).catch(() => null)
      await until('the upstream is called', () => upstream.hits === n)
      leave.abort()
      await left
      await until('the upstream sees the end', () => upstream.nth(n).abandonedAtMs, 1_500)
    }
    await sleep(100)
    expect(upstream.hits).toBe(12)
    const { breaker } = await sidecar.upstreamStatus('files')
    expect([breaker.state, breaker.failuresInARow]).toEqual(['closed', 0])
    await until('an access line each', () => sidecar.accessLines().length === 12)
    expect(sidecar.accessLines().map(line => line['status'])).toEqual(Array(12).fill(499))
  })

  test('during a back-off ends the request', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const backoff = { kind: 'fixed', base: '700ms', jitter: 'none' }
    const sidecar = await stage.sidecar(files(upstream, { backoff }))
    const leave = new AbortController()
    const left = sidecar.call('/files/x', { signal: leave.signal }).catch(() => null)
    await until('the upstream is called', () => upstream.hits === 1)
    await sleep(100)
    leave.abort()
    await left
    expect(await sidecar.accessLine('/files/x')).toMatchObject({ status: 499, outcome: 'aborted' })
    await sleep(1_200)
    expect(upstream.hits).toBe(1)
  })

  test('in the middle of an upload ends the attempt', async ({ stage }) => {
    const upstream = await stage.upstream()
    const sidecar = await stage.sidecar(files(upstream))
    const leave = new AbortController()
    const endless = async function* (): AsyncGenerator<Buffer> {
      while (!leave.signal.aborted) {
        yield Buffer.alloc(1_000)
        await sleep(20)
      }
    }
    const left = sidecar.call('/files/x', { method: 'PUT', body: endless(), signal: leave.signal }).catch(() => null)
    await until('the upstream is called', () => upstream.hits === 1)
    leave.abort()
    await left
    await until('the upstream sees the end', () => upstream.nth(1).abandonedAtMs, 1_500)
    await sleep(200)
    expect(upstream.hits).toBe(1)
    expect((await sidecar.upstreamStatus('files')).breaker.failuresInARow).toBe(0)
  })
})

describe('the replay of a body', () => {
  const bad = { status: 503, body: 'busy' }

  test('a chunked PUT of 1 KB is repeated with the same bytes', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, { status: 200 })
    const sidecar = await stage.sidecar(files(upstream))
    const answer = await sidecar.call('/files/x', { method: 'PUT', body: chunked(BLOCK.subarray(0, 1_024), 100) })
    expect(answer.status).toBe(200)
    expect(upstream.hits).toBe(2)
    for (const one of upstream.received) expect(one.body.equals(BLOCK.subarray(0, 1_024))).toBe(true)
  })

  test('a chunked PUT of 200 KB under a maxBody of 1 MiB has the same hash on each attempt', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, { instead: 'reset' }, { status: 200 })
    const sidecar = await stage.sidecar(files(upstream, { maxBody: '1MiB' }))
    const body = BLOCK.subarray(0, 200_000)
    const answer = await sidecar.call('/files/x', { method: 'PUT', body: chunked(body, 7_777) })
    expect(answer.status).toBe(200)
    const expected = createHash('sha256').update(body).digest('hex')
    expect(upstream.received.map(one => one.bodySha256)).toEqual([expected, expected, expected])
  })

  test('a body larger than maxBody is sent once, whole, and the reason says so', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(bad, { status: 200 })
    const sidecar = await stage.sidecar(files(upstream, { maxBody: '64KiB' }))
    const answer = await sidecar.call('/files/x', { method: 'PUT', body: BLOCK.subarray(0, 100_000) })
    expect([answer.status, answer.text]).toEqual([503, 'busy'])
    expect(answer.headers['forbear-outcome']).toBe('body-too-large')
    expect(upstream.hits).toBe(1)
    expect(upstream.nth(1).bodyBytes).toBe(100_000)
    const denied = (await sidecar.metrics()).sum('forbear_retries_denied_total', { reason: 'body-too-large' })
    expect(denied).toBe(1)
  })

  test('a body larger than maxBody is still sent after a connection was refused, since nothing had left', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream({ port: await freePort(), closed: true })).plays({ status: 200 })
    const backoff = { kind: 'fixed', base: '200ms', jitter: 'none' }
    const sidecar = await stage.sidecar(files(upstream, { backoff, maxBody: '64KiB' }))
    const answer = sidecar.call('/files/x', { method: 'POST', body: chunked(BLOCK, 16_384) })
    await sleep(300)
    await upstream.open()
    expect((await answer).status).toBe(200)
    expect(upstream.nth(1).bodySha256).toBe(createHash('sha256').update(BLOCK).digest('hex'))
  })
})

describe('an upstream that dies after its head', () => {
  test.for(['Content-Length: 100', 'Transfer-Encoding: chunked'])(
    'with %s breaks the app’s connection off',
    async (framing, { stage }) => {
      const upstream = await stage.rawUpstream(socket => {
        socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`)
        socket.write(framing.startsWith('C') ? '0123456789' : 'a\r\n0123456789\r\n')
        setTimeout(() => socket.destroy(), 50)
      })
      const sidecar = await stage.sidecar([upstreamDoc('files', upstream.url)])
      const startedMs = nowMs()
      await expect(sidecar.call('/files/x')).rejects.toThrow(/aborted|ECONNRESET|socket hang up/)
      expect(nowMs() - startedMs).toBeLessThan(3_000)
      expect(upstream.transcripts.length).toBe(1)
      expect(await sidecar.accessLine('/files/x')).toMatchObject({ outcome: 'cut', attempts: 1 })
      expect((await sidecar.upstreamStatus('files')).breaker.failuresInARow).toBeGreaterThanOrEqual(1)
    },
  )
})

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
