/** WebSockets between a real client and a real server, with the sidecar between them. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { onOneStage } from './harness/one-stage.js'
import { upstreamDoc } from './harness/policies.js'
import { nowMs, sleep, until, within } from './harness/time.js'

const MIB = 1_048_576

interface Session {
  readonly app: WebSocket
  readonly peer: WebSocket
  readonly asked: IncomingMessage
  readonly answered: IncomingMessage
}

describe('a WebSocket', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.upstream()
    const server = new WebSocketServer({
      server: upstream.server,
      perMessageDeflate: { threshold: 0 },
      handleProtocols: offered => (offered.has('chat.v2') ? 'chat.v2' : false),
    })
    server.on('headers', headers => headers.push('X-Session: 7', 'Set-Cookie: a=1', 'Set-Cookie: b=2'))
    server.on('connection', peer => {
      peer.on('error', () => {})
      peer.on('message', (data, binary) => peer.send(data, { binary }))
    })
    stage.later(async () => server.close())
    const timeouts = { attempt: '1s', total: '1s', idle: '300ms' }
    const sidecar = await stage.sidecar([
      upstreamDoc('chat', `${upstream.url}/base`, { timeouts, limits: { maxInFlight: 2, maxWaiting: 0 } }),
    ])
    return { server, sidecar }
  })

  async function session(path = '/chat/x', protocols: string[] = [], options = {}): Promise<Session> {
    const joined = once(hop.server, 'connection') as Promise<[WebSocket, IncomingMessage]>
    const app = new WebSocket(`ws://127.0.0.1:${hop.sidecar.port}${path}`, protocols, options).on('error', () => {})
    const answer = once(app, 'upgrade') as Promise<[IncomingMessage]>
    await within('the WebSocket opens', once(app, 'open'), 5_000)
    const [[peer, asked], [answered]] = await Promise.all([joined, answer])
    return { app, peer, asked, answered }
  }
  async function echo(app: WebSocket, message: string | Buffer): Promise<Buffer> {
    const reply = once(app, 'message')
    app.send(message)
    return (await within('the echo', reply, 5_000))[0] as Buffer
  }

  test('passes path, query, fields and subprotocol untouched, both ways', async () => {
    const path = '/chat/rooms//7;v=1/%2F/%41?since=%2F1&q=%zz&q=a+b'
    const headers = { 'X-User': 'ann', Cookie: 's=1; t=2', Origin: 'https://app.example', Authorization: 'Bearer x' }
    const { app, asked, answered } = await session(path, ['chat.v9', 'chat.v2'], { headers })
    expect(asked.url).toBe(path.replace('/chat', '/base'))
    expect(asked.headers).toMatchObject({
      'x-user': 'ann',
      cookie: 's=1; t=2',
      origin: 'https://app.example',
      authorization: 'Bearer x',
      'sec-websocket-protocol': 'chat.v9,chat.v2',
      'sec-websocket-version': '13',
      'forbear-attempt': '1',
    })
    expect(app.protocol).toBe('chat.v2')
    expect(answered.headers).toMatchObject({
      'x-session': '7',
      'forbear-outcome': 'delivered',
      'forbear-attempts': '1',
    })
    expect(answered.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    app.terminate()
  })

  test.for([
    ['with permessage-deflate', { perMessageDeflate: { threshold: 0 } }, 'permessage-deflate'],
    ['without', { perMessageDeflate: false }, ''],
  ] as const)('negotiates compression end to end: %s', async ([, options, expected]) => {
    const { app, asked } = await session('/chat/x', [], options)
    expect(app.extensions).toBe(expected)
    expect(asked.headers['sec-websocket-extensions'] ?? '').toContain(expected)
    const text = 'the same again '.repeat(10_000)
    expect(String(await echo(app, text))).toBe(text)
    app.terminate()
  })

  test('carries text, binary, nothing, and 1 MB both ways', async () => {
    const { app } = await session()
    const large = Buffer.alloc(MIB, Buffer.from([0, 255, 1, 254, 13, 10]))
    for (const message of ['hällo', Buffer.from([0, 1, 255]), '', large]) {
      expect((await echo(app, message)).equals(Buffer.from(message))).toBe(true)
    }
    app.terminate()
  })

  test('carries a message in fragments with a ping between them, and the pong back', async () => {
    const { app, peer } = await session()
    const pings: string[] = []
    peer.on('ping', data => pings.push(String(data)))
    const reply = once(app, 'message')
    const pong = once(app, 'pong')
    app.send('one ', { fin: false })
    app.ping('are you there')
    app.send('two ', { fin: false })
    app.send('three', { fin: true })
    expect(String((await within('the echo', reply, 5_000))[0])).toBe('one two three')
    expect(String((await within('the pong', pong, 5_000))[0])).toBe('are you there')
    expect(pings).toEqual(['are you there'])
    const answered = once(peer, 'pong')
    peer.ping('and you')
    expect(String((await within('the pong', answered, 5_000))[0])).toBe('and you')
    app.terminate()
  })

  test.for([
    [1000, ''],
    [1001, 'going away'],
    [1008, 'policy'],
    [1011, 'oops'],
    [3000, 'registered'],
    [4999, 'x'.repeat(123)],
  ] as const)('carries the close code %i and its reason, whoever closes', async ([code, reason]) => {
    for (const by of ['app', 'peer'] as const) {
      const both = await session()
      const closed = Promise.all([once(both.app, 'close'), once(both.peer, 'close')])
      both[by].close(code, reason)
      for (const [told, why] of await within('both close', closed, 5_000)) {
        expect([told, String(why)]).toEqual([code, reason])
      }
    }
  })

  test('closed without a code, or cut without a close, is told as that', async () => {
    const silent = await session()
    const closed = once(silent.peer, 'close')
    silent.app.close()
    expect((await within('the close', closed, 5_000))[0]).toBe(1005)
    for (const by of ['app', 'peer'] as const) {
      const both = await session()
      const other = once(by === 'app' ? both.peer : both.app, 'close')
      both[by].terminate()
      expect((await within('the other side closes', other, 5_000))[0]).toBe(1006)
    }
  })

  test('loses nothing of what was sent just before the close, either way', async () => {
    for (const by of ['app', 'peer'] as const) {
      const both = await session()
      const [from, to] = by === 'app' ? [both.app, both.peer] : [both.peer, both.app]
      to.removeAllListeners('message')
      let bytes = 0
      to.on('message', (data: Buffer) => {
        bytes += data.length
      })
      const closed = once(to, 'close')
      for (let n = 0; n < 20; n++) from.send(Buffer.alloc(100_000))
      from.close(4_000)
      expect([(await within('the close', closed, 10_000))[0], bytes]).toEqual([4_000, 2_000_000])
    }
  })

  test('stays open longer than every clock of the policy, and more of them than may be in flight', async () => {
    const sessions: Session[] = []
    for (let n = 0; n < 10; n++) sessions.push(await session())
    const openedMs = nowMs()
    await until('the clocks have passed', () => nowMs() - openedMs > 1_300)
    for (const { app } of sessions) expect(String(await echo(app, 'still here'))).toBe('still here')
    for (const { app } of sessions) app.terminate()
  })

  test('whose app does not read holds the upstream back; the sidecar keeps a few buffers', async () => {
    const { app, peer } = await session('/chat/x', [], { perMessageDeflate: false })
    app.pause()
    const before = await hop.sidecar.memoryBytes('VmRSS')
    for (let n = 0; n < 80; n++) peer.send(Buffer.alloc(MIB))
    await sleep(500)
    expect(peer.bufferedAmount).toBeGreaterThan(50 * MIB)
    expect((await hop.sidecar.memoryBytes('VmRSS')) - before).toBeLessThan(30 * MIB)
    let bytes = 0
    app.on('message', (data: Buffer) => {
      bytes += data.length
    })
    app.resume()
    await until('all of it is there', () => bytes === 80 * MIB, 20_000)
    app.terminate()
  })

  test('leaves nothing behind: no session is counted in flight, nothing is logged as an error', async () => {
    await until('no slot is held', async () => (await hop.sidecar.upstreamStatus('chat')).inFlight === 0)
    expect(hop.sidecar.errorLines()).toEqual([])
    expect(hop.sidecar.exit).toBeNull()
  })
})

describe('a handshake that is refused', () => {
  const hop = onOneStage(async stage => {
    const upstream = await stage.upstream()
    const refusals: Readonly<Record<string, string>> = {
      '/401': 'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 9\r\n\r\nwho?  401',
      '/404': 'HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nwhat? 404',
      '/502': 'HTTP/1.1 502 Bad Gateway\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhow?  502\r\n0\r\n\r\n',
      '/426': 'HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\nContent-Length: 9\r\n\r\nwhen? 426',
      '/302': 'HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 9\r\n\r\nthere 302',
    }
    let hits = 0
    upstream.server.on('upgrade', (request, socket) => {
      hits += 1
      socket.on('error', () => {})
      socket.end(refusals[request.url ?? ''] ?? 'HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy')
    })
    const breaker = { consecutiveFailures: 5, openFor: '1s', maxOpenFor: '1s' }
    const sidecar = await stage.sidecar([
      upstreamDoc('chat', upstream.url),
      upstreamDoc('ailing', upstream.url, { breaker }),
    ])
    return { sidecar, upgrades: () => hits, upstream }
  })

  /** Status, fields and body of the answer to a handshake of the `ws` client. */
  async function refusal(path: string): Promise<{ response: IncomingMessage; body: string }> {
    const socket = new WebSocket(`ws://127.0.0.1:${hop.sidecar.port}${path}`).on('error', () => {})
    const [, response] = (await within('the refusal', once(socket, 'unexpected-response'), 5_000)) as [
      unknown,
      IncomingMessage,
    ]
    return { response, body: Buffer.concat(await response.toArray()).toString() }
  }

  test.for([401, 404, 502, 426, 302])('by the upstream with %i reaches the app with fields and body', async status => {
    const { response, body } = await refusal(`/chat/${status}`)
    expect([response.statusCode, body.endsWith(String(status)), body.length]).toEqual([status, true, 9])
    expect([response.headers['forbear-outcome'], response.headers.connection]).toEqual(['delivered', 'close'])
    if (status === 401) expect(response.headers['www-authenticate']).toBe('Bearer')
    if (status === 426) expect(response.headers['sec-websocket-version']).toBe('13')
    if (status === 302) expect(response.headers.location).toBe('/there')
  })

  test('again and again opens the breaker, which then refuses by itself, with the time left, and lets one probe', async () => {
    await until('the breaker opens', async () => {
      await refusal('/ailing/x')
      return (await hop.sidecar.upstreamStatus('ailing')).breaker.state === 'open'
    })
    const before = hop.upgrades()
    const { response, body } = await refusal('/ailing/x')
    expect([response.statusCode, JSON.parse(body).reason, Number(response.headers['retry-after'])]).toEqual([
      503,
      'breaker-open',
      1,
    ])
    expect(hop.upgrades()).toBe(before)
    const server = new WebSocketServer({ noServer: true })
    hop.upstream.server.removeAllListeners('upgrade')
    hop.upstream.server.on('upgrade', (request, socket, head) =>
      server.handleUpgrade(request, socket, head, peer => peer.close()),
    )
    await until('the breaker lets a probe', async () => {
      const probe = new WebSocket(`ws://127.0.0.1:${hop.sidecar.port}/ailing/x`).on('error', () => {})
      await new Promise(resolve => probe.once('close', resolve))
      return (await hop.sidecar.upstreamStatus('ailing')).breaker.state === 'closed'
    })
  })
})
