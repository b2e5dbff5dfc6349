import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

describe('F021 a HEAD answer tells the length 0 instead of that of the resource (http-proxy-middleware#1121)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = head.split(' ')
      const failed = path === '/fails' && /forbear-attempt: 1\r/i.test(head)
      const framing =
        path === '/chunked' ? 'Transfer-Encoding: chunked' : path === '/none' ? 'X: 1' : 'Content-Length: 1234'
      socket.write(`HTTP/1.1 ${failed ? '503 Busy' : '200 OK'}\r\n${framing}\r\nETag: "e"\r\n\r\n`)
      if (path === '/rude') socket.write('body nobody asked for')
    })
    const spec = { retry: quickRetry({ maxAttempts: 2 }), budget: ample, breaker: { mode: 'disabled' } }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  test('many on one connection of the app and one of the upstream keep the length, and wait for no body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const before = hop.upstream.transcripts.length
    for (let n = 0; n < 5; n++) {
      const answer = await hop.sidecar.call('/u/x', { method: 'HEAD', agent, timeoutMs: 2_000 })
      expect([answer.status, answer.headers['content-length'], answer.headers.etag]).toEqual([200, '1234', '"e"'])
    }
    agent.destroy()
    expect(hop.upstream.transcripts.length - before).toBe(1)
  })

  test('a HEAD is repeated as a GET is', async () => {
    const answer = await hop.sidecar.call('/u/fails', { method: 'HEAD' })
    expect([answer.status, answer.headers['content-length'], answer.headers['forbear-attempts']]).toEqual([
      200,
      '1234',
      '2',
    ])
  })

  test.for(['/chunked', '/none'])('an answer without a length (%s) gets none made up', async path => {
    const reply = await lastCall(hop.sidecar.port, `HEAD /u${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    expect(reply).toMatch(/^HTTP\/1\.1 200 /)
    expect(reply).not.toMatch(/content-length/i)
    expect(reply.endsWith('\r\n\r\n')).toBe(true)
  })

  test('a body that comes all the same reaches nobody', async () => {
    const head = 'HEAD /u/rude HTTP/1.1\r\nHost: a\r\n'
    const reply = await lastCall(hop.sidecar.port, `${head}\r\n${head}Connection: close\r\n\r\n`)
    expect(reply.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(2)
    expect(reply).not.toContain('nobody')
  })

  test('an answer of our own has no body either', async () => {
    const reply = await lastCall(hop.sidecar.port, 'HEAD /nobody/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(reply).toMatch(/^HTTP\/1\.1 404 [^]*content-length: \d+\r\n[^]*\r\n\r\n$/)
  })
})
