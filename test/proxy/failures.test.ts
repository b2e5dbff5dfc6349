import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Resolver } from '../../src/proxy/resolver.js'
import { type Call, call, RawUpstream, until } from './support/call.js'
import { clearStage, OK, onClear, transportTo } from './support/stage.js'
import { systemClock } from './support/system-clock.js'

afterEach(clearStage)

async function answerWith(bytes: string, then: 'stay' | 'end' | 'reset' = 'stay'): Promise<Call> {
  const raw = await RawUpstream.start(socket => {
    socket.on('data', () => {
      socket.write(bytes, 'latin1', () => {
        if (then === 'end') socket.end()
        else if (then === 'reset') socket.resetAndDestroy()
      })
    })
  })
  const { transport, upstream } = transportTo(raw)
  return call(transport, upstream)
}

describe('before anything is sent, a failure is a connect failure', () => {
  it('when the connection is refused', async () => {
    const raw = await RawUpstream.start(() => {})
    const { transport, upstream } = transportTo(raw)
    await new Promise(resolve => raw.server.close(resolve))
    onClear(async () => {})
    const one = call(transport, upstream)
    const { failure } = await one.over
    expect(failure).toMatchObject({ kind: 'connect', code: 'ECONNREFUSED', permanent: false, idleBeforeMs: null })
    expect(one.told).toEqual(['returned', 'failure'])
    expect(one.attempt.connection).toBeNull()
    raw.server.listen(0)
  })

  it('when the name is unknown', async () => {
    const resolver = new Resolver(systemClock, (_name, done) =>
      done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []),
    )
    const { transport, upstream } = transportTo(await RawUpstream.answering(OK), { hostname: 'gone.test', resolver })
    expect((await call(transport, upstream).over).failure).toMatchObject({ kind: 'connect', code: 'ENOTFOUND' })
  })

  it('when name and socket take longer than the connect clock', async () => {
    const resolver = new Resolver(systemClock, () => {})
    const { transport, upstream } = transportTo(await RawUpstream.answering(OK), { hostname: 'mute.test', resolver })
    const { failure } = await call(transport, upstream, { connectTimeoutMs: 15 }).over
    expect(failure).toMatchObject({ kind: 'connect', code: 'CONNECT_TIMEOUT' })
  })

  it('and an abort while connecting is silent', async () => {
    const raw = await RawUpstream.answering(OK)
    const { transport, upstream } = transportTo(raw)
    const one = call(transport, upstream)
    one.attempt.abort()
    one.attempt.abort()
    await call(transport, upstream).over
    expect(one.told).toEqual(['returned'])
    await until(() => transport.connections('up') === 1)
  })
})

describe('a name with several addresses', () => {
  it('is reached by any of them', async () => {
    const raw = await RawUpstream.answering(OK)
    // Nothing listens on ::1 at this port.
    const resolver = new Resolver(systemClock, (_name, done) =>
      done(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ]),
    )
    const { transport, upstream } = transportTo(raw, { hostname: 'localhost', resolver })
    expect((await call(transport, upstream).over).end).toBe('delivered')
    expect((await call(transport, upstream, { fresh: true }).over).end).toBe('delivered')
  })

  it('reports the code of the first when all refuse', async () => {
    const idle = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => idle.once('listening', resolve))
    const raw = await RawUpstream.answering(OK)
    const resolver = new Resolver(systemClock, (_name, done) =>
      done(null, [
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.3', family: 4 },
      ]),
    )
    const { transport, upstream } = transportTo(raw, { hostname: 'many.test', resolver })
    const { failure } = await call(transport, upstream).over
    expect(failure).toMatchObject({ kind: 'connect', code: 'ECONNREFUSED' })
    expect(failure?.message).toContain('127.0.0.2')
    idle.close()
  })
})

describe('after the request was sent and before the head, a failure is a reset', () => {
  const cases: [string, string, 'end' | 'reset'][] = [
    ['when the upstream closes without an answer', '', 'end'],
    ['when the upstream resets', '', 'reset'],
    ['when the head breaks off', 'HTTP/1.1 200 OK\r\nContent-Le', 'end'],
    ['when the head breaks off after an interim answer', 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 2', 'end'],
  ]
  for (const [title, bytes, then] of cases) {
    it(title, async () => {
      const one = await answerWith(bytes, then)
      expect((await one.over).failure).toMatchObject({ kind: 'reset', permanent: false, idleBeforeMs: null })
      expect(one.app.head).toBeNull()
    })
  }
})

describe('an answer that is not HTTP is a bad response', () => {
  const cases: [string, string][] = [
    ['when it is garbage', 'hello\r\n\r\n'],
    ['when it is another version', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['when its status is none', 'HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n'],
    ['when a field is malformed', 'HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n'],
    ['when the length is no number', 'HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n'],
    ['when two lengths disagree', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['when length and chunks are mixed', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['when it is compressed for the transfer', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nxyz'],
    [
      'when it is compressed and chunked',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
    ],
    ['when it is coded twice', `HTTP/1.1 200 OK\r\n${'transfer-encoding: chunked\r\n'.repeat(2)}\r\n0\r\n\r\n`],
    ['when its fields are over 16 KiB', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`],
    ['when it is an unasked 100', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['when it is an unasked 101', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['when it is a 101 without an upgrade', 'HTTP/1.1 101 Switching\r\n\r\n'],
    ['when interim answers do not end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(200)],
  ]
  for (const [title, bytes] of cases) {
    it(title, async () => {
      const one = await answerWith(bytes)
      expect((await one.over).failure).toMatchObject({ kind: 'bad-response' })
      expect(one.app.head).toBeNull()
      expect(one.app.destroyed).toBe(false)
    })
  }

  it('and names the overflow of the fields', async () => {
    const one = await answerWith(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`)
    expect((await one.over).failure?.code).toBe('UND_ERR_HEADERS_OVERFLOW')
  })
})

describe('an answer that only its end frames', () => {
  const cases: [string, string, (socket: Socket) => void, 'delivered' | 'cut'][] = [
    ['is delivered when the upstream closes', 'part', socket => socket.end(), 'delivered'],
    // The system then reports both at once, and libuv an ordinary end.
    ['is cut when a reset comes in one moment with the data', 'part', socket => socket.resetAndDestroy(), 'cut'],
    ['is cut when a reset comes before any data', '', socket => socket.resetAndDestroy(), 'cut'],
  ]
  for (const [title, body, end, expected] of cases) {
    it(title, async () => {
      const raw = await RawUpstream.start(socket => {
        socket.on('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body}`)
          end(socket)
        })
      })
      const { transport, upstream } = transportTo(raw)
      const one = call(transport, upstream)
      expect((await one.over).end).toBe(expected)
      expect(one.app.destroyed).toBe(expected === 'cut')
    })
  }
})
