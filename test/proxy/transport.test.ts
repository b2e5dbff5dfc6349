import { afterEach, describe, expect, it } from 'vitest'
import { call, RawUpstream, snapshotOf, until, upstreamAt } from './support/call.js'
import { bodyOf } from './support/fake-app.js'
import { clearStage, onClear, transportTo } from './support/stage.js'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Odd: a\xe9b\r\nx-Odd: c\r\n\r\nok'

afterEach(clearStage)

describe('a call', () => {
  it('passes method, path, fields and their case through and delivers the answer as it came', async () => {
    const seen: string[] = []
    const { transport, upstream } = transportTo(await RawUpstream.answering(OK, seen), { basePath: '/base' })
    const one = call(transport, upstream, {
      method: 'REPORT',
      path: '/a//b/../c?x=%zz&y=%2F',
      headers: ['X-Case', 'ü'.normalize(), 'accept', '*/*', 'X-Case', '2', 'traceparent', 'old'],
      set: ['forbear-attempt', '1', 'Traceparent', 'new'],
    })
    expect((await one.over).end).toBe('delivered')
    const lines = seen[0]?.split('\r\n')
    expect(lines).toEqual([
      'REPORT /base/a//b/../c?x=%zz&y=%2F HTTP/1.1',
      `host: 127.0.0.1:${upstream.target.port}`,
      'connection: keep-alive',
      'X-Case: \xfc',
      'accept: */*',
      'X-Case: 2',
      'forbear-attempt: 1',
      'Traceparent: new',
      '',
      '',
    ])
    expect(one.app.head).toEqual({
      status: 200,
      statusText: 'OK',
      headers: ['Content-Length', '2', 'X-Odd', 'a\xe9b', 'x-Odd', 'c'],
    })
    expect(one.app.text).toBe('ok')
    expect(one.app.trailers).toEqual([])
    expect(one.told).toEqual(['returned', 'sent', 'head', 'delivered'])
  })

  it('tells the listener nothing before it returns, on a reused connection either', async () => {
    const { transport, upstream } = transportTo(await RawUpstream.answering(OK))
    for (let n = 0; n < 3; n++) {
      const one = call(transport, upstream)
      await one.over
      expect(one.told).toEqual(['returned', 'sent', 'head', 'delivered'])
    }
    expect(transport.connections('up')).toBe(1)
  })

  it('sends the Host that the app sent when told to preserve it', async () => {
    const seen: string[] = []
    const { transport, upstream } = transportTo(await RawUpstream.answering(OK, seen), { hostHeader: 'preserve' })
    await call(transport, upstream, { host: 'shop.internal' }).over
    expect(seen[0]).toContain('host: shop.internal\r\n')
  })

  it('frames a body of known length by its length and any other as chunks, whatever the method', async () => {
    for (const method of ['POST', 'DELETE', 'OPTIONS', 'GET']) {
      const seen: string[] = []
      const raw = await RawUpstream.start(socket =>
        socket.on('data', chunk => {
          seen.push(chunk.toString('latin1'))
          if (seen.join('').includes('hello')) socket.write(OK, 'latin1')
        }),
      )
      const { transport, upstream } = transportTo(raw)
      await call(transport, upstream, { method, body: bodyOf('hello', 5) }).over
      expect(seen.join('')).toMatch(/\r\ncontent-length: 5\r\n\r\nhello$/i)
      seen.length = 0
      await call(transport, upstream, { method, body: bodyOf('hello', null), fresh: true }).over
      expect(seen.join('')).toMatch(
        /\r\n(content-length: 5\r\n\r\nhello|transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n)$/i,
      )
    }
  })

  it('says that a POST without a body has length 0', async () => {
    const seen: string[] = []
    const { transport, upstream } = transportTo(await RawUpstream.answering(OK, seen))
    await call(transport, upstream, { method: 'POST' }).over
    expect(seen[0]).toContain('content-length: 0\r\n')
  })

  it('passes interim answers on and delivers one final answer with its trailers', async () => {
    const answer =
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n' +
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n2;a=b\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n'
    const { transport, upstream } = transportTo(await RawUpstream.answering(answer))
    const one = call(transport, upstream)
    expect(await one.over).toMatchObject({ end: 'delivered', bytes: 2 })
    expect(one.interims).toEqual([
      { status: 103, headers: ['Link', '</a>'] },
      { status: 102, headers: [] },
    ])
    expect(one.app.trailers).toEqual(['X-Sum', '7'])
  })

  it('completes HEAD, 204 and 304 at the head', async () => {
    const answers = [
      'HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n',
      'HTTP/1.1 204 No Content\r\n\r\n',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n',
    ]
    const raw = await RawUpstream.start(socket => socket.on('data', () => socket.write(answers.shift() ?? OK)))
    const { transport, upstream } = transportTo(raw)
    const head = call(transport, upstream, { method: 'HEAD' })
    expect(await head.over).toMatchObject({ end: 'delivered', bytes: 0 })
    expect(head.app.head?.headers).toEqual(['Content-Length', '1234'])
    expect(await call(transport, upstream).over).toMatchObject({ end: 'delivered', bytes: 0 })
    expect(await call(transport, upstream).over).toMatchObject({ end: 'delivered', bytes: 0 })
    expect(await call(transport, upstream).over).toMatchObject({ end: 'delivered', bytes: 2 })
    // undici misreads the length of a 304 and closes; the others leave the connection whole.
    expect(raw.accepted).toBe(2)
  })

  it('completes a 204 at the head whatever length it tells, with or without such a body', async () => {
    for (const body of ['', 'ok']) {
      const raw = await RawUpstream.answering(`HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n${body}`)
      const { transport, upstream } = transportTo(raw)
      for (let n = 0; n < 2; n++) {
        const one = call(transport, upstream)
        expect(await one.over).toMatchObject({ end: 'delivered', bytes: 0 })
        expect(one.app.trailers).toEqual([])
      }
    }
  })

  it('fails as a value when undici will not write the request, and keeps the connection', async () => {
    const { transport, upstream } = transportTo(await RawUpstream.answering(OK))
    await call(transport, upstream).over
    const one = call(transport, upstream, { headers: ['bad name', 'x'] })
    const ending = await one.over
    expect(one.told).toEqual(['returned', 'failure'])
    expect(ending.failure).toMatchObject({ kind: 'bad-response', code: 'INVALID_REQUEST', permanent: true })
    expect((await call(transport, upstream).over).end).toBe('delivered')
    expect(transport.connections('up')).toBe(1)
  })

  it('closes a connection of which undici will not write the first request: nobody would notice its end', async () => {
    const { transport, upstream } = transportTo(await RawUpstream.answering(OK))
    const ending = await call(transport, upstream, { headers: ['bad name', 'x'] }).over
    expect(ending.failure).toMatchObject({ kind: 'bad-response', code: 'INVALID_REQUEST' })
    await until(() => transport.connections('up') === 0)
  })
})

describe('a snapshot', () => {
  it('keeps the connections of an unchanged target and closes those of a changed or removed one', async () => {
    const raw = await RawUpstream.answering(OK)
    const { transport, upstream } = transportTo(raw)
    await call(transport, upstream).over
    const edited = { ...upstream, pool: { maxConnections: 8, maxAgeMs: 1_000 } }
    transport.reconcile(snapshotOf(edited))
    await call(transport, edited).over
    await call(transport, upstream).over
    expect(raw.accepted).toBe(1)
    transport.reconcile(snapshotOf())
    await until(() => raw.sockets.size === 0)
    expect(transport.connections('up')).toBe(0)
  })

  it('that lowers maxConnections closes idle connections at once, and busy ones when they are free', async () => {
    const answers: (() => void)[] = []
    const raw = await RawUpstream.start(socket => socket.on('data', () => answers.push(() => socket.write(OK))))
    const { transport, upstream } = transportTo(raw)
    const calls = [1, 2, 3, 4, 5].map(() => call(transport, upstream))
    await until(() => answers.length === 5)
    for (const answer of answers.splice(0, 2)) answer()
    await until(() => calls.filter(one => one.told.includes('delivered')).length === 2)
    transport.reconcile(snapshotOf({ ...upstream, pool: { ...upstream.pool, maxConnections: 2 } }))
    await until(() => raw.sockets.size === 3)
    for (const answer of answers) answer()
    for (const one of await Promise.all(calls.map(one => one.over))) expect(one.end).toBe('delivered')
    await until(() => raw.sockets.size === 2)
    expect(transport.connections('up')).toBe(2)
  })

  it('that lowers maxAge replaces connections that were opened under the longer one', async () => {
    const raw = await RawUpstream.answering(OK)
    const { transport, upstream } = transportTo(raw)
    await call(transport, upstream).over
    await new Promise(resolve => setTimeout(resolve, 15))
    const edited = { ...upstream, pool: { ...upstream.pool, maxAgeMs: 10 } }
    transport.reconcile(snapshotOf(edited))
    await call(transport, edited).over
    expect(raw.accepted).toBe(2)
  })

  it('still serves a request that began under the one before, and keeps nothing open after it', async () => {
    const old = await RawUpstream.answering(OK)
    const next = await RawUpstream.answering(OK)
    onClear(() => next.close())
    const { transport, upstream } = transportTo(old)
    transport.reconcile(snapshotOf(upstreamAt(next.port)))
    expect((await call(transport, upstream).over).end).toBe('delivered')
    expect(old.accepted).toBe(1)
    expect(next.accepted).toBe(0)
    await until(() => old.sockets.size === 0)
  })
})

describe('destroy', () => {
  it('ends running calls and resolves once every socket is closed', async () => {
    const raw = await RawUpstream.start(() => {})
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream)
    await until(() => one.told.includes('sent'))
    await transport.destroy()
    expect((await one.over).failure?.kind).toBe('reset')
    await until(() => raw.sockets.size === 0)
  })

  it('ends calls that are still connecting', async () => {
    const { transport, upstream } = transportTo(await RawUpstream.start(() => {}))
    const one = call(transport, upstream)
    await transport.destroy()
    expect((await one.over).failure).toMatchObject({ kind: 'connect', code: 'CLOSED' })
  })
})
