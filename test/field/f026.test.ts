import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { RawClient } from '../proxy/support/raw-client.js'

const EXPECT = 'Expect: 100-continue\r\n'

describe('F026 with Expect: 100-continue the fields that the proxy adds are missing, or added too late (node-http-proxy#1219)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({
      status: received.url === '/fails' && received.headers['forbear-attempt'] !== '3' ? 503 : 200,
      body: String(received.body),
    }))
    const spec = { retry: quickRetry({ maxAttempts: 3 }), budget: ample }
    const down = upstreamDoc('down', 'http://127.0.0.1:1', { retry: { maxAttempts: 1 } })
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec), down]) }
  })

  test.for([
    ['PUT', 'Content-Length: 2\r\n', 'hi'],
    ['PUT', 'Transfer-Encoding: chunked\r\n', '2\r\nhi\r\n0\r\n\r\n'],
    ['DELETE', 'Content-Length: 2\r\n', 'hi'],
  ] as const)(
    '%s with %j: ours are on every attempt, the app gets one 100 and one answer',
    async ([method, framing, body]) => {
      const before = hop.upstream.hits
      const head = `${method} /u/fails HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${EXPECT}${framing}\r\n`
      const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
      client.send(head)
      await client.untilHas('HTTP/1.1 100 Continue\r\n\r\n')
      client.send(body)
      const reply = await client.untilClosed()
      expect(reply.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200'])
      expect(reply).toMatch(/hi/)
      const attempts = hop.upstream.received.slice(before)
      expect(attempts.map(one => one.headers['forbear-attempt'])).toEqual(['1', '2', '3'])
      for (const { headers, body: sent } of attempts) {
        expect([headers.expect, headers.via?.startsWith('1.1 forbear'), String(sent)]).toEqual([undefined, true, 'hi'])
      }
    },
  )

  test.for(['Expect: 100-Continue\r\n', 'expect: 100-CONTINUE\r\n', `${EXPECT}${EXPECT}`])(
    '%j is the same',
    async field => {
      const head = `PUT /u/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${field}Content-Length: 2\r\n\r\nhi`
      const reply = await lastCall(hop.sidecar.port, head)
      expect(reply.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200'])
    },
  )

  test('without a body there is nothing to ask for', async () => {
    const reply = await lastCall(hop.sidecar.port, `GET /u/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${EXPECT}\r\n`)
    expect(reply.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200'])
  })

  test('HTTP/1.0 knows no 100', async () => {
    const reply = await lastCall(
      hop.sidecar.port,
      `PUT /u/x HTTP/1.0\r\nHost: a\r\n${EXPECT}Content-Length: 2\r\n\r\nhi`,
    )
    expect(reply.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200'])
  })

  test('a request that goes nowhere is answered without asking for its body, and the connection ends', async () => {
    const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
    client.send(`PUT /nobody/x HTTP/1.1\r\nHost: a\r\n${EXPECT}Content-Length: 2000000\r\n\r\n`)
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 404 [^]*\r\nConnection: close\r\n/)
  })

  test('an unknown expectation is refused', async () => {
    const reply = await lastCall(
      hop.sidecar.port,
      'PUT /u/x HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\nContent-Length: 2\r\n\r\nhi',
    )
    expect(reply).toMatch(/^HTTP\/1\.1 400 /)
  })
})
