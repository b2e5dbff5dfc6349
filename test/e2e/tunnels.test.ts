/** What is seen of tunnels that stand, and how many may. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect } from 'vitest'
import { upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

interface Hop {
  readonly sidecar: Sidecar
  readonly authority: string
  /** Opens a tunnel with these bytes behind the request, and tells the status. */
  open(kind: 'CONNECT' | 'WebSocket', early?: string): Promise<{ status: number; socket: Socket; text: () => string }>
}

/** An upstream that switches protocols when it is asked to, greets with 5 bytes, and then repeats in capitals what it hears. */
async function hop(stage: Stage, spec = {}, args: readonly string[] = []): Promise<Hop> {
  const server = createServer(socket => {
    stage.later(async () => socket.destroy())
    socket.on('error', () => {})
    socket.once('data', first => {
      const text = String(first)
      const end = text.startsWith('GET ') ? text.indexOf('\r\n\r\n') + 4 : 0
      socket.write(`${end > 0 ? SWITCHED : ''}hello${text.slice(end).toUpperCase()}`)
      socket.on('data', chunk => socket.write(String(chunk).toUpperCase()))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stage.later(async () => void server.close())
  const authority = `127.0.0.1:${(server.address() as { port: number }).port}`
  const sidecar = await stage.sidecar([upstreamDoc('chat', `http://${authority}`, spec)], args)
  const heads = {
    CONNECT: `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n`,
    WebSocket: 'GET /chat/room?key=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  }
  const open: Hop['open'] = async (kind, early = '') => {
    const socket = connect(sidecar.port, '127.0.0.1')
    stage.later(async () => socket.destroy())
    let text = ''
    socket
      .on('error', () => {})
      .on('data', chunk => {
        text += chunk
      })
    socket.write(heads[kind] + early)
    await until('an answer', () => text.includes('\r\n\r\n'))
    return { status: Number(text.slice(9, 12)), socket, text: () => text }
  }
  return { sidecar, authority, open }
}

async function tunnelsOf(sidecar: Sidecar): Promise<number[]> {
  const status = JSON.parse((await sidecar.admin('/status')).text)
  return [status.upstreams.chat.tunnels, (await sidecar.metrics()).sum('forbear_tunnels_open', { upstream: 'chat' })]
}

const ended = (sidecar: Sidecar) => sidecar.logs.filter(line => line['msg'] === 'tunnel closed')

describe('a tunnel that stands', () => {
  test.for([
    ['CONNECT', 'CONNECT', ''],
    ['WebSocket', 'GET', '/room'],
  ] as const)(
    'by %s is in /status and metrics, and its end in the log with bytes and time',
    async ([kind, method, path], { stage }) => {
      const { sidecar, authority, open } = await hop(stage)
      const { status, socket, text } = await open(kind, 'early')
      expect(status).toBe(kind === 'CONNECT' ? 200 : 101)
      await until('the greeting', () => text().endsWith('helloEARLY'))
      socket.write('x'.repeat(100_000))
      await until('the echo', () => text().endsWith('X'.repeat(100_000)))
      expect(await tunnelsOf(sidecar)).toEqual([1, 1])
      expect(ended(sidecar)).toEqual([])
      socket.end()
      const [line] = await until('the line', () => ended(sidecar).length === 1 && ended(sidecar))
      expect(line).toMatchObject({
        upstream: 'chat',
        route: null,
        method,
        path: path === '' ? authority : `/chat${path}`,
      })
      expect(line).toMatchObject({ bytesToUpstream: 100_005, bytesToApp: 100_010 })
      expect(Number(line?.['durationMs'])).toBeGreaterThan(0)
      expect(await tunnelsOf(sidecar)).toEqual([0, 0])
    },
  )

  test('keeps one more from standing beyond maxTunnels, whichever kind, and no call', async ({ stage }) => {
    const { sidecar, open } = await hop(stage, { limits: { maxInFlight: 1, maxTunnels: 2, maxWaiting: 0 } })
    const first = await open('CONNECT')
    await open('WebSocket', 'x')
    for (const kind of ['CONNECT', 'WebSocket'] as const) {
      const refused = await open(kind)
      expect(refused.status).toBe(503)
      expect(refused.text()).toMatch(/retry-after: 1\r\n/i)
      expect(refused.text()).toContain('"reason":"overloaded"')
    }
    expect(await tunnelsOf(sidecar)).toEqual([2, 2])
    first.socket.destroy()
    await until('room', async () => (await tunnelsOf(sidecar))[0] === 1)
    expect((await open('WebSocket', 'x')).status).toBe(101)
  })

  test('at the end of the drain period is told before the process ends', async ({ stage }) => {
    const { sidecar, open } = await hop(stage, {}, ['--drain-period', '100ms'])
    await open('CONNECT', 'x')
    await open('WebSocket', 'x')
    sidecar.signal('SIGTERM')
    expect((await sidecar.exitWithin(6_000)).code).toBe(0)
    await until('their lines', () => ended(sidecar).length === 2)
    expect(
      ended(sidecar)
        .map(line => line['method'])
        .sort(),
    ).toEqual(['CONNECT', 'GET'])
  })

  test('to an undeclared host is counted by itself', async ({ stage }) => {
    const { sidecar } = await hop(stage, {}, ['--unmatched', 'tunnel'])
    expect(JSON.parse((await sidecar.admin('/status')).text).unmatchedTunnels).toBe(0)
    expect((await sidecar.metrics()).text).toContain('forbear_tunnels_open{upstream="_unmatched",route=""} 0')
  })
})
