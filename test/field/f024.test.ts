import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'
import { unframed } from './support/unframed.js'

const CHUNKED = 'Transfer-Encoding: chunked\r\n'

describe('F024 trailers are dropped while their announcement is still sent, or a malformed one crashes (goproxy#773)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = /(?:GET|PUT) (\S+) HTTP/.exec(head) ?? []
      if (path === undefined) return
      const body = path === '/unannounced' ? CHUNKED : `Trailer: x-sum, Grpc-Status\r\n${CHUNKED}`
      socket.write(`HTTP/1.1 200 OK\r\n${body}\r\n2\r\nok\r\n0\r\nx-sum: 7\r\nx-sum: 8\r\nGrpc-Status: 0\r\n\r\n`)
    })
    return {
      upstream,
      sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, { breaker: { mode: 'disabled' } })]),
    }
  })
  const get = (path: string, version = '1.1'): Promise<string> =>
    lastCall(hop.sidecar.port, `GET /u${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\nTE: trailers\r\n\r\n`)

  test.for(['/x', '/unannounced'])('those of an answer (%s) arrive, each of them, in order', async path => {
    const reply = await get(path)
    expect(reply).toMatch(/\r\n2\r\nok\r\n0\r\nx-sum: 7\r\nx-sum: 8\r\nGrpc-Status: 0\r\n\r\n$/)
    expect(/^Trailer: x-sum, Grpc-Status\r$/m.test(reply)).toBe(path === '/x')
  })

  test('to HTTP/1.0, where nothing can follow a body, neither trailers nor announcement are sent', async () => {
    const reply = await get('/x', '1.0')
    expect(reply).toMatch(/\r\n\r\nok$/)
    expect(reply).not.toMatch(/trailer|x-sum/i)
  })

  test.for(['Trailer: x-sum\r\n', 'Trailer: cookie \r\n', 'Trailer: ,;\x20"\r\n', 'Trailer:\r\nTrailer: a\r\n', ''])(
    'those of a request (%j) are dropped with their announcement, and the body is whole',
    async announced => {
      const sent = hop.upstream.mark()
      const head = `PUT /u/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${announced}${CHUNKED}\r\n`
      const reply = await lastCall(hop.sidecar.port, `${head}2\r\nhi\r\n0\r\nx-sum: 3\r\ncookie: evil\r\n\r\n`)
      expect(reply).toMatch(/^HTTP\/1\.1 200 /)
      expect(unframed(sent())).toMatchObject({ body: 'hi', rest: '' })
      expect(sent()).not.toMatch(/trailer|x-sum|evil/i)
    },
  )

  test('the sidecar has lived through all of it', () => {
    expect([hop.sidecar.exit, hop.sidecar.errorLines()]).toEqual([null, []])
  })
})
