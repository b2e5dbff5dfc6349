import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'

// The whole kind stands in test/e2e/smuggling.test.ts and test/e2e/bad-answers.test.ts.
describe('F016 of Transfer-Encoding and Content-Length one is silently preferred (http-parser#517, tinyproxy#610)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream(socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n')
    })
    const lenient = ['env', 'NODE_OPTIONS=--insecure-http-parser --no-warnings']
    const docs = [upstreamDoc('u', upstream.url)]
    const plain = await stage.sidecar(docs)
    return { upstream, plain, lenient: await stage.sidecar(docs, [], { through: lenient }) }
  })
  const BOTH = 'POST /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG'
  const TWO = 'POST /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'

  test.for([
    ['both', BOTH, 'plain'],
    ['two lengths', TWO, 'plain'],
    ['both, whatever Node is told about parsers,', BOTH, 'lenient'],
    ['two lengths, whatever Node is told about parsers,', TWO, 'lenient'],
  ] as const)(
    'a request with %s is 400 and the end of its connection, and nothing is sent on',
    async ([, bytes, which]) => {
      const reply = await lastCall(hop[which].port, bytes)
      expect(reply).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n/)
      expect(reply.match(/HTTP\/1\.1 \d/g)?.length).toBe(1)
      expect(hop.upstream.transcripts.join('')).not.toContain('POST')
    },
  )

  test.for(['plain', 'lenient'] as const)('an answer with both is a bad response (%s)', async which => {
    const answer = await hop[which].call('/u/x')
    expect([answer.status, answer.headers['forbear-outcome']]).toEqual([502, 'bad-response'])
  })
})
