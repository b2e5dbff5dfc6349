import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RawClient } from './support/raw-client.js'
import { echo, eventually, TestServer } from './support/test-server.js'

const server = new TestServer(echo, {}, () => {
  throw new Error('no tunnels here')
})
beforeAll(() => server.start())
afterAll(() => server.stop())

/** Pieces from which requests are made, so that noise gets past the first line. */
const piece = fc.oneof(
  fc.constantFrom(
    'GET',
    'POST',
    'HEAD',
    'CONNECT',
    'OPTIONS',
    ' ',
    ' /',
    ' *',
    ' http://a/b',
    ' HTTP/1.1\r\n',
    ' HTTP/1.0\r\n',
  ),
  fc.constantFrom(
    'Host: a\r\n',
    'Host: \r\n',
    'Connection: close, host\r\n',
    'Connection: Upgrade\r\n',
    'Upgrade: h2c\r\n',
  ),
  fc.constantFrom(
    'Upgrade: websocket\r\n',
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Expect: 100-continue\r\n',
  ),
  fc.constantFrom(
    '\r\n',
    '\r\n\r\n',
    '3\r\nabc\r\n',
    '0\r\n\r\n',
    'Trailer: x\r\n',
    ':',
    '\0',
    '\x16\x03\x01',
    'PRI * HTTP/2.0\r\n\r\n',
  ),
  fc.constantFrom('GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'),
  fc.uint8Array({ maxLength: 20 }).map(bytes => Buffer.from(bytes).toString('latin1')),
)

describe('whatever bytes arrive', () => {
  it('the process lives, every answer is well-formed, and others are served', async () => {
    const crashes: unknown[] = []
    const crashed = (error: unknown) => crashes.push(error)
    process.on('uncaughtException', crashed).on('unhandledRejection', crashed).on('warning', crashed)
    const well = await server.client()
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 12 }),
        fc.constantFrom('end', 'reset', 'destroy'),
        async (pieces, how) => {
          const client = await RawClient.open(server.address)
          for (const text of pieces) client.send(text)
          if (how === 'end') {
            client.socket.end()
            await client.untilClosed()
            if (client.received !== '') expect(client.received).toMatch(/^HTTP\/1\.1 (?:1|200|4)\d*/)
          } else if (how === 'reset') client.socket.resetAndDestroy()
          else client.destroy()
        },
      ),
      { numRuns: 400 },
    )
    well.send('GET /well HTTP/1.1\r\nHost: a\r\n\r\n')
    await well.untilHas('/well')
    await eventually(() => server.server.connections === 1)
    await eventually(() => server.exchanges.every(e => e.gone + e.answered === 1))
    process.off('uncaughtException', crashed).off('unhandledRejection', crashed).off('warning', crashed)
    expect(crashes).toEqual([])
  })
})
