import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { sleep } from '../e2e/harness/time.js'
import { unframed } from './support/unframed.js'

const BODY = randomBytes(200 * 1024)
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

async function* inPieces(body: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += bytes) {
    yield body.subarray(at, at + bytes)
    if (at % (bytes * 8) === 0) await sleep(1)
  }
}

describe('F002 a streamed body is sent with the first attempt and each retry goes out empty (got#1382)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(async ({ received, req }) => {
      if (received.headers['forbear-attempt'] !== '1') return { status: 200, body: 'stored' }
      const failure = new URL(received.url, 'http://u').searchParams.get('first')
      if (failure === 'reset') req.socket.resetAndDestroy()
      else if (failure !== 'hang') return { status: Number(failure) }
      return undefined
    })
    const early = await stage.rawUpstream((socket, head) => {
      if (/forbear-attempt: 1\r/i.test(head)) socket.write('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n')
    })
    const spec = { budget: ample, timeouts: { attempt: '200ms', total: '5s' } }
    const retry = (maxBody: string) => quickRetry({ maxAttempts: 2, maxBody })
    return {
      upstream,
      early,
      sidecar: await stage.sidecar([
        upstreamDoc('kept', upstream.url, { ...spec, retry: retry('256KiB') }),
        upstreamDoc('large', upstream.url, { ...spec, retry: retry('64KiB') }),
        upstreamDoc('early', early.url, { ...spec, retry: retry('256KiB') }),
      ]),
    }
  })

  test.for(['503', '429', 'reset', 'hang'])('after %s the second attempt has the same hash', async first => {
    const before = hop.upstream.hits
    const body = inPieces(BODY, 4_096)
    const answer = await hop.sidecar.call(`/kept/x?first=${first}`, { method: 'PUT', body })
    expect([answer.status, answer.text]).toEqual([200, 'stored'])
    const hashes = hop.upstream.received.slice(before).map(one => one.bodySha256)
    // A third is the free repeat after a connection that had been idle.
    expect(hashes.length).toBeGreaterThanOrEqual(2)
    expect(new Set(hashes)).toEqual(new Set([sha256(BODY)]))
  })

  test.for([
    ['503', 503],
    ['reset', 502],
    ['hang', 504],
  ] as const)('above maxBody there is no second attempt after %s but the failure', async ([first, status]) => {
    const before = hop.upstream.hits
    const answer = await hop.sidecar.call(`/large/x?first=${first}`, { method: 'PUT', body: inPieces(BODY, 4_096) })
    expect([answer.status, answer.headers['forbear-attempts']]).toEqual([status, '1'])
    expect(hop.upstream.received.slice(before).map(one => one.bodySha256)).toEqual([sha256(BODY)])
  })

  test('a 503 that comes while the app still sends is repeated from the first byte on', async () => {
    const body = inPieces(BODY, 2_048)
    const answered = hop.sidecar.call('/early/x', { method: 'PUT', body, timeoutMs: 1_500 }).catch(() => null)
    await expect.poll(() => hop.early.transcripts.length, { timeout: 3_000 }).toBe(2)
    await expect.poll(() => hop.early.transcripts[1]?.endsWith('\r\n0\r\n\r\n'), { timeout: 3_000 }).toBe(true)
    const second = unframed(hop.early.transcripts[1] ?? '')
    expect(sha256(Buffer.from(second.body, 'latin1'))).toBe(sha256(BODY))
    await answered
  })
})
