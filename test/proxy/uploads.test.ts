import { PassThrough, Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { call, RawUpstream, until } from './support/call.js'
import { bodyOf } from './support/fake-app.js'
import { clearStage, OK, transportTo } from './support/stage.js'

afterEach(clearStage)

describe('an upload', () => {
  it('is complete, byte for byte, and only then told as sent', async () => {
    let received = 0
    const raw = await RawUpstream.start(socket => {
      socket.on('data', chunk => {
        received += chunk.length
        if (received > 1_000_000) socket.write(OK)
      })
    })
    const { transport, upstream } = transportTo(raw)
    const chunk = Buffer.alloc(100_000, 'x')
    const stream = Readable.from(
      Array.from({ length: 10 }, () => chunk),
      { objectMode: false },
    )
    const one = call(transport, upstream, {
      method: 'PUT',
      body: () => ({ stream, contentLength: 1_000_000 }),
    })
    expect((await one.over).end).toBe('delivered')
    expect(one.told).toEqual(['returned', 'sent', 'head', 'delivered'])
  })

  it('that is answered early gets that answer, and the connection is not used again', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.once('data', () => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig'))
    })
    const { transport, upstream } = transportTo(raw)
    const stream = new PassThrough()
    stream.write('begin')
    const one = call(transport, upstream, { method: 'POST', body: () => ({ stream, contentLength: null }) })
    expect(await one.over).toMatchObject({ end: 'delivered', bytes: 3 })
    expect(one.app.head?.status).toBe(413)
    expect(one.told).not.toContain('sent')
    await until(() => raw.sockets.size === 0 && stream.destroyed)
  })

  it('that the upstream does not take is a reset named after the idle clock', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.pause()
    })
    const { transport, upstream } = transportTo(raw)
    const chunk = Buffer.alloc(1_000_000)
    const stream = Readable.from(
      (function* () {
        for (;;) yield chunk
      })(),
      { objectMode: false },
    )
    const one = call(transport, upstream, {
      method: 'POST',
      body: () => ({ stream, contentLength: null }),
      idleTimeoutMs: 40,
    })
    expect((await one.over).failure).toMatchObject({ kind: 'reset', code: 'IDLE_TIMEOUT', byApp: false })
    await until(() => stream.destroyed)
  })

  it('that the app stops sending is a failure of the app', async () => {
    const raw = await RawUpstream.start(() => {})
    const { transport, upstream } = transportTo(raw)
    for (const sent of ['', 'begin', 'x'.repeat(200_000)]) {
      const stream = new PassThrough()
      stream.write(sent)
      const one = call(transport, upstream, {
        method: 'POST',
        body: () => ({ stream, contentLength: 300_000 }),
        idleTimeoutMs: 20,
      })
      expect((await one.over).failure).toMatchObject({ code: 'APP_IDLE_TIMEOUT', byApp: true })
      await until(() => raw.sockets.size === 0 && stream.destroyed)
    }
  })

  it('that the app stops sending under an early answer is not held against the upstream', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nso far'))
    })
    const { transport, upstream } = transportTo(raw)
    const stream = new PassThrough()
    stream.write('begin')
    const one = call(transport, upstream, {
      method: 'POST',
      body: () => ({ stream, contentLength: null }),
      idleTimeoutMs: 20,
    })
    expect(await one.over).toMatchObject({ end: 'cut', code: 'APP_IDLE_TIMEOUT' })
  })

  it('that moves slowly is not cut by the idle clock', async () => {
    let text = ''
    const raw = await RawUpstream.start(socket => {
      socket.on('data', chunk => {
        text += chunk.toString()
        if (text.endsWith('0\r\n\r\n')) socket.write(OK)
      })
    })
    const { transport, upstream } = transportTo(raw)
    const stream = new PassThrough()
    const one = call(transport, upstream, {
      method: 'POST',
      body: () => ({ stream, contentLength: null }),
      idleTimeoutMs: 60,
    })
    for (let n = 0; n < 8; n++) {
      stream.write('x')
      await new Promise(resolve => setTimeout(resolve, 15))
    }
    stream.end()
    expect((await one.over).end).toBe('delivered')
  })

  it('that the app breaks off leaves time to be aborted before it is told as a failure', async () => {
    const raw = await RawUpstream.start(() => {})
    const { transport, upstream } = transportTo(raw)
    for (const aborted of [false, true]) {
      const stream = new PassThrough()
      stream.write('begin')
      const one = call(transport, upstream, { method: 'POST', body: () => ({ stream, contentLength: 10 }) })
      await until(() => raw.sockets.size === 1)
      stream.destroy(new Error('the app left'))
      if (aborted) stream.once('close', () => one.attempt.abort())
      else expect((await one.over).failure).toMatchObject({ kind: 'reset', code: 'REQUEST_BODY' })
      await until(() => raw.sockets.size === 0)
      expect(one.told).toEqual(aborted ? ['returned'] : ['returned', 'failure'])
    }
  })

  it('that breaks off under an early answer cuts it with the same word', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nso far'))
    })
    const { transport, upstream } = transportTo(raw)
    const stream = new PassThrough()
    stream.write('begin')
    const one = call(transport, upstream, { method: 'POST', body: () => ({ stream, contentLength: null }) })
    await until(() => one.app.bytesOut > 0)
    stream.destroy(new Error('the app left'))
    expect(await one.over).toMatchObject({ end: 'cut', code: 'REQUEST_BODY' })
  })

  it('may break off in the very tick of an abort', async () => {
    const raw = await RawUpstream.start(socket => {
      socket.on('data', chunk => chunk.toString().startsWith('GET') && socket.write(OK))
    })
    const { transport, upstream } = transportTo(raw)
    await call(transport, upstream).over
    for (const written of [false, true]) {
      const stream = new PassThrough()
      const one = call(transport, upstream, { method: 'POST', body: () => ({ stream, contentLength: null }) })
      stream.write('begin')
      if (written) await until(() => stream.readableFlowing === true)
      stream.destroy(new Error('the app left'))
      one.attempt.abort()
      await new Promise(resolve => setTimeout(resolve, 5))
      expect(one.told).toEqual(['returned'])
    }
  })

  it('aborted before it was written leaves the connection whole', async () => {
    const raw = await RawUpstream.answering(OK)
    const { transport, upstream } = transportTo(raw)
    await call(transport, upstream).over
    const stream = new PassThrough()
    stream.write('begin')
    const one = call(transport, upstream, { method: 'POST', body: () => ({ stream, contentLength: null }) })
    one.attempt.abort()
    expect(stream.destroyed).toBe(true)
    await new Promise(resolve => setTimeout(resolve, 5))
    expect((await call(transport, upstream).over).end).toBe('delivered')
    expect(raw.accepted).toBe(1)
  })

  it('is taken up only once there is a connection', async () => {
    const raw = await RawUpstream.answering(OK)
    const { transport, upstream } = transportTo(raw)
    let opened = 0
    const body = () => {
      opened++
      return bodyOf('x')()
    }
    const one = call(transport, upstream, { method: 'POST', body })
    expect(opened).toBe(0)
    await one.over
    expect(opened).toBe(1)
  })
})
