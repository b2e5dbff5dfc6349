import { describe, expect, test } from 'vitest'
import { lastCall, open } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'

const ANSWERS: Readonly<Record<string, string>> = {
  '/length': 'Trailer: x-sum\r\nContent-Length: 2\r\n\r\nok',
  '/length-first': 'Content-Length: 2\r\nTrailer: x-sum\r\n\r\nok',
  '/close': 'Trailer: x-sum\r\nConnection: close\r\n\r\nok',
  '/odd-name': 'Trailer: cookie , \x20\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  '/framing-names':
    'Trailer: content-length, transfer-encoding, trailer\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  '/empty': 'Trailer:\r\nContent-Length: 2\r\n\r\nok',
  '/twice': 'Trailer: a\r\ntrailer: b\r\nContent-Length: 2\r\n\r\nok',
  '/obs-text': 'X: \xe9\x80\r\nContent-Length: 2\r\n\r\nok',
  '/keep-alive': 'Keep-Alive: timeout=99999999999999, max=-1\r\nContent-Length: 2\r\n\r\nok',
  '/date': 'Date: \xff\r\nConnection: \xff,,;\r\nContent-Length: 2\r\n\r\nok',
  '/expect': 'Expect: 100-continue\r\nHost: evil\r\nContent-Length: 2\r\n\r\nok',
  '/proto': '__proto__: 1\r\nconstructor: 2\r\nContent-Length: 2\r\n\r\nok',
}

describe('F023 an answer with an odd Trailer makes the writer throw, and the process dies (http-proxy-middleware#830)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = head.split(' ')
      if (path === '/slow') socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n..\r\n')
      else
        socket.write(`HTTP/1.1 200 \xfcll\x01\r\n${ANSWERS[path]}`, 'latin1', () => path === '/close' && socket.end())
    })
    return {
      upstream,
      sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, { breaker: { mode: 'disabled' } })]),
    }
  })

  test.for(Object.keys(ANSWERS))(
    '%s is delivered, to GET, HEAD and HTTP/1.0, and nobody else is harmed',
    async path => {
      const other = await open(hop.sidecar.port, '/u/slow')
      const answer = await hop.sidecar.call(`/u${path}`)
      expect([answer.status, answer.text]).toEqual([200, 'ok'])
      const old = await lastCall(hop.sidecar.port, `GET /u${path} HTTP/1.0\r\nHost: a\r\n\r\n`)
      expect(old).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nok$/)
      expect(old).not.toMatch(/transfer-encoding/i)
      expect(other.destroyed).toBe(false)
      other.destroy()
    },
  )

  test.for(['/length', '/length-first', '/empty', '/twice'])(
    '%s loses the announcement that nothing follows',
    async path => {
      const { headers } = await hop.sidecar.call(`/u${path}`)
      expect([headers.trailer, headers['content-length']]).toEqual([undefined, '2'])
    },
  )

  test('the process has lived through all of it without a word', async () => {
    expect([hop.sidecar.exit, hop.sidecar.errorLines()]).toEqual([null, []])
    expect(hop.sidecar.output).not.toMatch(/ERR_|Warning/)
  })
})
