import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { join } from '../../src/proxy/join.js'
import { until } from '../e2e/harness/time.js'

const PIECE = Buffer.alloc(8_192)
const endings: (() => void)[] = []

afterEach(() => {
  for (const end of endings.splice(0)) end()
})

/** The two ends of one connection. */
async function pair(): Promise<{ ours: Socket; peer: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const ours = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const [peer] = (await once(server, 'connection')) as [Socket]
  peer.on('error', () => {})
  endings.push(() => {
    for (const socket of [ours, peer]) socket.destroy()
    server.close()
  })
  return { ours, peer }
}

async function joined() {
  const [app, upstream] = [await pair(), await pair()]
  const tunnel = { app, upstream, closed: 0 }
  join(app.ours, upstream.ours, () => {
    tunnel.closed++
  })
  return tunnel
}

/** Until a piece cannot leave, for its peer reads nothing; the rest of the tunnel does not wait for so little. */
async function fill(socket: Socket): Promise<void> {
  while (socket.writableLength === 0) {
    socket.write(PIECE)
    await nextTurn()
  }
}

const errorOf = (socket: Socket): Promise<{ code: string }> => new Promise(resolve => socket.once('error', resolve))

describe('a tunnel', () => {
  it('passes the end of one side on after its last byte, and closes when both have ended', async () => {
    const tunnel = await joined()
    const { app, upstream } = tunnel
    let seen = ''
    app.peer.setEncoding('latin1').on('data', text => {
      seen += text
    })
    upstream.peer.end('all of it')
    await once(app.peer, 'end')
    expect(seen).toBe('all of it')
    app.peer.end('and back')
    upstream.peer.resume()
    await until('both are closed', () => tunnel.closed === 1)
    expect([app.ours.closed, upstream.ours.closed]).toEqual([true, true])
  })

  it('of which one side ends and breaks in one moment, with bytes on their way to it, closes both', async () => {
    const tunnel = await joined()
    const { app, upstream } = tunnel
    app.peer.resume()
    await fill(upstream.ours)
    upstream.peer.end(() => upstream.peer.resetAndDestroy())
    await until('both are closed', () => tunnel.closed === 1)
    await until('the app hears of it', () => app.peer.readableEnded || app.peer.destroyed)
    expect([app.ours.closed, upstream.ours.closed]).toEqual([true, true])
  })

  it('that breaks after the end of one side, while the other still has to take its bytes, closes both by a reset', async () => {
    const tunnel = await joined()
    const { app, upstream } = tunnel
    await fill(app.ours)
    upstream.peer.end()
    await until('the end has come through', () => app.ours.writableEnded)
    upstream.peer.resetAndDestroy()
    const reset = errorOf(app.peer)
    // Nobody reads from the upstream any more: only a write finds out that it is gone.
    app.peer.write('is anybody')
    await until('the upstream is found to be gone', () => {
      app.peer.write(' there?')
      return tunnel.closed === 1
    })
    app.peer.resume()
    expect((await reset).code).toMatch(/ECONNRESET|EPIPE/)
  })
})
