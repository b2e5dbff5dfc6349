/** Bodies of every size, framing and coding, compared by count and hash. */
import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { RawClient } from '../proxy/support/raw-client.js'
import { rawCall } from './harness/client.js'
import { onOneStage } from './harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const BYTES = randomBytes(300_000)
/** Around what Node, undici, a kept answer and maxBody take at once. */
const SIZES = [0, 1, 2, 1_023, 8_192, 8_193, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 131_073, 300_000]

async function* inPieces(body: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += bytes) {
    yield body.subarray(at, at + bytes)
    await new Promise(resolve => setImmediate(resolve))
  }
}

describe('a body', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received, res }) => {
      const url = new URL(received.url, 'http://u')
      if (url.searchParams.has('busy') && received.headers['forbear-attempt'] === '1') {
        return { status: 503, body: BYTES.subarray(0, 20_000) }
      }
      if (url.pathname === '/up') return { body: `${received.bodyBytes} ${received.bodySha256}` }
      const body = BYTES.subarray(0, Number(url.searchParams.get('bytes')))
      if (!url.searchParams.has('chunked')) res.setHeader('content-length', body.length)
      for (let at = 0; at < body.length; at += 10_000) res.write(body.subarray(at, at + 10_000))
      res.end()
      return undefined
    })
    const spec = { retry: quickRetry({ maxBody: '64KiB' }), budget: ample, breaker: { mode: 'disabled' } }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  test.for(SIZES)('of %i bytes goes up whole, declared or chunked, in one piece or many', async size => {
    const body = BYTES.subarray(0, size)
    const length = { 'Content-Length': String(size) }
    const ways = [
      { headers: length, body },
      { headers: length, body: inPieces(body, 7_777) },
      { headers: { 'Transfer-Encoding': 'chunked' }, body: inPieces(body, 999) },
    ]
    for (const way of ways) {
      const answer = await hop.sidecar.call('/u/up', { method: 'POST', ...way })
      expect([answer.status, answer.text]).toEqual([200, `${size} ${sha256(body)}`])
      const { headers } = hop.upstream.nth(hop.upstream.hits)
      // One framing: what was chunked may go up declared, once all of it is there.
      const { 'content-length': declared, 'transfer-encoding': coding } = headers
      if (declared === undefined) expect(['Content-Length' in way.headers, coding]).toEqual([false, 'chunked'])
      else expect([declared, coding]).toEqual([String(size), undefined])
    }
  })

  test.for(SIZES)('of %i bytes goes up again whole on a retry, or not again', async size => {
    const body = BYTES.subarray(0, size)
    for (const pieces of [body, inPieces(body, 5_000)]) {
      const answer = await hop.sidecar.call('/u/up?busy', { method: 'PUT', body: pieces })
      if (size <= 65_536) expect([answer.status, answer.text]).toEqual([200, `${size} ${sha256(body)}`])
      else expect([answer.status, answer.headers['forbear-outcome']]).toEqual([503, 'body-too-large'])
      expect(hop.upstream.nth(hop.upstream.hits).bodySha256).toBe(sha256(body))
    }
  })

  test.for(SIZES)('of %i bytes comes down whole, framed as the upstream frames it', async size => {
    for (const framing of ['', '&chunked', '&busy', '&busy&chunked']) {
      const answer = await hop.sidecar.call(`/u/down?bytes=${size}${framing}`)
      expect([answer.status, answer.body.length, sha256(answer.body)]).toEqual([
        200,
        size,
        sha256(BYTES.subarray(0, size)),
      ])
      const { 'content-length': length, 'transfer-encoding': coding } = answer.headers
      // Node as an upstream declares what has no bytes.
      const chunked = size > 0 && framing.includes('chunked')
      expect([length, coding]).toEqual(chunked ? [undefined, 'chunked'] : [String(size), undefined])
    }
  })

  test('comes down whole to an app of HTTP/1.0, which knows no chunks', async () => {
    for (const framing of ['', '&chunked']) {
      const reply = await rawCall(hop.sidecar.port, `GET /u/down?bytes=70000${framing} HTTP/1.0\r\nHost: a\r\n\r\n`)
      const [head = '', ...rest] = reply.split('\r\n\r\n')
      expect(head).not.toMatch(/transfer-encoding/i)
      expect(sha256(Buffer.from(rest.join('\r\n\r\n'), 'latin1'))).toBe(sha256(BYTES.subarray(0, 70_000)))
    }
  })

  test('goes up whole though the app waits for 100 Continue, and again on a retry, with a single 100', async () => {
    const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
    client.send('PUT /u/up?busy HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 50000\r\n\r\n')
    await client.untilHas('HTTP/1.1 100 ')
    const body = BYTES.subarray(0, 50_000)
    client.send(body.toString('latin1'))
    await client.untilHas(`50000 ${sha256(body)}`)
    expect(client.received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200'])
    expect(hop.upstream.received.slice(-2).map(one => one.headers.expect)).toEqual([undefined, undefined])
    client.destroy()
  })

  test('a hundred of all sizes at once, up and down, do not mix', async () => {
    await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const body = BYTES.subarray(n, n + (SIZES[n % SIZES.length] ?? 0))
        const answer = await hop.sidecar.call('/u/up', { method: 'POST', body: inPieces(body, 3_000 + n) })
        expect(answer.text).toBe(`${body.length} ${sha256(body)}`)
      }),
    )
  })
})

describe('what belongs to a body and not to us', () => {
  const gzip = Buffer.from('H4sIAAAAAAAAA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA==', 'base64')
  const parts =
    '--x\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/9\r\n\r\nab\r\n--x\r\nContent-Range: bytes 8-8/9\r\n\r\ni\r\n--x--\r\n'
  const raw = (head: string, body: Buffer | string): Buffer =>
    Buffer.concat([Buffer.from(`HTTP/1.1 ${head}\r\n\r\n`), Buffer.from(body)])
  const answers: Readonly<Record<string, Buffer>> = {
    '/gzip': raw(`200 OK\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding\r\nContent-Length: ${gzip.length}`, gzip),
    '/gzip-chunked': raw(
      '200 OK\r\nContent-Encoding: gzip, br\r\nTransfer-Encoding: chunked',
      Buffer.concat([Buffer.from(`${gzip.length.toString(16)}\r\n`), gzip, Buffer.from('\r\n0\r\n\r\n')]),
    ),
    '/range': raw('206 Partial Content\r\nContent-Range: bytes 2-5/9\r\nETag: "e"\r\nContent-Length: 4', 'cdef'),
    '/ranges': raw(
      `206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=x\r\nContent-Length: ${parts.length}`,
      parts,
    ),
    '/no-range': raw('416 Range Not Satisfiable\r\nContent-Range: bytes */9\r\nContent-Length: 0', ''),
    '/digest': raw(
      '200 OK\r\nContent-MD5: abc\r\nDigest: sha-256=x\r\nRepr-Digest: y\r\nAccept-Ranges: bytes\r\nContent-Length: 2',
      'ok',
    ),
    '/head': raw('200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1234', ''),
    '/head-chunked': raw('200 OK\r\nTransfer-Encoding: chunked', ''),
    '/304': raw('304 Not Modified\r\nETag: "e"\r\nContent-Length: 1234', ''),
    '/204': raw('204 No Content\r\nETag: "e"', ''),
    '/205': raw('205 Reset Content\r\nContent-Length: 0', ''),
  }
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream((socket, head) => {
      const [, path = ''] = /^\w+ (\S+) /.exec(head) ?? []
      socket.write(answers[path] ?? 'HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n')
    })
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url)]) }
  })

  test.for(['/gzip', '/gzip-chunked'])('a coded body (%s) passes byte for byte, under its name', async path => {
    const answer = await hop.sidecar.call(`/u${path}`, { headers: { 'Accept-Encoding': 'gzip;q=1.0, *;q=0' } })
    expect(answer.body.equals(gzip)).toBe(true)
    expect(answer.headers['content-encoding']).toBe(path === '/gzip' ? 'gzip' : 'gzip, br')
    expect(hop.upstream.transcripts.join('')).toContain('Accept-Encoding: gzip;q=1.0, *;q=0\r\n')
  })

  test('a part passes as such, and so does the question for it', async () => {
    const headers = { Range: 'bytes=2-5', 'If-Range': '"e"', 'If-None-Match': 'W/"x"' }
    const answer = await hop.sidecar.call('/u/range', { headers })
    expect([answer.status, answer.text, answer.headers['content-range'], answer.headers['etag']]).toEqual([
      206,
      'cdef',
      'bytes 2-5/9',
      '"e"',
    ])
    const asked = hop.upstream.transcripts.join('')
    for (const [name, value] of Object.entries(headers)) expect(asked).toContain(`${name}: ${value}\r\n`)
  })

  test('several parts pass with their boundaries, and 416 with what there is', async () => {
    const several = await hop.sidecar.call('/u/ranges', { headers: { Range: 'bytes=0-1,8-8' } })
    expect([several.status, several.text, several.headers['content-type']]).toEqual([
      206,
      parts,
      'multipart/byteranges; boundary=x',
    ])
    const none = await hop.sidecar.call('/u/no-range', { headers: { Range: 'bytes=99-' } })
    expect([none.status, none.headers['content-range']]).toEqual([416, 'bytes */9'])
  })

  test('digests and Accept-Ranges are left alone', async () => {
    const { headers } = await hop.sidecar.call('/u/digest')
    expect([headers['content-md5'], headers['digest'], headers['repr-digest'], headers['accept-ranges']]).toEqual([
      'abc',
      'sha-256=x',
      'y',
      'bytes',
    ])
  })

  test.for([
    ['HEAD', '/head', 200, '1234'],
    ['HEAD', '/head-chunked', 200, undefined],
    ['GET', '/304', 304, '1234'],
    ['HEAD', '/304', 304, '1234'],
    ['GET', '/204', 204, undefined],
    ['DELETE', '/204', 204, undefined],
    ['POST', '/205', 205, '0'],
  ] as const)(
    '%s %s is complete at its head: %i, Content-Length %s, and the connection serves again',
    async ([method, path, status, length]) => {
      const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
      const request = `${method} /u${path} HTTP/1.1\r\nHost: a\r\n${method === 'POST' ? 'Content-Length: 0\r\n' : ''}\r\n`
      client.send(request)
      await client.untilHas('\r\n\r\n')
      client.send('GET /u/range HTTP/1.1\r\nHost: a\r\n\r\n')
      await client.untilHas('\r\n\r\ncdef')
      const head = client.received.slice(0, client.received.indexOf('\r\n\r\n'))
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(/content-length: (\d+)/i.exec(head)?.[1]).toBe(length)
      // Nothing stands between the two heads.
      expect(client.received.slice(head.length + 4)).toMatch(/^HTTP\/1\.1 206 /)
      client.destroy()
    },
  )
})
