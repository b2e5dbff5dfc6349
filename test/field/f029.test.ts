import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'

const TARGETS = [
  '/a//b/../c?x=%zz&y=%2F',
  '/a/./b/%2e%2e/c',
  '/%2F%2f%41%7e',
  '/a;b=1/c;d',
  '/?',
  '/a??b=?c',
  '/a?x=1&x=2&&=',
  '/"<>\\^`{|}[]',
  "/!$&'()*+,;=:@-._~",
  '/%C3%A4/%e4',
  '/a%00b%0d%0ab',
  '//evil.example/x',
  '/..',
  '/http://other/x',
  `/${'long/'.repeat(1_000)}`,
]

describe('F029 the path is rewritten on the way: // folded, .. resolved, signed URLs broken (RFC 9110 §7.7)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream(socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
    const spec = { breaker: { mode: 'disabled' } }
    const based = { ...spec, match: { pathPrefix: '/based', hosts: ['based.internal'] } }
    return {
      upstream,
      sidecar: await stage.sidecar([
        upstreamDoc('u', upstream.url, spec),
        upstreamDoc('based', `${upstream.url}/base%2F/v1`, based),
      ]),
    }
  })

  /** Request lines at the upstream. */
  async function linesFor(bytes: string): Promise<string[]> {
    const sent = hop.upstream.mark()
    await lastCall(hop.sidecar.port, `${bytes}Connection: close\r\n\r\n`)
    return sent().match(/^[A-Z]+ \S+ HTTP\/1\.1$/gm) ?? []
  }

  test.for(TARGETS)('%s arrives as it is', async target => {
    expect(await linesFor(`GET /u${target} HTTP/1.1\r\nHost: a\r\n`)).toEqual([`GET ${target} HTTP/1.1`])
  })

  test.for(TARGETS)('so does it in absolute form, and below a base path: %s', async target => {
    expect(await linesFor(`GET http://based.internal${target} HTTP/1.1\r\nHost: a\r\n`)).toEqual([
      `GET /base%2F/v1${target} HTTP/1.1`,
    ])
  })

  test('only the prefix that found the upstream is taken off, byte for byte', async () => {
    expect(await linesFor('GET /u HTTP/1.1\r\nHost: a\r\n')).toEqual(['GET / HTTP/1.1'])
    expect(await linesFor('GET /u?a=/u/ HTTP/1.1\r\nHost: a\r\n')).toEqual(['GET /?a=/u/ HTTP/1.1'])
    expect(await linesFor('GET /u/u HTTP/1.1\r\nHost: a\r\n')).toEqual(['GET /u HTTP/1.1'])
  })

  test.for(['/%75/x', '/U/x', '//u/x', '/./u/x', '/x/../u/x', '/ux', '/u%2Fx'])('%s is no call to u', async target => {
    expect(await linesFor(`GET ${target} HTTP/1.1\r\nHost: a\r\n`)).toEqual([])
  })

  test('OPTIONS * concerns us, not an upstream, and is refused', async () => {
    expect(await lastCall(hop.sidecar.port, 'OPTIONS * HTTP/1.1\r\nHost: based.internal\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 /,
    )
    expect(await linesFor('OPTIONS /u/* HTTP/1.1\r\nHost: a\r\n')).toEqual(['OPTIONS /* HTTP/1.1'])
  })
})
