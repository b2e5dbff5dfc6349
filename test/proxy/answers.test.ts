import { afterEach, describe, expect, it } from 'vitest'
import { call, RawUpstream, until } from './support/call.js'
import { FakeApp } from './support/fake-app.js'
import { clearStage, transportTo } from './support/stage.js'
import { systemClock } from './support/system-clock.js'

afterEach(clearStage)

describe('a delivered body', () => {
  it('that breaks off destroys the app connection and is told as cut', async () => {
    const heads = ['Content-Length: 100', 'Transfer-Encoding: chunked']
    for (const head of heads) {
      const raw = await RawUpstream.start(socket => {
        socket.on('data', () => socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n5\r\nhello\r\n`))
      })
      const { transport, upstream } = transportTo(raw)
      const one = call(transport, upstream)
      expect((await one.over).end).toBe('cut')
      expect(one.app.destroyed).toBe(true)
      expect(one.app.trailers).toBeNull()
      expect(one.told).toEqual(['returned', 'sent', 'head', 'cut'])
    }
  })

  it('that ends with the connection is complete', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'))
    })
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream)
    expect(await one.over).toMatchObject({ end: 'delivered', bytes: 13 })
    expect(one.app.text).toBe('until the end')
  })

  it('of no length that ends by a reset is cut', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nso far'))
    })
    for (const slow of [false, true]) {
      const { transport, upstream } = transportTo(raw)
      const app = new FakeApp()
      app.slow = slow
      const one = call(transport, upstream, { app })
      await until(() => app.bytesOut > 0)
      for (const socket of raw.sockets) socket.resetAndDestroy()
      expect(await one.over).toMatchObject({ end: 'cut', code: 'ECONNRESET' })
      expect(app.destroyed).toBe(true)
      expect(app.trailers).toBeNull()
    }
  })

  it('of no length is cut when the transport is closed, also while the app does not read', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nso far'))
    })
    for (const slow of [false, true]) {
      const { transport, upstream } = transportTo(raw)
      const app = new FakeApp()
      app.slow = slow
      const one = call(transport, upstream, { app })
      await until(() => app.bytesOut > 0)
      await transport.destroy()
      expect(await one.over).toMatchObject({ end: 'cut' })
      expect(app.trailers).toBeNull()
    }
  })

  it('is complete when the connection ends while the app does not read', async () => {
    const body = 'x'.repeat(200_000)
    const heads = ['', 'Connection: close\r\n', `Content-Length: ${body.length}\r\n`]
    heads.push(`Connection: close\r\n${heads[2]}`)
    for (const head of heads) {
      const raw = await RawUpstream.start(socket => {
        socket.on('data', () => socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n${body}`))
      })
      const { transport, upstream } = transportTo(raw)
      const app = new FakeApp()
      app.slow = true
      const one = call(transport, upstream, { app })
      while (!one.told.includes('delivered') && !one.told.includes('cut')) {
        if (app.bytesOut < body.length) app.drain()
        await new Promise(resolve => setTimeout(resolve, 1))
      }
      expect(await one.over).toMatchObject({ end: 'delivered', bytes: body.length })
      expect(app.text).toBe(body)
    }
  })

  it('that stands still is cut by the idle clock', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello')
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, { idleTimeoutMs: 20 })
    expect(await one.over).toMatchObject({ end: 'cut', code: 'IDLE_TIMEOUT', bytes: 5 })
    expect(one.app.destroyed).toBe(true)
    await until(() => raw.sockets.size === 0)
  })

  it('waits for a slow app, and goes on where it stopped', async () => {
    const body = Buffer.alloc(3_000_000, 'abcdefghij')
    let sent = false
    const raw = await RawUpstream.start(socket => {
      socket.on('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`)
        socket.write(body, () => {
          sent = true
        })
      })
    })
    const { transport, upstream } = transportTo(raw)
    const app = new FakeApp()
    app.slow = true
    const one = call(transport, upstream, { app })
    await until(() => app.bytesOut > 0)
    const before = app.bytesOut
    await new Promise(resolve => setTimeout(resolve, 15))
    expect(app.bytesOut).toBe(before)
    while (!one.told.includes('delivered')) {
      app.drain()
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(sent).toBe(true)
    expect(Buffer.compare(Buffer.concat(app.chunks), body)).toBe(0)
  })

  it('that the app does not read is cut with a word of its own', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello')
    const { transport, upstream } = transportTo(raw)
    const app = new FakeApp()
    app.slow = true
    const one = call(transport, upstream, { app, idleTimeoutMs: 20 })
    expect(await one.over).toMatchObject({ end: 'cut', code: 'APP_IDLE_TIMEOUT' })
  })

  it('stops when it is aborted, without a word', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello')
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream)
    await until(() => one.app.bytesOut > 0)
    one.attempt.abort()
    await until(() => raw.sockets.size === 0)
    expect(one.told).toEqual(['returned', 'sent', 'head'])
    expect(one.app.destroyed).toBe(false)
    expect(one.attempt.bytes).toBe(5)
  })
})

describe('a held answer', () => {
  it('is kept whole with its head, and its connection is used again', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nRetry-After: 1\r\n\r\nlate')
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, { onHead: attempt => attempt.hold(4) })
    await one.over
    await until(() => one.attempt.held() !== null)
    expect(one.attempt.held()?.head).toEqual({
      status: 503,
      statusText: 'Busy',
      headers: ['Content-Length', '4', 'Retry-After', '1'],
    })
    expect(Buffer.from(one.attempt.held()?.body ?? []).toString()).toBe('late')
    await call(transport, upstream).over
    expect(raw.accepted).toBe(1)
    one.attempt.abort()
    expect(one.attempt.held()).not.toBeNull()
  })

  it('that is too large is destroyed', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nlater')
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, { onHead: attempt => attempt.hold(4) })
    await until(() => one.told.includes('head') && raw.sockets.size === 0)
    expect(one.attempt.held()).toBeNull()
    expect(one.told).toEqual(['returned', 'sent', 'head'])
  })

  it('that does not end is given up after a while', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nla')
    // A hundred times as fast as the world.
    const clock = { ...systemClock, after: (ms: number, fn: () => void) => systemClock.after(ms / 100, fn) }
    const hasty = { ...clock, nowMs: () => systemClock.nowMs() * 100 }
    const { transport, upstream } = transportTo(raw, { clock: hasty })
    const one = call(transport, upstream, { onHead: attempt => attempt.hold(100) })
    await until(() => one.told.includes('head') && raw.sockets.size === 0)
    expect(one.attempt.held()).toBeNull()
  })

  it('that breaks off is none, without a word', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.on('data', () => socket.end('HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nla'))
    })
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, { onHead: attempt => attempt.hold(100) })
    await until(() => one.told.includes('head') && raw.sockets.size === 0)
    expect(one.attempt.held()).toBeNull()
    expect(one.told).toEqual(['returned', 'sent', 'head'])
  })

  it('can be refused: abort at the head destroys it', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nlater')
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, { onHead: attempt => attempt.abort() })
    await until(() => one.told.includes('head') && raw.sockets.size === 0)
    expect(one.told).toEqual(['returned', 'sent', 'head'])
  })
})

describe('an answer that is read before it is known what becomes of it', () => {
  const json = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A: 1\r\n\r\nbody'
  const read = (maxBytes: number) => ({ onHead: (attempt: { read(maxBytes: number): void }) => attempt.read(maxBytes) })

  it('is there whole, nothing of it has reached the app, and its connection is used again', async () => {
    const raw = await RawUpstream.answering(json)
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, read(4))
    await until(() => one.told.includes('read'))
    expect(one.told).toEqual(['returned', 'sent', 'head', 'read'])
    expect(one.attempt.held()?.head.headers).toEqual(['Content-Length', '4', 'X-A', '1'])
    expect(Buffer.from(one.attempt.held()?.body ?? []).toString()).toBe('body')
    expect(one.app.head).toBe(null)
    await call(transport, upstream).over
    expect(raw.accepted).toBe(1)
  })

  it('is passed on from its beginning when it turns out to be too large', async () => {
    const large = 'x'.repeat(300_000)
    const raw = await RawUpstream.answering(`HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n${large}`)
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, {
      ...read(1000),
      onRead: attempt => attempt.deliver(['forbear-outcome', 'x']),
    })
    await until(() => one.told.includes('delivered'))
    expect(one.told).toEqual(['returned', 'sent', 'head', 'overrun', 'delivered'])
    expect(one.app.text).toBe(large)
    expect(one.app.extra).toEqual(['forbear-outcome', 'x'])
    expect(one.attempt.bytes).toBe(300_000)
  })

  it('is destroyed when it is too large and nobody takes it', async () => {
    const raw = await RawUpstream.answering(json)
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, read(3))
    await until(() => one.told.includes('overrun') && raw.sockets.size === 0)
    expect(one.app.head).toBe(null)
  })

  it('is told as a reset when it breaks off, and the app knows nothing of it', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'))
    })
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, read(100))
    await until(() => one.told.includes('failure'))
    expect(one.app.destroyed).toBe(false)
    expect(one.app.head).toBe(null)
    expect(one.told.at(-1)).toBe('failure')
  })

  it('may stand still no longer than any other', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, { ...read(100), idleTimeoutMs: 50 })
    await until(() => one.told.includes('failure') && raw.sockets.size === 0)
    expect(one.app.head).toBe(null)
  })

  it('is complete with its head where it has no body', async () => {
    for (const status of ['204 No Content', '202 Accepted\r\nContent-Length: 0']) {
      const raw = await RawUpstream.answering(`HTTP/1.1 ${status}\r\n\r\n`)
      const { transport, upstream } = transportTo(raw)
      const one = call(transport, upstream, read(100))
      await until(() => one.told.includes('read'))
      expect(one.attempt.held()?.body).toHaveLength(0)
    }
  })

  it('is given up when the attempt is aborted', async () => {
    const raw = await RawUpstream.answering('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream, read(100))
    await until(() => one.told.includes('head'))
    one.attempt.abort()
    await until(() => raw.sockets.size === 0)
    expect(one.told.at(-1)).toBe('head')
  })
})
