import { afterEach, describe, expect, it } from 'vitest'
import type { AttemptFailure } from '../../src/pipeline/ports.js'
import { call, RawUpstream, snapshotOf, until } from './support/call.js'
import { bodyOf } from './support/fake-app.js'
import { clearStage, OK, transportTo } from './support/stage.js'

afterEach(clearStage)

/** Answers each request with the number of its connection. */
function numbered(): Promise<RawUpstream> {
  return RawUpstream.start((socket, n) => {
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${String(n).length}\r\n\r\n${n}`))
  })
}

describe('connections', () => {
  it('are used in turn', async () => {
    const { transport, upstream } = transportTo(await numbered())
    await Promise.all([1, 2, 3].map(() => call(transport, upstream).over))
    const used: string[] = []
    for (let n = 0; n < 6; n++) {
      const one = call(transport, upstream)
      await one.over
      used.push(one.app.text)
    }
    expect(new Set(used.slice(0, 3)).size).toBe(3)
    expect(used.slice(3)).toEqual(used.slice(0, 3))
  })

  it('that failed a request are not used for it again', async () => {
    const { transport, upstream } = transportTo(await numbered())
    const first = call(transport, upstream)
    await first.over
    const connection = first.attempt.connection as object
    const second = call(transport, upstream, { avoid: [connection] })
    await second.over
    expect(second.app.text).toBe('2')
    expect(second.attempt.connection).not.toBe(connection)
    expect(transport.connections('up')).toBe(2)
  })

  it('are not reused when a fresh one is asked for', async () => {
    const { transport, upstream } = transportTo(await numbered())
    await call(transport, upstream).over
    const second = call(transport, upstream, { fresh: true })
    await second.over
    expect(second.app.text).toBe('2')
  })

  it('make room at the limit: the idle one that is to be avoided goes', async () => {
    const raw = await numbered()
    const { transport, upstream } = transportTo(raw, { maxConnections: 1 })
    const first = call(transport, upstream)
    await first.over
    await call(transport, upstream, { avoid: [first.attempt.connection as object] }).over
    await until(() => raw.sockets.size === 1)
    expect(transport.connections('up')).toBe(1)
  })

  it('make room at the limit: one that reads a discarded answer goes', async () => {
    const raw = await RawUpstream.start((socket, n) => {
      socket.on('data', () => socket.write(n === 1 ? 'HTTP/1.1 503 No\r\nContent-Length: 99\r\n\r\nx' : OK))
    })
    const { transport, upstream } = transportTo(raw, { maxConnections: 1 })
    const first = call(transport, upstream, { onHead: attempt => attempt.hold(1_000) })
    await first.over
    await call(transport, upstream).over
    await until(() => raw.sockets.size === 1)
    expect(first.attempt.held()).toBeNull()
    expect(transport.connections('up')).toBe(1)
  })

  it('make room at the limit for each of several that are made at once', async () => {
    const raw = await RawUpstream.start((socket, n) => {
      socket.on('data', () => socket.write(n <= 2 ? 'HTTP/1.1 503 No\r\nContent-Length: 99\r\n\r\nx' : OK))
    })
    const { transport, upstream } = transportTo(raw, { maxConnections: 2 })
    const hold = () => call(transport, upstream, { onHead: attempt => attempt.hold(1_000) }).over
    await Promise.all([hold(), hold()])
    await Promise.all([call(transport, upstream).over, call(transport, upstream).over])
    await until(() => raw.sockets.size <= 2)
    expect(transport.connections('up')).toBe(2)
  })

  it('are closed after two failures in a row', async () => {
    const raw = await numbered()
    const { transport, upstream } = transportTo(raw)
    const outcomes = [true, false, true, true]
    for (const failed of outcomes) {
      const one = call(transport, upstream)
      await one.over
      expect(one.app.text).toBe('1')
      transport.settle(one.attempt.connection, failed)
    }
    transport.settle(null, true)
    const next = call(transport, upstream)
    await next.over
    expect(next.app.text).toBe('2')
    await until(() => raw.sockets.size === 1)
  })

  it('are replaced when they are too old', async () => {
    const raw = await numbered()
    const { transport, upstream } = transportTo(raw, { maxAgeMs: 10 })
    const first = call(transport, upstream)
    await first.over
    await new Promise(resolve => setTimeout(resolve, 15))
    const second = call(transport, upstream)
    await second.over
    expect(second.app.text).toBe('2')
    await until(() => raw.sockets.size === 1)
  })

  it('that the upstream closed while idle cost nothing, not even for a POST', async () => {
    const raw = await RawUpstream.answering(OK)
    const { transport, upstream } = transportTo(raw)
    await call(transport, upstream).over
    for (let n = 0; n < 5; n++) {
      // From a timer, so that the event loop polls before undici writes.
      await new Promise(resolve => setTimeout(resolve, 1))
      for (const socket of raw.sockets) socket.destroy()
      const one = call(transport, upstream, { method: 'POST', body: bodyOf('pay') })
      expect((await one.over).end).toBe('delivered')
      expect(one.told).toEqual(['returned', 'sent', 'head', 'delivered'])
    }
    expect(raw.accepted).toBe(6)
  })

  it('that die under a request report how long they had been idle', async () => {
    let requests = 0
    const raw = await RawUpstream.start(socket => {
      socket.on('data', () => (++requests === 2 ? socket.resetAndDestroy() : socket.write(OK)))
    })
    const { transport, upstream } = transportTo(raw)
    await call(transport, upstream).over
    await new Promise(resolve => setTimeout(resolve, 15))
    const failure = (await call(transport, upstream).over).failure as AttemptFailure
    expect(failure).toMatchObject({ kind: 'reset', permanent: false })
    expect(failure.idleBeforeMs).toBeGreaterThanOrEqual(10)
  })

  it('are not kept when the upstream says that it closes them', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok')
    const { transport, upstream } = transportTo(raw)
    for (let n = 0; n < 3; n++) expect((await call(transport, upstream).over).end).toBe('delivered')
    expect(raw.accepted).toBe(3)
    await until(() => transport.connections('up') === 0)
  })

  it('survive an attempt that is aborted before it was written', async () => {
    const raw = await numbered()
    const { transport, upstream } = transportTo(raw)
    await call(transport, upstream).over
    const second = call(transport, upstream)
    second.attempt.abort()
    const third = call(transport, upstream)
    await third.over
    await until(() => transport.connections('up') > 0)
    const fourth = call(transport, upstream)
    await fourth.over
    expect(second.told).toEqual(['returned'])
    expect(raw.accepted).toBeLessThanOrEqual(2)
    transport.reconcile(snapshotOf())
    await until(() => raw.sockets.size === 0)
  })
})
