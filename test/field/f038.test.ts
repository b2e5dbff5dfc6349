import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { upstreamDoc } from '../e2e/harness/policies.js'
import { sleep } from '../e2e/harness/time.js'
import { RawClient } from '../proxy/support/raw-client.js'

const ANSWERS: Readonly<Record<string, readonly [string, number]>> = {
  '/502': ['HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n', 502],
  '/404-with-body': ['HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\ngone', 404],
  '/401': ['HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic\r\nConnection: close\r\n\r\n', 401],
  '/200-chunked': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 200],
  '/426': ['HTTP/1.1 426 Upgrade\r\nUpgrade: TLS/1.0\r\nConnection: upgrade\r\nContent-Length: 0\r\n\r\n', 426],
  '/half': ['HTTP/1.1 403 No\r\nContent-Length: 50\r\n\r\nten bytes!', 403],
  '/nothing': ['', 502],
  '/garbage': ['\x16\x03\x01\r\n\r\n', 502],
  '/both-framings': ['HTTP/1.1 400 No\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 502],
  '/large-head': [
    `HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: upgrade\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    502,
  ],
  '/another-protocol': ['HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n', 502],
}

describe('F038 a refused upgrade and then a reset is an unhandled error that ends the process (node-http-proxy#1468)', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.rawUpstream(async (socket, head) => {
      const [, path = '', how] = /GET (\S+?)\?(\w+) HTTP/.exec(head) ?? []
      socket.write(ANSWERS[path]?.[0] ?? '', 'latin1')
      if (how === 'later') await sleep(20)
      socket.resetAndDestroy()
    })
    return {
      upstream,
      sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, { breaker: { mode: 'disabled' } })]),
    }
  })

  const handshake = (path: string): string =>
    `GET /u${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n`

  test.for(Object.entries(ANSWERS).flatMap(([path, [, status]]) => [['later', path, status] as const]))(
    'a reset %s after %s: the app has the answer, %i, and a closed socket',
    async ([how, path, status]) => {
      const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
      client.send(handshake(`${path}?${how}`))
      expect(await client.untilClosed()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(client.received.match(/HTTP\/1\.1 \d/g)?.length).toBe(1)
    },
  )

  test.for(Object.keys(ANSWERS))('a reset right behind %s closes the app’s socket, too', async path => {
    const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
    client.send(handshake(`${path}?now`))
    await client.untilClosed()
  })

  test('an app that resets as soon as it has asked harms nobody', async () => {
    for (let n = 0; n < 20; n++) {
      const socket = connect(hop.sidecar.port, '127.0.0.1').on('error', () => {})
      socket.write(handshake('/404-with-body?later'), () => socket.resetAndDestroy())
    }
    await expect.poll(async () => (await hop.sidecar.upstreamStatus('u')).inFlight).toBe(0)
  })

  test('the process has lived through all of it', async () => {
    expect(hop.sidecar.exit).toBeNull()
    expect(hop.sidecar.errorLines()).toEqual([])
    expect(await hop.sidecar.health('/livez')).toBe(200)
  })
})
