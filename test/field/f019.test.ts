import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

const COOKIES = [
  'Set-Cookie: a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Path=/',
  'set-cookie: b=2',
  'SET-COOKIE: c="x, y; z"',
  'Set-Cookie: b=3',
  'Set-Cookie:',
  'Set-Cookie: d=\xe9',
]

describe('F019 of several Set-Cookie lines one survives, or they are joined by commas (node-http-proxy#1101)', () => {
  const hop = onOneStage(async stage => {
    const body = '{"x":1}'
    const upstream = await stage.rawUpstream((socket, head) => {
      const status = head.includes('/fails ') ? '503 Busy' : '200 OK'
      const others =
        'WWW-Authenticate: Basic realm="a, b"\r\nWWW-Authenticate: Bearer\r\nLink: <a>\r\nLink: <b>\r\nX: 1\r\nx: 2'
      socket.write(
        `HTTP/1.1 ${status}\r\n${COOKIES.slice(0, 3).join('\r\n')}\r\n${others}\r\n${COOKIES.slice(3).join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        'latin1',
      )
    })
    const spec = { retry: quickRetry({ maxAttempts: 2 }), budget: ample }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  const ask = (line: string, fields = ''): Promise<string> =>
    lastCall(hop.sidecar.port, `${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${fields}\r\n`)
  const linesOf = (text: string, name: RegExp): string[] => text.split('\r\n').filter(line => name.test(line))

  test.for(['GET /u/x', 'HEAD /u/x', 'GET /u/fails'])(
    '%s gets every line apart, in order, byte for byte',
    async line => {
      const cookies = linesOf(await ask(line), /^set-cookie:/i).map(one => one.trimEnd())
      expect(cookies).toEqual(COOKIES)
    },
  )

  test('so are other fields that come more than once', async () => {
    const reply = await ask('GET /u/x')
    expect(linesOf(reply, /^www-authenticate:/i)).toEqual([
      'WWW-Authenticate: Basic realm="a, b"',
      'WWW-Authenticate: Bearer',
    ])
    expect(linesOf(reply, /^link:/i)).toEqual(['Link: <a>', 'Link: <b>'])
    expect(linesOf(reply, /^x:/i)).toEqual(['X: 1', 'x: 2'])
  })

  test('and fields of a request, Cookie among them', async () => {
    const sent = hop.upstream.mark()
    const fields = [
      'Cookie: a=1; b=2',
      'X-Forwarded-For: 1',
      'cookie: c=3',
      'x-forwarded-for: 2',
      'Accept: a, b',
      'Accept: c',
    ]
    await ask('GET /u/x', `${fields.join('\r\n')}\r\n`)
    expect(linesOf(sent(), /^(cookie|x-forwarded-for|accept):/i)).toEqual(fields)
  })
})
