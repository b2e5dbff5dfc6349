import { afterEach, describe, expect, it } from 'vitest'
import { bodyOf, fieldOf } from './support/raw-client.js'
import { type Exchange, eventually, TestServer } from './support/test-server.js'

const running: TestServer[] = []
async function exchangeOf(request: string, expected = 1) {
  const server = await new TestServer(() => {}).start()
  running.push(server)
  const client = await server.client()
  client.send(request)
  await eventually(() => server.exchanges.length === expected)
  const exchange = server.exchanges[0] as Exchange
  return { server, client, exchange, downstream: exchange.downstream }
}
afterEach(async () => {
  await Promise.all(running.splice(0).map(server => server.stop()))
})

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const ok = (...headers: string[]) => ({ status: 200, statusText: 'OK', headers })
const statusLines = (received: string) => received.split('\r\n').filter(line => line.startsWith('HTTP/1.1 '))

describe('a streamed answer', () => {
  it('keeps field case, order and duplicates, and adds Via and ours', async () => {
    const { client, downstream } = await exchangeOf(GET)
    const fields = ['X-b', '1', 'Set-Cookie', 'a=1, b', 'set-cookie', 'c', 'Date', 'Mon, 30 Nov 2026 21:00:00 GMT']
    downstream.begin(ok(...fields, 'Connection', 'X-Hop', 'X-Hop', '1', 'CONTENT-LENGTH', '2'), [
      'forbear-attempts',
      '1',
    ])
    downstream.write(Buffer.from('ok'))
    downstream.end([])
    const received = await client.untilHas('\r\n\r\nok')
    const head = received.slice(0, received.indexOf('\r\n\r\n')).split('\r\n')
    expect(head.slice(0, 8)).toEqual([
      ...['HTTP/1.1 200 OK', 'X-b: 1', 'Set-Cookie: a=1, b', 'set-cookie: c', 'Date: Mon, 30 Nov 2026 21:00:00 GMT'],
      ...['CONTENT-LENGTH: 2', 'Via: 1.1 forbear', 'forbear-attempts: 1'],
    ])
  })

  it('keeps the bytes of fields and reason phrase above 0x7f when its body comes later', async () => {
    const { client, downstream } = await exchangeOf(GET)
    downstream.begin({ status: 200, statusText: 'caf\xe9', headers: ['X-Name', 'Zo\xeb \xff'] }, [])
    const received = await client.untilHas('\r\n\r\n')
    expect(received).toContain('HTTP/1.1 200 caf\xe9\r\n')
    expect(received).toContain('X-Name: Zo\xeb \xff\r\n')
  })

  it('sends the head at once and each piece as it comes', async () => {
    const { client, downstream, exchange } = await exchangeOf(GET)
    downstream.begin(ok('Content-Type', 'text/event-stream'), [])
    await client.untilHas('\r\n\r\n')
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      downstream.write(Buffer.from(event))
      await client.untilHas(event)
    }
    expect(exchange.answered).toBe(0)
    downstream.end([])
    await client.untilHas('0\r\n\r\n')
    await eventually(() => exchange.answered === 1)
  })

  it('passes trailers behind a chunked body with their announcement', async () => {
    const { client, downstream } = await exchangeOf(GET)
    downstream.begin(ok('Trailer', 'X-Sum', 'Transfer-Encoding', 'chunked'), [])
    downstream.write(Buffer.from('ok'))
    downstream.end(['X-Sum', '7', 'Content-Length', '9'])
    const received = await client.untilHas('X-Sum: 7\r\n\r\n')
    expect(fieldOf(received, 'trailer')).toBe('X-Sum')
    expect(bodyOf(received)).toBe('2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n')
  })

  it('drops trailers and their announcement where the length is declared', async () => {
    const { client, downstream } = await exchangeOf(GET)
    downstream.begin(ok('Trailer', 'X-Sum', 'Content-Length', '2'), [])
    downstream.write(Buffer.from('ok'))
    downstream.end(['X-Sum', '7'])
    const received = await client.untilHas('\r\n\r\nok')
    expect(fieldOf(received, 'trailer')).toBeUndefined()
    expect(bodyOf(received)).toBe('ok')
  })

  it.each([
    ['HEAD', 200],
    ['GET', 304],
  ])('%s %i completes at the head, keeps Content-Length and the connection', async (method, status) => {
    const { server, client, downstream, exchange } = await exchangeOf(GET.replace('GET', method))
    downstream.begin({ status, statusText: 'x', headers: ['Content-Length', '1234'] }, [])
    downstream.end([])
    const received = await client.untilHas('\r\n\r\n')
    expect([fieldOf(received, 'content-length'), bodyOf(received)]).toEqual(['1234', ''])
    await eventually(() => exchange.answered === 1)
    client.send(GET)
    await eventually(() => server.exchanges.length === 2)
    expect(client.closed).toBe(false)
  })

  it.each(['streamed', 'held'])('204 loses its Content-Length and keeps the connection, %s', async how => {
    const { server, client, downstream, exchange } = await exchangeOf(GET)
    const head = { status: 204, statusText: 'No Content', headers: ['X-A', '1', 'Content-Length', '2'] }
    if (how === 'held') downstream.answer(head, [], new Uint8Array())
    else {
      downstream.begin(head, [])
      downstream.end([])
    }
    const received = await client.untilHas('\r\n\r\n')
    expect([fieldOf(received, 'x-a'), fieldOf(received, 'content-length'), bodyOf(received)]).toEqual([
      '1',
      undefined,
      '',
    ])
    await eventually(() => exchange.answered === 1)
    client.send(GET)
    await eventually(() => server.exchanges.length === 2)
    expect(client.closed).toBe(false)
  })

  it('closes an HTTP/1.0 connection at the end of a body without length, unchunked', async () => {
    const { client, downstream } = await exchangeOf('GET / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n')
    downstream.begin(ok('Trailer', 'X-Sum'), [])
    downstream.write(Buffer.from('ok'))
    downstream.end(['X-Sum', '7'])
    const received = await client.untilClosed()
    expect(bodyOf(received)).toBe('ok')
    expect(fieldOf(received, 'trailer')).toBeUndefined()
  })

  it('survives a reason phrase and fields that cannot be written', async () => {
    const { client, downstream } = await exchangeOf(GET)
    const headers = ['X-Bad', 'a\x01\r\nb', 'bad name', '1', 'X-Good', '1', 'Content-Length', '0']
    downstream.begin({ status: 200, statusText: 'O\x00K\r\nX: 1', headers }, [])
    downstream.end([])
    const received = await client.untilHas('\r\n\r\n')
    expect(statusLines(received)).toEqual(['HTTP/1.1 200 OKX: 1'])
    expect([fieldOf(received, 'x-good'), fieldOf(received, 'x-bad'), fieldOf(received, 'x')]).toEqual([
      '1',
      undefined,
      undefined,
    ])
  })

  it('says when the app reads too slowly, and when it has caught up', async () => {
    const { client, downstream } = await exchangeOf(GET)
    client.socket.pause()
    downstream.begin(ok(), [])
    const chunk = Buffer.alloc(65_536, 'x')
    await eventually(() => !downstream.write(chunk))
    let drained = 0
    downstream.onDrain(() => {
      drained += 1
    })
    expect(drained).toBe(0)
    client.socket.resume()
    await eventually(() => drained === 1)
  })

  it('that breaks off destroys the connection: no clean end, no further call', async () => {
    const { client, downstream, exchange } = await exchangeOf(GET)
    downstream.begin(ok(), [])
    downstream.write(Buffer.from('par'))
    await client.untilHas('par')
    downstream.destroy()
    const received = await client.untilClosed()
    expect(bodyOf(received)).toBe('3\r\npar\r\n')
    downstream.write(Buffer.from('more'))
    downstream.end([])
    expect([exchange.gone, exchange.answered]).toEqual([0, 0])
  })
})

describe('a whole answer', () => {
  it('of our own passes as it is', async () => {
    const { client, downstream } = await exchangeOf(GET)
    downstream.answer({ ...ok('content-length', '2', 'forbear-outcome', 'loop'), status: 508 }, [], '{}')
    const received = await client.untilHas('{}')
    expect([fieldOf(received, 'forbear-outcome'), fieldOf(received, 'via')]).toEqual(['loop', undefined])
  })

  it('held from an upstream loses hop-by-hop fields and gets a length', async () => {
    const { client, downstream } = await exchangeOf(GET)
    const headers = ['Transfer-Encoding', 'chunked', 'Trailer', 'X', 'Retry-After', '3', 'forbear-outcome', 'x']
    downstream.answer(
      { status: 503, statusText: 'Busy', headers },
      ['forbear-outcome', 'retries-exhausted'],
      Buffer.from('no'),
    )
    const received = await client.untilHas('\r\n\r\nno')
    expect(statusLines(received)).toEqual(['HTTP/1.1 503 Busy'])
    expect(['retry-after', 'content-length', 'trailer', 'forbear-outcome'].map(n => fieldOf(received, n))).toEqual([
      ...['3', '2', undefined, 'retries-exhausted'],
    ])
  })

  it('to HEAD keeps the length that the upstream declared', async () => {
    const { client, downstream } = await exchangeOf(GET.replace('GET', 'HEAD'))
    downstream.answer({ status: 503, statusText: '', headers: ['Content-Length', '77'] }, [], Buffer.alloc(0))
    const received = await client.untilHas('\r\n\r\n')
    expect(fieldOf(received, 'content-length')).toBe('77')
  })

  it('is given once: a second one and a stream are ignored', async () => {
    const { client, downstream, exchange } = await exchangeOf(GET)
    downstream.answer(ok('Content-Length', '1'), [], Buffer.from('1'))
    downstream.answer(ok('Content-Length', '1'), [], Buffer.from('2'))
    downstream.begin(ok('Content-Length', '1'), [])
    downstream.end([])
    await eventually(() => exchange.answered === 1)
    expect(bodyOf(client.received)).toBe('1')
  })
})

describe('interim responses', () => {
  it('go out before the head, cleaned', async () => {
    const { client, downstream } = await exchangeOf(GET)
    downstream.interim(103, ['Link', '</a>; rel=preload', 'Connection', 'close'])
    downstream.interim(102, [])
    downstream.begin(ok('Content-Length', '2'), [])
    downstream.write(Buffer.from('ok'))
    downstream.end([])
    downstream.interim(103, [])
    const received = await client.untilHas('\r\n\r\nok')
    expect(statusLines(received)).toEqual(['HTTP/1.1 103 Early Hints', 'HTTP/1.1 102 Processing', 'HTTP/1.1 200 OK'])
    expect([fieldOf(received, 'link'), fieldOf(received, 'connection')]).toEqual(['</a>; rel=preload', undefined])
  })

  it('never go to HTTP/1.0, nor behind the answer', async () => {
    const old = await exchangeOf('GET / HTTP/1.0\r\nHost: x\r\n\r\n')
    old.downstream.interim(103, [])
    old.downstream.answer(ok('Content-Length', '0'), [], '')
    expect(statusLines(await old.client.untilClosed())).toEqual(['HTTP/1.1 200 OK'])
    const { server, client, downstream, exchange } = await exchangeOf(GET)
    downstream.answer(ok('Content-Length', '0'), [], '')
    await eventually(() => exchange.answered === 1)
    downstream.interim(103, [])
    client.send(GET)
    await eventually(() => server.exchanges.length === 2)
    server.exchanges[1]?.downstream.answer(ok('Content-Length', '0'), [], '')
    await client.until(received => received.split('200 OK').length === 3)
    expect(statusLines(client.received)).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK'])
  })
})

describe('Expect: 100-continue', () => {
  const request = 'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n'

  it('is answered by us once the body is wanted, and not passed on', async () => {
    const { client, downstream } = await exchangeOf(request)
    expect(downstream.forwardHeaders).toEqual(['Via', '1.1 forbear'])
    expect(client.received).toBe('')
    downstream.body?.capture(10)
    downstream.openBody()?.stream.resume()
    await client.untilHas('HTTP/1.1 100 Continue\r\n\r\n')
    client.send('hi')
    await eventually(() => downstream.body?.complete === true)
    downstream.answer(ok('Content-Length', '0'), [], '')
    await client.untilHas('200 OK')
    expect(statusLines(client.received)).toEqual(['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK'])
  })

  it('saves the upload when the answer is known before: no 100, connection closed', async () => {
    const { client, downstream } = await exchangeOf(request)
    downstream.answer({ ...ok('Content-Length', '0'), status: 503 }, [], '')
    const received = await client.untilClosed()
    expect([statusLines(received).length, fieldOf(received, 'connection')]).toEqual([1, 'close'])
  })
})

describe('the app goes away', () => {
  it('while it waits: told once, and everything after is ignored', async () => {
    const { client, downstream, exchange } = await exchangeOf(GET)
    client.destroy()
    await eventually(() => exchange.gone === 1)
    downstream.interim(103, [])
    downstream.begin(ok(), [])
    expect(downstream.write(Buffer.from('x'))).toBe(true)
    downstream.answer(ok(), [], '')
    downstream.end([])
    downstream.destroy()
    expect([exchange.gone, exchange.answered]).toEqual([1, 0])
  })

  it('in the middle of an answer, with a reset', async () => {
    const { client, downstream, exchange } = await exchangeOf(GET)
    downstream.begin(ok(), [])
    downstream.write(Buffer.from('x'))
    await client.untilHas('x')
    client.socket.resetAndDestroy()
    await eventually(() => exchange.gone === 1)
    expect(exchange.answered).toBe(0)
  })

  it('in the middle of an upload: the attempt fails, the pipeline is told once', async () => {
    const { client, downstream, exchange } = await exchangeOf(
      'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n1234567890',
    )
    const errors: Error[] = []
    downstream
      .openBody()
      ?.stream.on('error', e => errors.push(e))
      .resume()
    await eventually(() => downstream.body?.untouched === false)
    client.destroy()
    await eventually(() => exchange.gone === 1 && errors.length === 1)
    expect(downstream.body?.complete).toBe(false)
  })
})

describe('an app that ends its side after its request', () => {
  it('gets its answer, once it has shown that it still listens, and then the end', async () => {
    const { client, downstream, exchange } = await exchangeOf(GET)
    client.socket.end()
    await client.untilHas('HTTP/1.1 102 Processing\r\n')
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(exchange.gone).toBe(0)
    downstream.answer(ok('Content-Length', '2'), [], 'ok')
    const received = await client.untilClosed()
    expect(statusLines(received)).toEqual(['HTTP/1.1 102 Processing', 'HTTP/1.1 200 OK'])
    expect([received.endsWith('ok'), exchange.answered, exchange.gone]).toEqual([true, 1, 0])
  })

  it('gets all answers of what it pipelined, streamed ones too', async () => {
    const { server, client, downstream } = await exchangeOf(GET + GET)
    client.socket.end()
    await client.untilHas('102 Processing')
    downstream.answer(ok('Content-Length', '3'), [], 'one')
    await eventually(() => server.exchanges.length === 2)
    const second = server.exchanges[1]?.downstream
    second?.begin(ok(), [])
    second?.write(Buffer.from('two'))
    await client.untilHas('two')
    await new Promise(resolve => setTimeout(resolve, 100))
    second?.end([])
    const received = await client.untilClosed()
    expect(received).toMatch(/one.*two\r\n0\r\n\r\n$/s)
    expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2)
  })

  it('is told as gone within a second when it goes after that', async () => {
    const { client, exchange } = await exchangeOf(GET)
    client.socket.end()
    await client.untilHas('102 Processing')
    client.destroy()
    const startedMs = performance.now()
    await eventually(() => exchange.gone === 1)
    expect(performance.now() - startedMs).toBeLessThan(1_000)
  })

  it('speaks HTTP/1.0, which has no interim answers: it is taken to have gone', async () => {
    const { client, exchange } = await exchangeOf('GET / HTTP/1.0\r\nHost: x\r\n\r\n')
    client.socket.end()
    expect(await client.untilClosed()).toBe('')
    await eventually(() => exchange.gone === 1)
  })

  it('in the middle of its body has left, and is told so if it listens', async () => {
    const { client, exchange } = await exchangeOf('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1')
    client.socket.end()
    await eventually(() => exchange.gone === 1)
    expect(statusLines(await client.untilClosed())).toEqual(['HTTP/1.1 400 Bad Request'])
  })

  it('without a request is closed', async () => {
    const { server, client, downstream } = await exchangeOf(GET)
    downstream.answer(ok('Content-Length', '0'), [], '')
    await client.untilHas('200 OK')
    const idle = await server.client()
    for (const each of [client, idle]) each.socket.end()
    for (const each of [client, idle]) await each.untilClosed()
  })
})

describe('an upload that breaks off before its attempt reads', () => {
  it('is no error of the process', async () => {
    const { client, downstream, exchange } = await exchangeOf('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1')
    const stream = downstream.openBody()?.stream
    client.destroy()
    await eventually(() => exchange.gone === 1 && stream?.destroyed === true)
  })
})

describe('request trailers', () => {
  it.each(['x-sum', 'cookie ', 'content-length'])('are dropped with their announcement (%s)', async announced => {
    const { server, client, downstream } = await exchangeOf(
      `PUT / HTTP/1.1\r\nHost: x\r\nTrailer: ${announced}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 3\r\n\r\n`,
    )
    downstream.body?.capture(10)
    await eventually(() => downstream.body?.complete === true)
    expect(downstream.forwardHeaders).toEqual(['Via', '1.1 forbear'])
    downstream.answer(ok('Content-Length', '0'), [], '')
    client.send(GET)
    await eventually(() => server.exchanges.length === 2)
  })
})

describe('an answer before the upload is over', () => {
  it('lets the app finish and use its connection again', async () => {
    const { server, client, downstream, exchange } = await exchangeOf(
      'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n',
    )
    downstream.body?.capture(10)
    const reader = downstream.openBody()?.stream
    reader?.resume()
    client.send('x'.repeat(1000))
    await eventually(() => downstream.body?.untouched === false)
    reader?.destroy()
    downstream.answer({ ...ok('Content-Length', '0'), status: 413 }, [], '')
    await eventually(() => exchange.answered === 1)
    client.send('x'.repeat(199_000))
    client.send(GET)
    await eventually(() => server.exchanges.length === 2)
  })
})
