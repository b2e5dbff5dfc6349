import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, expect } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { rawCall } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { sleep, within } from './harness/time.js'

interface Echo {
  readonly sidecar: Sidecar
  readonly upgrades: IncomingMessage[]
  readonly server: WebSocketServer
}

async function echo(stage: Stage): Promise<Echo> {
  const upstream = await stage.upstream()
  const server = new WebSocketServer({ server: upstream.server })
  const upgrades: IncomingMessage[] = []
  server.on('connection', (socket, request) => {
    upgrades.push(request)
    socket.on('error', () => {})
    socket.on('message', (data, binary) => socket.send(data, { binary }))
  })
  stage.later(async () => server.close())
  const spec = { retry: quickRetry(), budget: ample }
  return { server, upgrades, sidecar: await stage.sidecar([upstreamDoc('chat', upstream.url, spec)]) }
}

async function dial(
  stage: Stage,
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, ['chat.v1'], { headers })
  stage.later(async () => socket.terminate())
  socket.on('error', () => {})
  await within('the WebSocket opens', once(socket, 'open'), 5_000)
  return socket
}

async function ask(socket: WebSocket, message: string | Buffer): Promise<string> {
  const reply = once(socket, 'message')
  socket.send(message)
  const [data] = (await within('the echo', reply, 5_000)) as [Buffer]
  return data.toString()
}

describe('a WebSocket', () => {
  test('echoes through the sidecar, with path, query and fields as for any request', async ({ stage }) => {
    const { sidecar, upgrades } = await echo(stage)
    const socket = await dial(stage, sidecar.port, '/chat/rooms//7?since=%2F1', { 'X-User': 'ann', 'X-Hop': '1' })
    expect(socket.protocol).toBe('chat.v1')
    expect(await ask(socket, 'hello')).toBe('hello')
    expect(await ask(socket, Buffer.alloc(100_000, 'x'))).toBe('x'.repeat(100_000))
    expect(upgrades.map(one => [one.url, one.headers['x-user']])).toEqual([['/rooms//7?since=%2F1', 'ann']])
  })

  test('that stays quiet for longer than the total clock stays open', async ({ stage }) => {
    const upstream = await stage.upstream()
    const server = new WebSocketServer({ server: upstream.server })
    server.on('connection', socket => socket.on('message', data => socket.send(data)))
    stage.later(async () => server.close())
    const sidecar = await stage.sidecar([upstreamDoc('chat', upstream.url, { timeouts: { total: '500ms' } })])
    const socket = await dial(stage, sidecar.port, '/chat/x')
    await sleep(1_200)
    expect(await ask(socket, 'still here')).toBe('still here')
  })

  test('that the app closes is closed at the upstream, with its code, and the other way round', async ({ stage }) => {
    const { sidecar, server } = await echo(stage)
    const first = await dial(stage, sidecar.port, '/chat/x')
    const [peer] = server.clients
    if (!peer) throw new Error('no WebSocket at the upstream')
    const closedThere = once(peer, 'close')
    first.close(4_001, 'done')
    expect((await within('the close at the upstream', closedThere, 3_000))[0]).toBe(4_001)

    const second = await dial(stage, sidecar.port, '/chat/x')
    const closedHere = once(second, 'close')
    for (const client of server.clients) client.close(4_002, 'bye')
    expect((await within('the close at the app', closedHere, 3_000))[0]).toBe(4_002)
  })

  test('that is reset takes no other with it', async ({ stage }) => {
    const { sidecar, server } = await echo(stage)
    const sockets = await Promise.all(Array.from({ length: 8 }, () => dial(stage, sidecar.port, '/chat/x')))
    const [victim] = server.clients
    victim?.terminate()
    sockets[7]?.terminate()
    await sleep(200)
    const open = sockets.filter(socket => socket.readyState === WebSocket.OPEN)
    expect(open.length).toBeGreaterThanOrEqual(6)
    for (const socket of open) expect(await ask(socket, 'alive')).toBe('alive')
    expect((await sidecar.health('/livez')) === 200 && sidecar.exit === null).toBe(true)
  })
})

const handshake = (path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: app\r\nConnection: Upgrade${more ? ', X-Secret' : ''}\r\nUpgrade: websocket\r\n${more}` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

describe('an upgrade', () => {
  test('that the upstream refuses gives the app that answer, and the sidecar lives on', async ({ stage }) => {
    const upstream = await stage.rawUpstream(socket => {
      socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nX-Why: closed\r\n\r\nno')
      setTimeout(() => socket.resetAndDestroy(), 30)
    })
    const sidecar = await stage.sidecar([upstreamDoc('chat', upstream.url, { retry: quickRetry(), budget: ample })])
    const reply = await rawCall(sidecar.port, handshake('/chat/x'))
    expect(reply).toMatch(/^HTTP\/1\.1 403 /)
    expect(reply).toMatch(/x-why: closed/i)
    expect(reply).toMatch(/\r\n\r\nno$/)
    expect(upstream.transcripts.length).toBe(1)
    expect(await sidecar.health('/livez')).toBe(200)
  })

  test('passes no field that Connection nominates, but the upgrade itself', async ({ stage }) => {
    const upstream = await stage.rawUpstream(socket => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw bytes')
      setTimeout(() => socket.end(), 50)
    })
    const sidecar = await stage.sidecar([upstreamDoc('chat', upstream.url)])
    const reply = await rawCall(sidecar.port, handshake('/chat/x', 'X-Secret: 1\r\n'))
    expect(reply).toMatch(/^HTTP\/1\.1 101 /)
    expect(reply).toMatch(/raw bytes$/)
    expect(upstream.transcripts[0]).toMatch(/^GET \/x HTTP\/1\.1\r\n/)
    expect(upstream.transcripts[0]).toMatch(/upgrade: websocket/i)
    expect(upstream.transcripts[0]).not.toMatch(/x-secret/i)
  })

  test('to an upstream that is not there is 502', async ({ stage }) => {
    const sidecar = await stage.sidecar([upstreamDoc('chat', 'http://127.0.0.1:1', { retry: { maxAttempts: 1 } })])
    expect(await rawCall(sidecar.port, handshake('/chat/x'))).toMatch(/^HTTP\/1\.1 502 /)
    expect(await sidecar.health('/livez')).toBe(200)
  })

  test('to h2c is served as an ordinary request', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const sidecar = await stage.sidecar([upstreamDoc('chat', upstream.url)])
    const headers = {
      Connection: 'Upgrade, HTTP2-Settings',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
    }
    const answer = await sidecar.call('/chat/x', { headers })
    expect([answer.status, answer.text]).toEqual([200, 'fine'])
    expect(upstream.nth(1).headers.upgrade).toBeUndefined()
    expect(upstream.nth(1).headers['http2-settings']).toBeUndefined()
  })
})
