import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { call } from '../e2e/harness/client.js'
import { upstreamDoc } from '../e2e/harness/policies.js'
import { type Stage, test } from '../e2e/harness/stage.js'
import { nowMs, sleep, within } from '../e2e/harness/time.js'

/** Two seconds of quiet, and time to close. */
const EXIT_MS = 15_000

function bare(stage: Stage, port: number, bytes: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write(bytes)
  stage.later(async () => socket.destroy())
  return socket
}

describe.concurrent('F127 an idle connection or a WebSocket keeps the process alive until SIGKILL (node#2642)', () => {
  test('connections idle in every way leave the exit at 0, two seconds after the last call', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)])
    const agent = new Agent({ keepAlive: true })
    stage.later(async () => agent.destroy())
    await sidecar.call('/u/x', { agent })
    await call(sidecar.healthPort, '/metrics', { agent })
    await call(sidecar.adminPort, '/status', { agent })
    for (const port of [sidecar.port, sidecar.healthPort, sidecar.adminPort]) {
      bare(stage, port, '')
      bare(stage, port, 'GET /u/x HTT')
      bare(stage, port, 'GET /u/x HTTP/1.1\r\nHost: a\r\n')
    }
    await sleep(100)
    const signalledMs = nowMs()
    sidecar.signal('SIGTERM')
    const exit = await sidecar.exitWithin(EXIT_MS)
    expect([exit.code, exit.signal]).toEqual([0, null])
    expect(exit.atMs - signalledMs).toBeGreaterThan(1_800)
    expect(sidecar.errorLines()).toEqual([])
  })

  test('a WebSocket lives on until the drain period is over, then both sides see it close and the exit is 0', async ({
    stage,
  }) => {
    const upstream = await stage.upstream()
    const server = new WebSocketServer({ server: upstream.server })
    server.on('connection', peer => {
      peer.on('error', () => {})
      peer.on('message', data => peer.send(data))
    })
    stage.later(async () => server.close())
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], ['--drain-period', '3s'])
    const socket = new WebSocket(`ws://127.0.0.1:${sidecar.port}/u/x`).on('error', () => {})
    await once(socket, 'open')
    const [peer] = server.clients
    const closes = [once(socket, 'close'), once(peer as WebSocket, 'close')]
    const signalledMs = nowMs()
    sidecar.signal('SIGTERM')
    // Longer than the quiet: a session counts as a call.
    await sleep(2_500)
    const reply = once(socket, 'message')
    socket.send('still here')
    expect(String((await within('the echo', reply, 2_000))[0])).toBe('still here')
    await within('both sides close', Promise.all(closes), 4_000)
    const exit = await sidecar.exitWithin(EXIT_MS)
    expect([exit.code, exit.signal]).toEqual([0, null])
    expect(exit.atMs - signalledMs).toBeGreaterThan(2_900)
  })

  test('a session that the app ends lets the process go two seconds later, long before the period is over', async ({
    stage,
  }) => {
    const upstream = await stage.upstream()
    const server = new WebSocketServer({ server: upstream.server })
    stage.later(async () => server.close())
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)])
    const socket = new WebSocket(`ws://127.0.0.1:${sidecar.port}/u/x`).on('error', () => {})
    await once(socket, 'open')
    sidecar.signal('SIGTERM')
    await sleep(300)
    socket.close()
    expect((await sidecar.exitWithin(EXIT_MS)).code).toBe(0)
  })

  test('an upload that stands still and a download that is not read end with the period', async ({ stage }) => {
    const endless = Buffer.alloc(65_536)
    const upstream = (await stage.upstream()).runs(({ res }) => {
      const more = (): void => {
        while (!res.destroyed && res.write(endless));
      }
      res.on('drain', more)
      more()
      return undefined
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], ['--drain-period', '500ms'])
    const upload = bare(stage, sidecar.port, 'PUT /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nhalf')
    bare(stage, sidecar.port, 'GET /u/x HTTP/1.1\r\nHost: a\r\n\r\n').pause()
    await sleep(200)
    let told = ''
    upload.on('data', chunk => {
      told += chunk
    })
    sidecar.signal('SIGTERM')
    expect((await sidecar.exitWithin(EXIT_MS)).code).toBe(0)
    expect(told).toMatch(/^HTTP\/1\.1 503 [\s\S]*"reason":"draining"/)
  })
})
