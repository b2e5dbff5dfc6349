import { describe, expect, test } from 'vitest'
import { lastCall } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'
import { unframed } from './support/unframed.js'

const METHODS = [
  'DELETE',
  'OPTIONS',
  'GET',
  'HEAD',
  'TRACE',
  'POST',
  'PUT',
  'PATCH',
  'PROPFIND',
  'PURGE',
  'SEARCH',
  'QUERY',
]
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: evil\r\n\r\n'

describe('F014 DELETE and OPTIONS with chunks are framed as empty, their body becomes the next request (CVE-2026-29057)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream(socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    return {
      upstream,
      sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, { breaker: { mode: 'disabled' } })]),
    }
  })

  /** What reaches the upstream of a request that closes its connection. */
  async function sent(request: string): Promise<string> {
    const arrived = hop.upstream.mark()
    await lastCall(hop.sidecar.port, request)
    return arrived()
  }

  test.for(METHODS)('%s with a chunked body that looks like a request', async method => {
    const body = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`
    const text = await sent(
      `${method} /u/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    )
    expect(unframed(text)).toMatchObject({ body: SMUGGLED, rest: '', framing: [expect.any(String)] })
  })

  test.for(METHODS)('%s with a body of known length that looks like a request', async method => {
    const text = await sent(
      `${method} /u/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    )
    const framing = [`content-length: ${SMUGGLED.length}`]
    expect(unframed(text)).toMatchObject({ body: SMUGGLED, rest: '', framing })
  })

  test.for(['DELETE', 'OPTIONS', 'GET'])('%s without a body has none', async method => {
    const text = await sent(`${method} /u/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    expect(text).not.toMatch(/transfer-encoding/i)
    expect(text.endsWith('\r\n\r\n')).toBe(true)
  })

  test('two of them on one connection of the app stay two', async () => {
    const one = `DELETE /u/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`
    const text = await sent(`${one}${one.replace('Host: a', 'Host: a\r\nConnection: close')}`)
    const first = unframed(text)
    const second = unframed(first.rest)
    expect([first.body, second.body, second.rest]).toEqual(['abc', 'abc', ''])
    expect(second.head).toMatch(/^DELETE \/x /)
  })
})
