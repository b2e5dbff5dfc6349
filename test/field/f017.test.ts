import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

const HOP_BY_HOP = [
  'Connection: keep-alive, X-Secret',
  'X-Secret: 1',
  'Keep-Alive: timeout=9',
  'TE: trailers',
  'Proxy-Authorization: Basic eA==',
  'Proxy-Authenticate: Basic',
  'Proxy-Connection: keep-alive',
  'connection: x-other ,, X-THIRD',
  'X-Other: 2',
  'x-third: 3',
  'X-Secret: again',
]
const END_TO_END = ['X-Kept: 1', 'X-Secrets: 1', 'Connections: 1', 'TEs: 1', 'Keep-Alives: 1']

describe('F017 hop-by-hop fields and what Connection names pass the proxy, both ways (node-http-proxy#446)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const status = /forbear-attempt: 1\r/i.test(head) && head.includes('/fails ') ? '503 Busy' : '200 OK'
      socket.write(
        `HTTP/1.1 ${status}\r\n${[...HOP_BY_HOP, ...END_TO_END].join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`,
      )
    })
    const spec = { retry: quickRetry({ maxAttempts: 2 }), budget: ample }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  const ask = (path: string, extra = ''): Promise<string> => {
    const fields = [...HOP_BY_HOP, ...END_TO_END].join('\r\n')
    return lastCall(
      hop.sidecar.port,
      `GET /u/${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${fields}\r\n${extra}\r\n`,
    )
  }
  const names = (text: string): string[] => text.split('\r\n').map(line => line.split(':')[0]?.toLowerCase() ?? '')
  const gone = ['x-secret', 'te', 'proxy-authorization', 'proxy-authenticate', 'proxy-connection', 'x-other', 'x-third']

  test.for(['once', 'fails'])('a request (%s) arrives without them, with all the others', async path => {
    const sent = hop.upstream.mark()
    await ask(path)
    expect(names(sent()).filter(name => [...gone, 'keep-alive'].includes(name))).toEqual([])
    expect(sent()).not.toMatch(/x-secret\b|x-other|x-third/i)
    const attempts = path === 'fails' ? 2 : 1
    expect(sent().split(END_TO_END.join('\r\n')).length - 1).toBe(attempts)
  })

  test.for(['once', 'fails'])('an answer (%s) arrives without them, with all the others', async path => {
    const reply = await ask(path)
    expect(names(reply).filter(name => gone.includes(name))).toEqual([])
    expect(reply).not.toMatch(/timeout=9|x-secret\b|x-other|x-third/i)
    expect(reply).toContain(END_TO_END.join('\r\n'))
  })

  test('Upgrade and HTTP2-Settings end here, and so does their mention', async () => {
    const sent = hop.upstream.mark()
    const offer = 'Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM\r\n'
    expect(await lastCall(hop.sidecar.port, `GET /u/x HTTP/1.1\r\nHost: a\r\n${offer}\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
    expect(sent()).not.toMatch(/upgrade|http2|AAM/i)
  })

  test('nothing that routes or frames can be named away', async () => {
    const sent = hop.upstream.mark()
    const head = 'POST /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n'
    const named = 'Connection: close, Host, Content-Length, Transfer-Encoding, Via, forbear-attempt\r\n'
    await lastCall(hop.sidecar.port, `${head}${named}\r\nhi`)
    const text = sent()
    expect(text).toMatch(/\r\nhost: 127\.0\.0\.1:\d+\r\n/i)
    expect(text).toMatch(/\r\ncontent-length: 2\r\n/i)
    expect(text).toMatch(/\r\nVia: /)
    expect(text).toMatch(/\r\nforbear-attempt: 1\r\n/)
    expect(text.endsWith('\r\n\r\nhi')).toBe(true)
  })
})
