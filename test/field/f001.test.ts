import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

describe('F001 a body that was read for replay never leaves, because the consumed request is piped (node-http-proxy#180)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({
      status: received.url.includes('/fails') && received.headers['forbear-attempt'] !== '3' ? 503 : 200,
      body: `${received.bodyBytes}:${received.body}`,
    }))
    const retry = quickRetry({ maxAttempts: 3, idempotency: { generate: true } })
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, { retry, budget: ample })]) }
  })

  test.for([
    ['POST', 'Content-Length: 5\r\n', 'hello'],
    ['PUT', 'Content-Length: 5\r\n', 'hello'],
    ['PATCH', 'Transfer-Encoding: chunked\r\n', '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'],
    ['DELETE', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
    ['GET', 'Content-Length: 5\r\n', 'hello'],
    ['POST', 'Content-Length: 5\r\nExpect: 100-continue\r\n', 'hello'],
    ['POST', 'Content-Length: 5\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n', 'hello'],
  ] as const)('a %s with %j arrives whole on every attempt, framed once', async ([method, framing, body]) => {
    const before = hop.upstream.hits
    const head = `${method} /u/fails HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${framing}\r\n`
    const reply = await lastCall(hop.sidecar.port, head + body)
    expect(reply).toMatch(/HTTP\/1\.1 200 [\s\S]*5:hello/)
    const attempts = hop.upstream.received.slice(before)
    expect(attempts.map(one => String(one.body))).toEqual(['hello', 'hello', 'hello'])
    for (const { rawHeaders } of attempts) {
      const framings = rawHeaders.filter(
        (name, at) => at % 2 === 0 && /^(content-length|transfer-encoding)$/i.test(name),
      )
      expect(framings.length).toBe(1)
    }
  })

  test('a body that comes in pieces, the first of them with the head, arrives in order', async () => {
    const reply = await lastCall(
      hop.sidecar.port,
      `POST /u/fails HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n1\r\nb\r\n'.repeat(500)}0\r\n\r\n`,
    )
    expect(reply).toContain(`1000:${'ab'.repeat(500)}`)
  })

  test('a body that is declared empty stays empty, and is not waited for', async () => {
    const answer = await hop.sidecar.call('/u/x', { method: 'POST', headers: { 'content-length': '0' } })
    expect([answer.status, answer.text]).toEqual([200, '0:'])
  })
})
