import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { TlsSettings } from '../../src/core/snapshot.js'
import { ownAnswer } from '../../src/pipeline/answers.js'
import type { RequestAddress, TunnelBytes } from '../../src/pipeline/ports.js'
import type { UpgradeDecision, UpgradeOutcome, UpgradeRequest } from '../../src/pipeline/upgrade-ports.js'
import { bodyOf, fieldOf } from './support/raw-client.js'
import { selfSigned } from './support/self-signed.js'
import { echo, eventually, TestServer } from './support/test-server.js'
import { upstreamAt } from './support/upstream.js'

const stops: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

interface Session {
  readonly request: UpgradeRequest
  readonly address: RequestAddress
  readonly outcomes: UpgradeOutcome[]
  closed: number
  tunnelled: TunnelBytes | null
}

interface Overrides {
  connectTimeoutMs?: number
  handshakeTimeoutMs?: number
  hostname?: string
  hostHeader?: 'target' | 'preserve'
  basePath?: string
  protocol?: 'http:' | 'https:'
  tls?: TlsSettings
}

/** A proxy in front of `port` that grants every handshake. */
async function proxyTo(port: number, overrides: Overrides = {}) {
  const sessions: Session[] = []
  const upstream = upstreamAt(port, overrides)
  const server = await new TestServer(echo, {}, (request, address): UpgradeDecision => {
    const session: Session = { request, address, outcomes: [], closed: 0, tunnelled: null }
    sessions.push(session)
    return {
      proceed: true,
      upstream,
      path: request.path,
      set: ['forbear-attempt', '1'],
      extra: ['forbear-attempts', '1', 'forbear-outcome', 'delivered'],
      connectTimeoutMs: overrides.connectTimeoutMs ?? Number.POSITIVE_INFINITY,
      handshakeTimeoutMs: overrides.handshakeTimeoutMs ?? Number.POSITIVE_INFINITY,
      onOutcome: outcome => session.outcomes.push(outcome),
      onClosed: tunnelled => {
        session.closed += 1
        session.tunnelled = tunnelled
      },
    }
  }).start()
  stops.push(() => server.stop())
  return { server, sessions, url: `ws://${server.address}` }
}

async function listen<S extends TcpServer>(server: S): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A WebSocket server that echoes. */
async function webSocketEcho(http: Server | TlsServer = createServer()) {
  const wss = new WebSocketServer({ server: http })
  const requests: IncomingMessage[] = []
  wss.on('connection', (socket, request) => {
    requests.push(request)
    socket.on('error', () => {})
    socket.on('message', (data, binary) => socket.send(data, { binary }))
  })
  const port = await listen(http)
  stops.push(() => {
    for (const socket of wss.clients) socket.terminate()
  })
  return { port, wss, requests }
}

/** A TCP server that shows the bytes it gets and says what the test tells it to. */
async function rawUpstream(onHead: (socket: Socket, head: string) => void) {
  const heads: string[] = []
  const sockets: Socket[] = []
  const server = createTcpServer(socket => {
    sockets.push(socket)
    let head = ''
    socket.on('error', () => {})
    socket.on('data', chunk => {
      const whole = head.includes('\r\n\r\n')
      head += chunk.toString('latin1')
      if (whole || !head.includes('\r\n\r\n')) return
      heads.push(head)
      onHead(socket, head)
    })
  })
  const port = await listen(server)
  stops.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  return { port, heads, sockets }
}

async function openSession(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url)
  socket.on('error', () => {})
  stops.push(() => socket.terminate())
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return socket
}

function ask(socket: WebSocket, text: string): Promise<string> {
  const answer = new Promise<string>(resolve => socket.once('message', data => resolve(String(data))))
  socket.send(text)
  return answer
}

const handshake = (...extra: string[]) =>
  [
    'GET /a//b/../c?x=%zz HTTP/1.1',
    'Host: app.example',
    'Connection: Upgrade',
    'Upgrade: websocket',
    ...extra,
    '',
    '',
  ].join('\r\n')
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'

describe('a WebSocket session', () => {
  it('runs through the tunnel both ways, large messages included, and closes cleanly', async () => {
    const upstream = await webSocketEcho()
    const { sessions, url, server } = await proxyTo(upstream.port)
    const client = await openSession(`${url}/chat?room=1`)
    expect(await ask(client, 'hello')).toBe('hello')
    const large = 'x'.repeat(1_000_000)
    expect(await ask(client, large)).toBe(large)
    expect(upstream.requests[0]?.url).toBe('/chat?room=1')
    expect(server.server.upgraded).toBe(1)
    const closed = new Promise(resolve => client.once('close', code => resolve(code)))
    client.close(1000)
    expect(await closed).toBe(1000)
    await eventually(() => sessions[0]?.closed === 1)
    expect(sessions[0]?.outcomes).toEqual([{ kind: 'response', status: 101 }])
    expect([server.notices, server.server.upgraded, server.server.connections]).toEqual([[], 0, 0])
  })

  it('whose app leaves while it is dialled calls the dial off', async () => {
    const upstream = await webSocketEcho()
    const { sessions, server } = await proxyTo(upstream.port, { hostname: 'never.example' })
    const client = await server.client()
    client.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await eventually(() => server.dials.length === 1)
    client.destroy()
    await eventually(() => sessions[0]?.closed === 1)
    server.answerNames()
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(sessions[0]?.outcomes).toEqual([{ kind: 'aborted', code: 'APP_ABORTED' }])
    expect([sessions[0]?.tunnelled, upstream.requests]).toEqual([{ toUpstream: 0, toApp: 0 }, []])
  })

  it.each(['app', 'upstream'])('reset by the %s ends alone: nine of ten go on, one notice', async side => {
    const upstream = await webSocketEcho()
    const { sessions, url, server } = await proxyTo(upstream.port)
    const clients: WebSocket[] = []
    const upstreamSides: WebSocket[] = []
    upstream.wss.on('connection', socket => upstreamSides.push(socket))
    for (let i = 0; i < 10; i += 1) clients.push(await openSession(url))
    const victim = (side === 'app' ? clients[3] : upstreamSides[3]) as unknown as { _socket: Socket }
    victim._socket.resetAndDestroy()
    await eventually(() => sessions[3]?.closed === 1 && clients[3]?.readyState === WebSocket.CLOSED)
    await eventually(() => upstreamSides[3]?.readyState === WebSocket.CLOSED)
    const survivors = clients.filter((_client, i) => i !== 3)
    expect(await Promise.all(survivors.map((client, i) => ask(client, `still ${i}`)))).toEqual(
      survivors.map((_client, i) => `still ${i}`),
    )
    expect(sessions.map(s => s.closed)).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    expect(server.notices).toEqual(['tunnel broken'])
  })

  it('reaches an upstream over TLS that the policy trusts, and no other', async () => {
    const { cert, key, certFile } = selfSigned()
    const upstream = await webSocketEcho(createTlsServer({ cert, key }))
    const trusted = await proxyTo(upstream.port, { protocol: 'https:', tls: { caFile: certFile } })
    const client = await openSession(trusted.url)
    expect(await ask(client, 'hello')).toBe('hello')
    const strange = await proxyTo(upstream.port, { protocol: 'https:' })
    await expect(openSession(strange.url)).rejects.toThrow('502')
    expect(strange.sessions[0]?.outcomes).toEqual([{ kind: 'connect', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }])
    const unreadable = await proxyTo(upstream.port, { protocol: 'https:', tls: { caFile: '/missing' } })
    await expect(openSession(unreadable.url)).rejects.toThrow('502')
    expect(unreadable.sessions[0]?.outcomes.map(o => o.kind)).toEqual(['connect'])
  })

  it('finds its upstream by the names that requests find theirs by', async () => {
    const upstream = await webSocketEcho()
    const known = await proxyTo(upstream.port, { hostname: 'known.example' })
    expect(await ask(await openSession(known.url), 'hello')).toBe('hello')
    const unknown = await proxyTo(upstream.port, { hostname: 'unknown.example' })
    await expect(openSession(unknown.url)).rejects.toThrow('502')
    expect(unknown.sessions[0]?.outcomes).toEqual([{ kind: 'connect', code: 'ENOTFOUND' }])
  })

  it('is ended by a drain', async () => {
    const upstream = await webSocketEcho()
    const { sessions, url, server } = await proxyTo(upstream.port)
    const client = await openSession(url)
    const closed = new Promise(resolve => client.once('close', resolve))
    const stopped = server.server.close()
    expect(await ask(client, 'still here')).toBe('still here')
    server.server.destroyUpgraded()
    await Promise.all([closed, stopped])
    expect([sessions[0]?.closed, server.server.connections]).toEqual([1, 0])
  })
})

describe('a handshake', () => {
  it('reaches the upstream byte for byte, without hop-by-hop and nominated fields', async () => {
    const upstream = await rawUpstream(socket =>
      socket.write(`${SWITCHED}X-Case: a\r\nx-dup: 1\r\nX-Dup: 2\r\n\r\nearly`),
    )
    const { server, sessions } = await proxyTo(upstream.port, { basePath: '/base' })
    const client = await server.client()
    client.send(
      handshake(
        'Sec-WebSocket-Key: a',
        'X-Secret: 1',
        'connection: X-Secret',
        'Keep-Alive: 3',
        'forbear-upstream: x',
        'Cookie: a=\xe9',
      ),
    )
    const received = await client.untilHas('early')
    expect(upstream.heads[0]?.split('\r\n')).toEqual([
      ...[
        'GET /base/a//b/../c?x=%zz HTTP/1.1',
        expect.stringMatching(/^Host: 127\.0\.0\.1:\d+$/),
        'Connection: Upgrade',
      ],
      ...[
        'Upgrade: websocket',
        'Sec-WebSocket-Key: a',
        'Cookie: a=\xe9',
        'Via: 1.1 forbear',
        'forbear-attempt: 1',
        '',
        '',
      ],
    ])
    expect(received.split('\r\n')).toEqual([
      ...['HTTP/1.1 101 Switching Protocols', 'X-Case: a', 'x-dup: 1', 'x-dup: 2', 'Via: 1.1 forbear'],
      ...[
        'Connection: Upgrade',
        'Upgrade: websocket',
        'forbear-attempts: 1',
        'forbear-outcome: delivered',
        '',
        'early',
      ],
    ])
    expect(sessions[0]?.address).toEqual({
      authority: null,
      host: 'app.example',
      forbearUpstream: 'x',
      upstreamName: null,
    })
  })

  it('keeps the Host of the app when the upstream says so', async () => {
    const upstream = await rawUpstream(socket => socket.write(`${SWITCHED}\r\n`))
    const { server } = await proxyTo(upstream.port, { hostHeader: 'preserve' })
    const client = await server.client()
    client.send(handshake())
    await client.untilHas('101')
    expect(upstream.heads[0]).toContain('\r\nHost: app.example\r\n')
  })

  it('passes bytes on that the app sent too early', async () => {
    const upstream = await rawUpstream(socket => {
      setTimeout(() => socket.write(`${SWITCHED}\r\n`), 20)
    })
    const { server } = await proxyTo(upstream.port)
    const client = await server.client()
    client.send(`${handshake()}one`)
    await eventually(() => upstream.heads.length === 1)
    client.send('two')
    await client.untilHas('101')
    let seen = ''
    upstream.sockets[0]?.on('data', chunk => {
      seen += chunk
    })
    client.send('three')
    await eventually(() => seen.endsWith('three'))
    expect(seen).toBe('onetwothree')
  })

  it.each([
    ['declared', 'Content-Length: 5\r\n\r\nsorry', 'sorry'],
    ['chunked', 'Transfer-Encoding: chunked\r\n\r\n5\r\nsorry\r\n0\r\n\r\n', '5\r\nsorry\r\n0\r\n\r\n'],
    ['empty', 'Content-Length: 0\r\n\r\n', ''],
  ])('that the upstream refuses is passed on with its body (%s) and the socket closes', async (_name, rest, body) => {
    const upstream = await rawUpstream(socket =>
      socket.write(`HTTP/1.1 403 No\r\nX-Why: x\r\nKeep-Alive: 5\r\n${rest}`),
    )
    const { server, sessions } = await proxyTo(upstream.port)
    const client = await server.client()
    client.send(handshake())
    const received = await client.untilClosed()
    expect(received).toMatch(/^HTTP\/1\.1 403 No\r\nX-Why: x\r\n/)
    expect([fieldOf(received, 'keep-alive'), fieldOf(received, 'connection')]).toEqual([undefined, 'close'])
    expect(bodyOf(received)).toBe(body)
    expect(sessions[0]?.outcomes).toEqual([{ kind: 'response', status: 403 }])
    await eventually(() => sessions[0]?.closed === 1)
  })

  it.each(['000', '099'])('answered with the status %s, which is none, gets 502', async code => {
    const upstream = await rawUpstream(socket => socket.write(`HTTP/1.1 ${code} No\r\nContent-Length: 0\r\n\r\n`))
    const { server, sessions } = await proxyTo(upstream.port)
    const client = await server.client()
    client.send(handshake())
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 502 /)
    expect(sessions[0]?.outcomes).toEqual([{ kind: 'bad-response', code: 'INVALID_STATUS' }])
  })

  it.each([
    ['another protocol', 'Connection: Upgrade\r\nUpgrade: foo\r\n'],
    ['two protocols', 'Connection: Upgrade\r\nUpgrade: websocket, foo\r\n'],
    ['no protocol', 'Connection: Upgrade\r\n'],
    ['no word of an upgrade', ''],
  ])('switched to %s gets 502, and nothing of the upstream', async (_name, fields) => {
    const upstream = await rawUpstream(socket => socket.write(`HTTP/1.1 101 Switching\r\n${fields}\r\nxx`))
    const { server, sessions } = await proxyTo(upstream.port)
    const client = await server.client()
    client.send(handshake())
    const received = await client.untilClosed()
    expect(received).toMatch(/^HTTP\/1\.1 502 /)
    expect(JSON.parse(bodyOf(received))).toMatchObject({ reason: 'bad-response', upstream: 'ws' })
    expect(sessions[0]?.outcomes).toEqual([{ kind: 'bad-response', code: 'INVALID_UPGRADE' }])
    await eventually(() => upstream.sockets[0]?.destroyed === true && sessions[0]?.closed === 1)
  })

  it('refused with a large body passes all of it, and with a broken one destroys the connection', async () => {
    const size = 3_000_000
    const upstream = await rawUpstream((socket, head) => {
      socket.write(`HTTP/1.1 500 No\r\nContent-Length: ${size}\r\n\r\n`)
      if (head.includes('/broken')) socket.write('part', () => socket.resetAndDestroy())
      else socket.write('x'.repeat(size))
    })
    const { server } = await proxyTo(upstream.port)
    const [whole, broken] = [await server.client(), await server.client()]
    whole.send(handshake())
    expect(bodyOf(await whole.untilClosed()).length).toBe(size)
    broken.send(handshake().replace('GET /a', 'GET /broken'))
    expect(bodyOf(await broken.untilClosed()).length).toBeLessThan(5)
  })

  it('refused and then reset leaves the process and others alone', async () => {
    const upstream = await rawUpstream(socket => {
      socket.write('HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n', () => socket.resetAndDestroy())
    })
    const { server } = await proxyTo(upstream.port)
    const client = await server.client()
    client.send(handshake())
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 502 Bad\r\n/)
  })

  it.each([
    ['connect', 502, async () => ({ port: await closedPort() })],
    ['reset', 502, () => rawUpstream(socket => socket.resetAndDestroy())],
    ['bad-response', 502, () => rawUpstream(socket => socket.write('nonsense\r\n\r\n'))],
  ] as const)('that fails by %s gets %i', async (reason, status, upstream) => {
    const { server, sessions } = await proxyTo((await upstream()).port)
    const client = await server.client()
    client.send(handshake())
    const received = await client.untilClosed()
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(JSON.parse(bodyOf(received))).toMatchObject({ reason, status, upstream: 'ws', attempts: 1 })
    expect(sessions[0]?.outcomes.map(o => o.kind)).toEqual([reason])
    expect(server.notices).toEqual(['upgrade failed'])
    await eventually(() => sessions[0]?.closed === 1)
  })

  it('without an answer in time gets 504 and the upstream connection is closed', async () => {
    const upstream = await rawUpstream(() => {})
    const { server, sessions } = await proxyTo(upstream.port, { handshakeTimeoutMs: 15 })
    const client = await server.client()
    client.send(handshake())
    expect(JSON.parse(bodyOf(await client.untilClosed()))).toMatchObject({ reason: 'attempt-timeout', status: 504 })
    expect(sessions[0]?.outcomes.map(o => o.kind)).toEqual(['timeout'])
    await eventually(() => upstream.sockets[0]?.destroyed === true)
  })

  it('whose connection is not made in time gets 502', async () => {
    const silent = await rawUpstream(() => {})
    const { server, sessions } = await proxyTo(silent.port, { protocol: 'https:', connectTimeoutMs: 15 })
    const client = await server.client()
    client.send(handshake())
    expect(JSON.parse(bodyOf(await client.untilClosed()))).toMatchObject({ reason: 'connect', status: 502 })
    expect(sessions[0]?.outcomes).toEqual([{ kind: 'connect', code: 'CONNECT_TIMEOUT' }])
  })

  it('whose app leaves meanwhile is given up', async () => {
    const upstream = await rawUpstream(() => {})
    const { server, sessions } = await proxyTo(upstream.port)
    const client = await server.client()
    client.send(handshake())
    await eventually(() => upstream.heads.length === 1)
    client.socket.end()
    await eventually(() => sessions[0]?.closed === 1 && upstream.sockets[0]?.destroyed === true)
    expect(sessions[0]?.outcomes.map(o => o.kind)).toEqual(['aborted'])
  })

  it('with a body is refused', async () => {
    const { server, sessions } = await proxyTo(1)
    const client = await server.client()
    client.send(`${handshake('Content-Length: 3')}abc`)
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 400 /)
    expect(sessions.length).toBe(0)
  })

  it('that the pipeline refuses gets its answer', async () => {
    const answer = ownAnswer('breaker-open', { retryAfterMs: 2000 })
    const server = await new TestServer(echo, {}, () => ({ proceed: false, answer })).start()
    stops.push(() => server.stop())
    const client = await server.client()
    client.send(handshake())
    const received = await client.untilClosed()
    expect([fieldOf(received, 'retry-after'), fieldOf(received, 'forbear-outcome')]).toEqual(['2', 'breaker-open'])
  })

  it('behind a request that is still being answered waits for it', async () => {
    const upstream = await rawUpstream(socket => socket.write(`${SWITCHED}\r\n`))
    const { server } = await proxyTo(upstream.port)
    const client = await server.client()
    client.send(`PUT /first HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi${handshake()}`)
    const received = await client.untilHas('101')
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Path: \/first[\s\S]*\r\nhi\r\n0\r\n\r\nHTTP\/1\.1 101 /)
  })
})

async function closedPort(): Promise<number> {
  const server = createTcpServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}
