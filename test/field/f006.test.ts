import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

const MIB = 1_048_576

async function* blocks(count: number, block: Buffer): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n++) yield block
}

describe('F006 eligibility hangs on Content-Length, so chunked requests are never repeated (linkerd2-proxy#1341)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({
      status: received.url === '/fails' && received.headers['forbear-attempt'] === '1' ? 503 : 200,
      body: String(received.bodyBytes),
    }))
    const retry = quickRetry({ maxAttempts: 2, maxBody: '64KiB' })
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, { retry, budget: ample })]) }
  })

  test.for([
    ['1 KiB in one chunk', 1, 1_024],
    ['64 KiB in many small chunks, exactly the limit', 1_024, 64],
    ['a single byte', 1, 1],
    ['no byte at all', 0, 1],
  ] as const)('a chunked body of %s is repeated', async ([, count, bytes]) => {
    const body = blocks(count, Buffer.alloc(bytes))
    const answer = await hop.sidecar.call('/u/fails', { method: 'PUT', body })
    expect([answer.status, answer.text]).toEqual([200, String(count * bytes)])
    expect(answer.headers['forbear-attempts']).toBe('2')
  })

  test('one byte more is counted, not declared, and ends the right to be repeated', async () => {
    const body = blocks(1_025, Buffer.alloc(64))
    const answer = await hop.sidecar.call('/u/fails', { method: 'PUT', body })
    expect([answer.status, answer.headers['forbear-outcome']]).toEqual([503, 'body-too-large'])
  })

  // With memory watched: test/e2e/bodies.test.ts.
  test('16 MiB in chunks stream through, retries on', async () => {
    const answer = await hop.sidecar.call('/u/large', { method: 'PUT', body: blocks(16, Buffer.alloc(MIB)) })
    expect([answer.status, answer.text]).toEqual([200, String(16 * MIB)])
  })
})
