import { describe, expect, test } from 'vitest'
import { unframed } from '../field/support/unframed.js'
import { RawClient } from '../proxy/support/raw-client.js'
import { onOneStage } from './harness/one-stage.js'
import { upstreamDoc } from './harness/policies.js'

const hop = onOneStage(async stage => {
  const upstream = await stage.rawUpstream((socket, head) => {
    if (/ HTTP\/1\.1\r\n/.test(head)) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  })
  const spec = { match: { pathPrefix: '/' }, breaker: { mode: 'disabled' }, retry: { maxAttempts: 1 } }
  return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
})

/** Sends the bytes and waits until the sidecar closes. `sent` = what reached the upstream meanwhile. */
async function refusedAs(bytes: string, ends = false): Promise<{ received: string; sent: string }> {
  const sent = hop.upstream.mark()
  const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
  client.send(bytes)
  if (ends) client.socket.end()
  const received = await client.untilClosed()
  // Once this is answered, whatever was sent before it has arrived.
  await hop.sidecar.call('/marker')
  return { received, sent: sent().replace(/GET \/marker [^]*?\r\n\r\n/, '') }
}

const request = (fields: string, rest = '', line = 'POST /x HTTP/1.1'): string =>
  `${line}\r\nHost: a\r\n${fields}\r\n${rest}`
const NEXT = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
const EMPTY_CHUNKS = '0\r\n\r\n'

describe('a head that two readers may read in two ways', () => {
  test.for(
    Object.entries({
      'a length and chunks': request('Content-Length: 6\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\nG'),
      'chunks and a length': request('Transfer-Encoding: chunked\r\nContent-Length: 6\r\n', '0\r\n\r\nG'),
      'two lengths': request('Content-Length: 1\r\nContent-Length: 2\r\n', 'ab'),
      'two equal lengths': request('Content-Length: 2\r\ncontent-LENGTH: 2\r\n', 'ab'),
      'a list of lengths': request('Content-Length: 2, 3\r\n', 'abc'),
      'a list of equal lengths': request('Content-Length: 2,2\r\n', 'ab'),
      ...lengths('+2', '-2', '2 3', '2x', '0x2', '1e1', '2;', '', '9007199254740993', '18446744073709551618', '２'),
      ...codings('gzip, chunked', 'chunked, gzip', 'chunked, chunked', 'xchunked', 'chunkedx', '"chunked"', 'chunked,'),
      ...codings(',chunked', 'chunked;q=1', 'identity', '', '\x0bchunked', 'chun\xe2\x84\xaaed', 'chunked\x0c', 'cow'),
      'two codings apart': request('Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n', EMPTY_CHUNKS),
      'the same coding twice': request('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', EMPTY_CHUNKS),
      'a blank before the colon': request('Transfer-Encoding : chunked\r\n', EMPTY_CHUNKS),
      'a tab before the colon': request('Transfer-Encoding\t: chunked\r\n', EMPTY_CHUNKS),
      'a folded coding': request('Transfer-Encoding:\r\n chunked\r\n', EMPTY_CHUNKS),
      'chunks in HTTP/1.0': request('Transfer-Encoding: chunked\r\n', EMPTY_CHUNKS, 'POST /x HTTP/1.0'),
      'two Hosts': 'GET /x HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n',
      'two Hosts, the first empty': 'GET /x HTTP/1.1\r\nHost:\r\nhost: b\r\n\r\n',
      'two Hosts in HTTP/1.0': 'GET /x HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n',
      'no Host': 'GET /x HTTP/1.1\r\n\r\n',
      ...hosts('a b', 'a/b', 'u:p@a', '\xe4', 'a:1:2', '[::1', 'a\tb', 'a?b', 'a#b'),
      'a folded field': request('X: a\r\n b\r\n'),
      'a field folded by a tab': request('X: a\r\n\tb\r\n'),
      'a blank before the first field': 'GET /x HTTP/1.1\r\n X: a\r\nHost: a\r\n\r\n',
      'bare line feeds': 'GET /x HTTP/1.1\nHost: a\n\n',
      'one bare line feed': 'GET /x HTTP/1.1\r\nHost: a\nX: b\r\n\r\n',
      'a bare line feed at the end': 'GET /x HTTP/1.1\r\nHost: a\r\n\n',
      'bare carriage returns': 'GET /x HTTP/1.1\rHost: a\r\r',
      'a carriage return in a value': request('X: a\rb\r\n'),
      'two carriage returns': 'GET /x HTTP/1.1\r\nHost: a\r\r\n\r\n',
      ...fields(
        'X: a\0b',
        'X: a\x01b',
        'X: a\x7fb',
        'X\0: a',
        'X\x01: a',
        'X Y: a',
        ': a',
        'no-colon',
        'X\xe4: a',
        'X(): a',
      ),
      ...targets('/a b', '/a\tb', '/a#b', '/\xc3\xa4', '/a\0b', '/a\x7fb', '/a\x01b', '\\a', '?a', 'a/b', '*'),
      ...targets(
        'http://u:p@a/x',
        'http:///x',
        'http://a b/x',
        'https://a/x',
        'ftp://a/x',
        'http://a\\@b/x',
        'http:/a/x',
      ),
      ...versions('HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 ', 'HTTP/1.', 'HTTP/11', ''),
      'a lower-case method': 'get /x HTTP/1.1\r\nHost: a\r\n\r\n',
      'a method of nobody': 'G\0T /x HTTP/1.1\r\nHost: a\r\n\r\n',
      'a handshake with a body': request(
        `Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: ${NEXT.length}\r\n`,
        NEXT,
        'GET /x HTTP/1.1',
      ),
      'a handshake with chunks': request(
        'Connection: upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n',
        EMPTY_CHUNKS,
        'GET /x HTTP/1.1',
      ),
      'an ignored offer with a foreign coding': request(
        'Connection: upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: gzip\r\n',
      ),
    }),
  )('with %s is refused, what follows is not read, and nothing is sent on', async ([, bytes]) => {
    const { received, sent } = await refusedAs(bytes + NEXT)
    expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(received.match(/HTTP\/1\.1 \d/g)?.length).toBe(1)
    expect(received).toMatch(/\r\nConnection: close\r\n/i)
    expect(sent).toBe('')
  })

  test.for([
    ['field', request(`X: ${'x'.repeat(17_000)}\r\n`)],
    ['target', `GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['name', request(`${'x'.repeat(17_000)}: x\r\n`)],
    ['list of fields', request('Abcd: efgh\r\n'.repeat(4_000))],
  ] as const)('with a %s that is too long is 431', async ([, bytes]) => {
    const { received, sent } = await refusedAs(bytes)
    expect(received).toMatch(/^HTTP\/1\.1 431 /)
    expect(sent).toBe('')
  })
})

function lengths(...values: string[]): Record<string, string> {
  return named('the length', values, value =>
    request(`Content-Length: ${Buffer.from(value).toString('latin1')}\r\n`, 'ab'),
  )
}

function codings(...values: string[]): Record<string, string> {
  return named('the coding', values, value => request(`Transfer-Encoding: ${value}\r\n`, EMPTY_CHUNKS))
}

function hosts(...values: string[]): Record<string, string> {
  return named('the Host', values, value => `GET /x HTTP/1.1\r\nHost: ${value}\r\n\r\n`)
}

function fields(...lines: string[]): Record<string, string> {
  return named('the line', lines, line => request(`${line}\r\n`))
}

function targets(...values: string[]): Record<string, string> {
  return named('the target', values, value => `GET ${value} HTTP/1.1\r\nHost: a\r\n\r\n`)
}

function versions(...values: string[]): Record<string, string> {
  return named('the version', values, value => `GET /x ${value}\r\nHost: a\r\n\r\n`)
}

function named(what: string, values: readonly string[], build: (value: string) => string): Record<string, string> {
  return Object.fromEntries(values.map(value => [`${what} ${JSON.stringify(value)}`, build(value)]))
}

describe('a chunked body', () => {
  const chunked = (body: string): string => request('Transfer-Encoding: chunked\r\n', body)

  test.for([
    '0x2\r\nab\r\n0\r\n\r\n',
    '-1\r\nab\r\n0\r\n\r\n',
    '+2\r\nab\r\n0\r\n\r\n',
    'fffffffffffffffff\r\nab\r\n0\r\n\r\n',
    '10000000000000002\r\nab\r\n0\r\n\r\n',
    '2 \r\nab\r\n0\r\n\r\n',
    ' 2\r\nab\r\n0\r\n\r\n',
    '2 ;a\r\nab\r\n0\r\n\r\n',
    '\r\nab\r\n0\r\n\r\n',
    '2\nab\n0\n\n',
    '2;a\nab\r\n0\r\n\r\n',
    `2;a=${'b'.repeat(17_000)}\r\nab\r\n0\r\n\r\n`,
    '2\r\nab0\r\n\r\n',
    '2\r\nabc\r\n0\r\n\r\n',
    '2\r\nab\n0\r\n\r\n',
    '2\r\nabXX0\r\n\r\n',
    '2\r\nab\r\n0\r\n\n',
    '2\r\nab\r\n0\r\nContent-Length: 5\r\n\r\n',
    '2\r\nab\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n',
    '2\r\nab\r\n0\r\nX: a\0b\r\n\r\n',
    '2\r\nab\r\n0\r\n folded\r\n\r\n',
  ])('of %j is refused, and what left of it is not ended', async body => {
    const { received, sent } = await refusedAs(chunked(body) + NEXT)
    expect(received).toMatch(/^HTTP\/1\.1 400 /)
    expect(received.match(/HTTP\/1\.1 \d/g)?.length).toBe(1)
    expect(sent).not.toContain('smuggled')
    expect(sent).not.toContain('\r\n0\r\n')
  })

  test.for([
    '2;a="b;c"\r\nab\r\n0;z\r\n\r\n',
    '00000002\r\nab\r\n000\r\n\r\n',
    '1\r\na\r\n1\r\nb\r\n0\r\n\r\n',
    '2\r\nab\r\n0\r\nX-Sum: 1\r\nHost: evil\r\n\r\n',
  ])('of %j is passed on without extensions and trailers', async body => {
    const { received, sent } = await refusedAs(chunked(body).replace('Host: a', 'Host: a\r\nConnection: close'))
    expect(received).toMatch(/^HTTP\/1\.1 200 /)
    const message = unframed(sent)
    expect([message.body, message.rest, message.framing.length]).toEqual(['ab', '', 1])
    expect(sent).not.toMatch(/;|x-sum|evil/i)
  })
})

describe('bytes behind a request', () => {
  test.for([
    ['that closes', request('Connection: close\r\n', NEXT, 'GET /x HTTP/1.1'), ['200']],
    ['of HTTP/1.0', `GET /x HTTP/1.0\r\n\r\n${NEXT}`, ['200']],
    ['that are none', `${request('Content-Length: 2\r\n', 'ab')}XYZ\r\n\r\n`, ['200', '400']],
    [
      'that are refused',
      `${NEXT.replace('smuggled', 'x')}${request('Content-Length: 2x\r\n', 'ab')}${NEXT}`,
      ['200', '400'],
    ],
  ] as const)('%s stay here', async ([, bytes, statuses]) => {
    const { received, sent } = await refusedAs(bytes)
    expect(received.match(/(?<=HTTP\/1\.1 )\d{3}/g)).toEqual(statuses)
    expect(sent.match(/(?:GET|POST) \/\w+ /g)?.length).toBe(1)
    expect(sent).not.toMatch(/smuggled|XYZ/)
  })

  test('of a body shorter than it says are waited for, not made up', async () => {
    const { received, sent } = await refusedAs(request('Content-Length: 50\r\n', NEXT), true)
    expect(received).not.toContain('HTTP/1.1 200')
    if (sent !== '') expect(unframed(sent).framing).toEqual(['content-length: 50'])
  })
})

describe('a request that can be read in one way only', () => {
  test.for([
    ['a length with zeros', request('Content-Length: 002\r\nConnection: close\r\n', 'ab'), 'POST /x', 'ab'],
    ['blanks around a length', request('Content-Length: \t2 \r\nConnection: close\r\n', 'ab'), 'POST /x', 'ab'],
    [
      'a coding in capitals',
      request('Transfer-Encoding: CHUNKED\r\nConnection: close\r\n', '2\r\nab\r\n0\r\n\r\n'),
      'POST /x',
      'ab',
    ],
    ['empty lines before it', `\r\n\r\n${request('Connection: close\r\n', '', 'GET /x HTTP/1.1')}`, 'GET /x', ''],
    ['another Host than its URL', 'GET http://b/y HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 'GET /y', ''],
    ['two slashes', request('Connection: close\r\n', '', 'GET //evil/../x HTTP/1.1'), 'GET //evil/../x', ''],
  ] as const)('with %s is sent on once, well-formed', async ([, bytes, line, body]) => {
    const { received, sent } = await refusedAs(bytes)
    expect(received).toMatch(/^HTTP\/1\.1 200 /)
    const message = unframed(sent)
    expect(message.head.startsWith(`${line} HTTP/1.1\r\n`)).toBe(true)
    expect(message.head.match(/^host: .*$/gim)).toEqual([expect.stringContaining(new URL(hop.upstream.url).host)])
    expect([message.body, message.rest]).toEqual([body, ''])
  })
})
