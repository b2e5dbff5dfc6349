import { describe, expect } from 'vitest'
import { problem, rawCall } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import type { RawUpstream } from './harness/raw-upstream.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** An upstream that writes these bytes for every request head. */
async function writes(stage: Stage, bytes: string, spec = {}): Promise<{ upstream: RawUpstream; sidecar: Sidecar }> {
  const upstream = await stage.rawUpstream(socket => socket.write(bytes, 'latin1'))
  const retry = quickRetry({ maxAttempts: 3 })
  return { upstream, sidecar: await stage.sidecar([upstreamDoc('raw', upstream.url, { retry, ...spec })]) }
}

describe('an answer', () => {
  test('keeps the case, order and repetitions of its fields, each Set-Cookie apart', async ({ stage }) => {
    const fields =
      'X-B: 2\r\nSet-Cookie: a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT\r\nx-a: 1\r\nSet-Cookie: b=2\r\nSet-Cookie: c=3\r\n'
    const { sidecar } = await writes(stage, `HTTP/1.1 200 Very Well\r\n${fields}Content-Length: 2\r\n\r\nok`)
    const reply = await rawCall(sidecar.port, 'GET /raw/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(reply).toMatch(/^HTTP\/1\.1 200 /)
    const names = ['x-b', 'set-cookie', 'x-a']
    const lines = reply.split('\r\n').filter(line => names.includes(line.split(':')[0]?.toLowerCase() ?? ''))
    expect(`${lines.join('\r\n')}\r\n`).toBe(fields)
  })

  test.for([
    ['latin1', 'Zur\xfcckgewiesen \xff'],
    ['UTF-8', Buffer.from('Zurückgewiesen €').toString('latin1')],
    ['a tab', 'so\tso'],
    ['nothing', ''],
  ])('keeps the bytes of its reason phrase: %s', async ([, phrase], { stage }) => {
    const { sidecar } = await writes(stage, `HTTP/1.1 403 ${phrase}\r\nContent-Length: 2\r\n\r\nno`)
    const head = 'GET /raw/x HTTP/1.1\r\nHost: a\r\n'
    for (const more of ['Connection: close', 'Connection: Upgrade\r\nUpgrade: websocket']) {
      const reply = await rawCall(sidecar.port, `${head}${more}\r\n\r\n`)
      expect(reply.slice(0, reply.indexOf('\r\n'))).toBe(`HTTP/1.1 403 ${phrase}`)
    }
  })

  test('loses its hop-by-hop fields', async ({ stage }) => {
    const { sidecar } = await writes(
      stage,
      'HTTP/1.1 200 OK\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=77\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nok',
    )
    const { status, headers } = await sidecar.call('/raw/x')
    expect(status).toBe(200)
    expect([headers['x-hop'], headers['proxy-authenticate']]).toEqual([undefined, undefined])
    expect(headers['keep-alive']).not.toBe('timeout=77')
  })

  test('to HEAD keeps its Content-Length and waits for no body, twice on one connection', async ({ stage }) => {
    const { sidecar } = await writes(stage, 'HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n')
    const head = 'HEAD /raw/x HTTP/1.1\r\nHost: a\r\n'
    const reply = await rawCall(sidecar.port, `${head}\r\n${head}Connection: close\r\n\r\n`)
    expect(reply.match(/HTTP\/1\.1 200 /g)?.length).toBe(2)
    expect(reply.match(/content-length: 1234/gi)?.length).toBe(2)
  })

  test.for(['204 No Content', '304 Not Modified'])('of %s is complete at its head', async (line, { stage }) => {
    const { sidecar } = await writes(stage, `HTTP/1.1 ${line}\r\nETag: "a"\r\n\r\n`)
    const answer = await sidecar.call('/raw/x', { timeoutMs: 5_000 })
    expect([answer.status, answer.headers.etag, answer.body.length]).toEqual([Number(line.slice(0, 3)), '"a"', 0])
  })

  test('has its interim answers passed on before the one final answer', async ({ stage }) => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'
    const { sidecar, upstream } = await writes(stage, hints + OK)
    const answer = await sidecar.call('/raw/x')
    expect([answer.interim, answer.status, answer.text]).toEqual([[103, 102], 200, 'ok'])
    expect(answer.headers['forbear-attempts']).toBe('1')
    expect(upstream.transcripts.length).toBe(1)
  })

  test('has its trailers forwarded with their announcement', async ({ stage }) => {
    const { sidecar } = await writes(
      stage,
      'HTTP/1.1 200 OK\r\nTrailer: x-sum\r\nTransfer-Encoding: chunked\r\n\r\n2;ext=1\r\nok\r\n0\r\nx-sum: 7\r\n\r\n',
    )
    const answer = await sidecar.call('/raw/x')
    expect([answer.text, answer.trailers['x-sum']]).toEqual(['ok', '7'])
  })

  test('with a Trailer field next to a Content-Length is delivered and harms nobody', async ({ stage }) => {
    const { sidecar } = await writes(stage, 'HTTP/1.1 200 OK\r\nTrailer: x-sum\r\nContent-Length: 2\r\n\r\nok')
    const answers = await Promise.all(Array.from({ length: 5 }, () => sidecar.call('/raw/x')))
    expect(answers.map(one => one.text)).toEqual(Array(5).fill('ok'))
    expect(sidecar.exit).toBeNull()
  })

  test.for([
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['has more header bytes than anyone may send', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(200_000)}\r\n\r\n`],
    ['has a broken status line', 'HTTP/1.1 2x0 OK\r\n\r\n'],
    ['has a field with a bare line feed and NUL', 'HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nok'],
    ['has two different Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk'],
    ['is an unasked 100 and nothing more', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ] as const)(
    'that %s is 502 bad-response after one attempt, and the sidecar lives on',
    async ([, bytes], { stage }) => {
      const { sidecar, upstream } = await writes(stage, bytes, { timeouts: { attempt: '3s' } })
      const answer = await sidecar.call('/raw/x')
      expect([answer.status, problem(answer).reason]).toEqual([502, 'bad-response'])
      expect(upstream.transcripts.length).toBe(1)
      expect(await sidecar.health('/livez')).toBe(200)
      expect(sidecar.exit).toBeNull()
    },
  )
})

describe('a request', () => {
  test.for(['DELETE', 'OPTIONS', 'PUT', 'POST', 'PATCH'])(
    '%s with a chunked body is framed once',
    async (method, { stage }) => {
      const upstream = (await stage.upstream()).runs(({ received }) => ({
        body: `${received.method} ${received.body}`,
      }))
      const sidecar = await stage.sidecar([upstreamDoc('raw', upstream.url)])
      const bytes = `${method} /raw/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`
      expect(await rawCall(sidecar.port, bytes)).toMatch(new RegExp(`${method} hello`))
      expect(upstream.hits).toBe(1)
    },
  )

  test('without a body has none upstream', async ({ stage }) => {
    const { sidecar, upstream } = await writes(stage, OK)
    await sidecar.call('/raw/x')
    expect(upstream.transcripts[0]).toMatch(/^GET \/x HTTP\/1\.1\r\n/)
    expect(upstream.transcripts[0]).not.toMatch(/transfer-encoding|content-length/i)
    expect(upstream.transcripts[0]?.endsWith('\r\n\r\n')).toBe(true)
  })

  test('with Expect gets one 100 from us, and its body arrives whole', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({ body: String(received.body) }))
    const sidecar = await stage.sidecar([upstreamDoc('raw', upstream.url)])
    const bytes =
      'POST /raw/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi'
    const reply = await rawCall(sidecar.port, bytes)
    expect(reply.match(/HTTP\/1\.1 100 /g)?.length).toBe(1)
    expect(reply).toMatch(/HTTP\/1\.1 200 [\s\S]*hi/)
    expect(upstream.nth(1).headers.expect).toBeUndefined()
    expect(upstream.nth(1).headers['forbear-attempt']).toBe('1')
  })

  test.for(['Trailer: x-sum', 'Trailer: cookie '])(
    'with trailers and "%s" is sent without both',
    async (field, { stage }) => {
      const upstream = (await stage.upstream()).runs(({ received }) => ({ body: String(received.body) }))
      const sidecar = await stage.sidecar([upstreamDoc('raw', upstream.url)])
      const bytes = `POST /raw/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${field}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 3\r\n\r\n`
      expect(await rawCall(sidecar.port, bytes)).toMatch(/^HTTP\/1\.1 200 [\s\S]*hi/)
      expect(upstream.nth(1).headers.trailer).toBeUndefined()
    },
  )

  test('that is pipelined behind another is answered in order', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({
      delayMs: received.url === '/1' ? 200 : 0,
      body: `<${received.url}>`,
    }))
    const sidecar = await stage.sidecar([upstreamDoc('raw', upstream.url)])
    const get = (n: number, more = ''): string => `GET /raw/${n} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
    const reply = await rawCall(sidecar.port, get(1) + get(2) + get(3, 'Connection: close\r\n'), 2_000)
    expect(reply.match(/<\/\d>/g)).toEqual(['</1>', '</2>', '</3>'])
  })
})

test('a discarded answer that never ends holds no connection that a retry needs', async ({ stage }) => {
  const endless = `HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n${'x'.repeat(65_536)}\r\n`
  const upstream = await stage.rawUpstream((socket, head) =>
    socket.write(/forbear-attempt: 1\r/i.test(head) ? endless : OK),
  )
  const spec = {
    retry: quickRetry({ maxAttempts: 2 }),
    budget: ample,
    breaker: { mode: 'observe' },
    pool: { maxConnections: 2 },
  }
  const sidecar = await stage.sidecar([upstreamDoc('raw', upstream.url, spec)])
  const answers = await Promise.all(Array.from({ length: 20 }, () => sidecar.call('/raw/x', { timeoutMs: 15_000 })))
  expect(answers.map(answer => answer.status)).toEqual(Array(20).fill(200))
  await expect.poll(() => upstream.sockets.size).toBeLessThanOrEqual(2)
})
