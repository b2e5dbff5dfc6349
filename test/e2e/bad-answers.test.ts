import { describe, expect, test } from 'vitest'
import { RawClient } from '../proxy/support/raw-client.js'
import { onOneStage } from './harness/one-stage.js'
import { upstreamDoc } from './harness/policies.js'

const EVIL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'
/** Bytes of the answer to the next request that is not `/after`. */
let answer = ''

const hop = onOneStage(async stage => {
  const upstream = await stage.rawUpstream((socket, head) =>
    socket.write(
      head.startsWith('GET /after ') ? 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nafter' : answer,
      'latin1',
    ),
  )
  const spec = {
    match: { pathPrefix: '/' },
    timeouts: { attempt: '300ms', idle: '200ms' },
    breaker: { mode: 'disabled' },
    retry: { maxAttempts: 3 },
  }
  return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
})

/** What the app gets for one request, and whether its connection and the upstream serve the next one. */
async function ask(bytes: string): Promise<{ first: string; next: string }> {
  answer = bytes
  const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
  client.send('GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const received = await client.untilClosed()
  const end = received.search(/HTTP\/1\.1 200 OK\r\nContent-Length: 5\r\n/)
  return end === -1 ? { first: received, next: '' } : { first: received.slice(0, end), next: received.slice(end) }
}

const ok = (fields: string, body = 'ok', status = '200 OK'): string => `HTTP/1.1 ${status}\r\n${fields}\r\n${body}`
const withLength = (fields: string): string => ok(`${fields}\r\nContent-Length: 2\r\n`)
const CHUNKS = '2\r\nok\r\n0\r\n\r\n'

describe('an answer that two readers may read in two ways', () => {
  const cases = {
    'a length and chunks': ok('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', CHUNKS),
    'chunks and a length': ok('Transfer-Encoding: chunked\r\nContent-Length: 2\r\n', CHUNKS),
    'two lengths': ok('Content-Length: 2\r\nContent-Length: 3\r\n', 'okk'),
    'two equal lengths': ok('Content-Length: 2\r\ncontent-length: 2\r\n'),
    'a list of lengths': ok('Content-Length: 2, 2\r\n'),
    'a folded field': withLength('X: a\r\n b'),
    'bare line feeds': 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
    'one bare line feed': withLength('X: a\nY: b'),
    'a carriage return in a value': withLength('X: a\rSet-Cookie: evil=1'),
    'a carriage return in its reason': ok('Content-Length: 2\r\n', 'ok', '200 O\rK'),
    'more fields than fit': withLength(`X: ${'x'.repeat(20_000)}`),
    'an unasked 100': ok('', '', '100 Continue') + withLength('X: a'),
    'an unasked 101': ok('Connection: upgrade\r\nUpgrade: websocket\r\n', '', '101 Switching Protocols') + EVIL,
    'a 101 that names nothing': ok('', '', '101 Switching Protocols') + EVIL,
    'another protocol': `ICY 200 OK\r\nContent-Length: 2\r\n\r\nok`,
    'an unknown version': `HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok`,
    ...each('the length', ['+2', '-2', '2 2', '2x', '0x2', '', '99999999999999999999'], value =>
      ok(`Content-Length: ${value}\r\n`),
    ),
    ...each(
      'the coding',
      ['gzip, chunked', 'chunked, chunked', 'identity', 'xchunked', '"chunked"', '', 'chunked;q=1', ',chunked'],
      value => ok(`Transfer-Encoding: ${value}\r\n`, CHUNKS),
    ),
    'two codings': ok('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', CHUNKS),
    'a coding next to a length': ok('Transfer-Encoding: identity\r\nContent-Length: 2\r\n'),
    'a blank before a colon': ok('Transfer-Encoding : chunked\r\nContent-Length: 2\r\n'),
    ...each('the line', ['X: a\0b', 'X: a\x01b', 'X: a\x7fb', 'X\x01: a', 'X\xc3: a', ': a', 'no-colon'], withLength),
    ...each('the status', ['99 x', '000 x', '0200 x', '1000 x', '2x0 x', '-1 x', ''], status =>
      ok('Content-Length: 2\r\n', 'ok', status),
    ),
  }

  test.for(Object.entries(cases))('with %s is a bad response, asked for once', async ([, bytes]) => {
    const before = hop.upstream.transcripts.join('').split('GET /x ').length
    const { first, next } = await ask(bytes)
    expect(first).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n[^]*"reason":"bad-response"/)
    expect(first).not.toMatch(/evil|okk|set-cookie/i)
    expect(next).toMatch(/\r\n\r\nafter$/)
    expect(hop.upstream.transcripts.join('').split('GET /x ').length - before).toBe(1)
  })
})

function each(what: string, values: readonly string[], build: (value: string) => string): Record<string, string> {
  return Object.fromEntries(values.map(value => [`${what} ${JSON.stringify(value)}`, build(value)]))
}

describe('a chunked answer', () => {
  test.for([
    '0x2\r\nok\r\n0\r\n\r\n',
    '-1\r\nok\r\n0\r\n\r\n',
    'fffffffffffffffff\r\nok\r\n0\r\n\r\n',
    '2 \r\nok\r\n0\r\n\r\n',
    '2\r\nok0\r\n\r\n',
    '2\r\nokk\r\n0\r\n\r\n',
    '2\nok\n0\n\n',
    '2;a\nok\r\n0\r\n\r\n',
    '2\r\nok\r\n0\r\nContent-Length: 7\r\n\r\n',
    '2\r\nok\r\n0\r\nX: a\0b\r\n\r\n',
    `2\r\nok\r\n0\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  ])('of %j is broken off, never ended', async body => {
    const { first, next } = await ask(ok('Transfer-Encoding: chunked\r\n', body))
    expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(first).not.toMatch(/0\r\n\r\n$/)
    expect(next).toBe('')
  })

  test.for(['2;a="b;c"\r\nok\r\n0;x\r\n\r\n', `2;a=${'b'.repeat(17_000)}\r\nok\r\n0\r\n\r\n`])(
    'of %j is passed on without its extensions',
    async body => {
      const { first, next } = await ask(ok('Transfer-Encoding: chunked\r\n', body))
      expect(first).toMatch(/\r\n\r\n2\r\nok\r\n0\r\n\r\n$/)
      expect(first).not.toContain(';')
      expect(next).toMatch(/after$/)
    },
  )

  test('keeps trailers but those that frame, route or are ours', async () => {
    const trailers = 'X-Sum: 7\r\nHost: evil\r\nTrailer: x\r\nConnection: x\r\nforbear-outcome: parked\r\n'
    const { first } = await ask(
      ok('Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n', `2\r\nok\r\n0\r\n${trailers}\r\n`),
    )
    expect(first).toMatch(/\r\n0\r\nX-Sum: 7\r\n\r\n$/)
  })
})

describe('bytes behind an answer', () => {
  test.for([
    ['of known length', ok('Content-Length: 2\r\n') + EVIL],
    ['in chunks', ok('Transfer-Encoding: chunked\r\n', CHUNKS) + EVIL],
    ['without a body', ok('', '', '204 No Content') + EVIL],
    ['without a body that tells a length', ok('Content-Length: 9\r\n', EVIL, '304 Not Modified')],
    ['without a body that tells chunks', ok('Transfer-Encoding: chunked\r\n', CHUNKS, '204 No Content')],
  ] as const)('%s answer nobody', async ([, bytes]) => {
    const { first, next } = await ask(bytes)
    expect(first + next).not.toContain('evil')
    expect(next).toMatch(/\r\n\r\nafter$/)
  })
})

describe('fields of an answer', () => {
  test('of ours are not the word of the upstream, but for the one that layers heed', async () => {
    const spoofed = 'Forbear-Outcome: parked\r\nforbear-attempts: 9\r\nFORBEAR-X: 1\r\nforbear-exhausted: reset\r\n'
    const { first } = await ask(ok(`${spoofed}Content-Length: 2\r\n`))
    expect(first.match(/^forbear-.*$/gim)).toEqual([
      'forbear-exhausted: reset',
      'forbear-attempts: 1',
      'forbear-outcome: delivered',
    ])
  })

  test('that Connection names are dropped, but none that a hop needs', async () => {
    const named = 'Connection: content-length, transfer-encoding, forbear-exhausted, via, x-hop, set-cookie'
    const { first, next } = await ask(
      ok(`${named}\r\nVia: 1.1 b\r\nX-Hop: 1\r\nSet-Cookie: a\r\nForbear-Exhausted: reset\r\nContent-Length: 2\r\n`),
    )
    expect(first).toMatch(/\r\nContent-Length: 2\r\n/)
    expect(first).toMatch(/\r\nForbear-Exhausted: reset\r\n/)
    expect(first).toMatch(/\r\nVia: 1\.1 b\r\n/)
    expect(first).not.toMatch(/x-hop|set-cookie/i)
    expect(next).toMatch(/after$/)
  })

  test('of an interim answer obey the same rules', async () => {
    const hints =
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\nConnection: x-hop\r\nX-Hop: 1\r\nforbear-x: 1\r\n\r\n'
    const { first } = await ask(hints + ok('Content-Length: 2\r\n'))
    expect(first).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\nVia: [^\r]+\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  })
})
