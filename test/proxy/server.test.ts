import { afterEach, describe, expect, it } from 'vitest'
import { bodyOf, fieldOf, RawClient } from './support/raw-client.js'
import { type Exchange, echo, eventually, TestServer } from './support/test-server.js'

const running: TestServer[] = []
async function serve(...args: ConstructorParameters<typeof TestServer>): Promise<TestServer> {
  const server = await new TestServer(...args).start()
  running.push(server)
  return server
}
afterEach(async () => {
  await Promise.all(running.splice(0).map(server => server.stop()))
})

async function ask(request: string, ...args: ConstructorParameters<typeof TestServer>): Promise<[string, TestServer]> {
  const server = await serve(...args)
  const client = await server.client()
  client.send(request)
  return [await client.untilClosed(), server]
}

function reasonOf(received: string): string {
  return JSON.parse(bodyOf(received)).reason
}

describe('the app server', () => {
  it('echoes request after request over one connection', async () => {
    const server = await serve(echo)
    const client = await server.client()
    client.send('POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello')
    await client.untilHas('hello')
    client.send('PUT /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n0\r\n\r\n')
    await client.until(r => r.includes('foo') && r.endsWith('0\r\n\r\n'))
    await eventually(() => server.exchanges.every(e => e.answered === 1 && e.gone === 0))
    expect(server.exchanges.map(e => [e.downstream.method, e.downstream.path])).toEqual([
      ['POST', '/a?b'],
      ['PUT', '/b'],
    ])
    expect(server.server.connections).toBe(1)
  })

  it('refuses connections beyond its limit, tells of the first at once, and serves the others', async () => {
    const server = await serve(echo, { maxConnections: 2 })
    const [first, second] = [await server.client(), await server.client()]
    await eventually(() => server.server.connections === 2)
    for (let n = 0; n < 3; n += 1) expect(await (await server.client()).untilClosed()).toBe('')
    expect(server.notices).toEqual(['connections of the app are refused: 2 are open (--max-connections)'])
    second.destroy()
    await eventually(() => server.server.connections === 1)
    for (const client of [first, await server.client()]) {
      client.send('GET /x HTTP/1.1\r\nHost: x\r\n\r\n')
      await client.untilHas('X-Path: /x')
    }
  })

  describe('serves pipelined requests one after another', () => {
    const one = (path: string, method = 'POST') => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
    const paths = (server: TestServer) => server.exchanges.map(each => each.downstream.path)

    it('each when the one before it has its answer', async () => {
      const server = await serve(() => {})
      const client = await server.client()
      client.send(one('/1') + one('/2') + one('/3'))
      for (const n of [1, 2, 3]) {
        await eventually(() => server.exchanges.length === n)
        await new Promise(resolve => setTimeout(resolve, 20))
        expect(paths(server).at(-1)).toBe(`/${n}`)
        echo(server.exchanges[n - 1] as Exchange)
      }
      const received = await client.untilHas('/3')
      expect(received.match(/X-Path: \/\d/g)).toEqual(['X-Path: /1', 'X-Path: /2', 'X-Path: /3'])
    })

    it('but none of those that wait when the app has gone', async () => {
      const server = await serve(() => {})
      const client = await server.client()
      client.send(one('/1') + one('/2'))
      await eventually(() => server.exchanges.length === 1)
      client.destroy()
      await eventually(() => server.exchanges[0]?.gone === 1)
      await new Promise(resolve => setTimeout(resolve, 20))
      expect(paths(server)).toEqual(['/1'])
    })

    it('but none behind an answer that closes the connection', async () => {
      const server = await serve(({ downstream }) =>
        downstream.answer({ status: 400, statusText: 'Bad', headers: ['Content-Length', '2'] }, [], 'no'),
      )
      const client = await server.client()
      client.send(one('/1') + one('/2'))
      const received = await client.untilClosed()
      expect([paths(server), received.match(/HTTP\/1\.1 400/g)?.length]).toEqual([['/1'], 1])
    })

    it('but none behind an answer that broke off', async () => {
      const server = await serve(({ downstream }) => downstream.destroy())
      const client = await server.client()
      client.send(one('/1') + one('/2'))
      expect([await client.untilClosed(), paths(server)]).toEqual(['', ['/1']])
    })

    it('also a body that is broken, which is refused after the answers before it', async () => {
      const server = await serve(() => {})
      const client = await server.client()
      client.send(`${one('/1')}POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n`)
      await eventually(() => server.notices.length === 1)
      echo(server.exchanges[0] as Exchange)
      const received = await client.untilClosed()
      expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
      expect(paths(server)).toEqual(['/1'])
    })

    it('two thousand of them, in order, without reading them all at once', async () => {
      const server = await serve(() => {})
      const client = await server.client()
      const filler = `X-Filler: ${'x'.repeat(15000)}\r\n`
      const many = Array.from({ length: 2000 }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: x\r\n${filler}\r\n`)
      client.send(many.join(''))
      await eventually(() => server.exchanges.length === 1)
      await new Promise(resolve => setTimeout(resolve, 20))
      expect(client.socket.writableLength).toBeGreaterThan(0)
      for (let n = 0; n < 2000; n += 1) {
        await eventually(() => server.exchanges.length > n)
        echo(server.exchanges[n] as Exchange)
      }
      const received = await client.untilHas('/1999')
      expect(received.match(/X-Path: \/\d+/g)).toEqual(many.map((_, n) => `X-Path: /${n}`))
    })
  })

  it('passes path, query and field bytes unmodified', async () => {
    const server = await serve(echo)
    const client = await server.client()
    client.send('GET /a//b/../c?x=%zz&y=%2F HTTP/1.1\r\nhOST: x:8\r\nX-One: \xe9 "\r\nx-one:2\r\n\r\n')
    await client.untilHas('\r\n\r\n')
    const [exchange] = server.exchanges
    expect(exchange?.downstream.path).toBe('/a//b/../c?x=%zz&y=%2F')
    expect(exchange?.downstream.forwardHeaders).toEqual(['X-One', '\xe9 "', 'x-one', '2', 'Via', '1.1 forbear'])
    expect(exchange?.downstream.host).toBe('x:8')
  })

  it('hands the address over: absolute form, forbear-upstream, own port', async () => {
    const server = await serve(echo, { role: 'upstream', upstreamName: 'pay' })
    const client = await server.client()
    client.send('GET http://api.example:81?q HTTP/1.1\r\nHost: y\r\nForbear-Upstream: pay\r\n\r\n')
    await client.untilHas('\r\n\r\n')
    const [exchange] = server.exchanges
    expect(exchange?.address).toEqual({
      authority: 'api.example:81',
      host: 'y',
      forbearUpstream: 'pay',
      upstreamName: 'pay',
    })
    expect([exchange?.downstream.path, exchange?.downstream.host]).toEqual(['/?q', 'api.example:81'])
  })

  it('has no body without a length, or with length 0', async () => {
    const server = await serve(echo)
    const client = await server.client()
    client.send('POST / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n')
    await eventually(() => server.exchanges.length === 2)
    expect(server.exchanges.map(e => e.downstream.body)).toEqual([null, null])
  })

  it('asks the app to close its connection while draining', async () => {
    const server = await serve(echo)
    const client = await server.client()
    server.server.draining = true
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(fieldOf(await client.untilClosed(), 'connection')).toBe('close')
  })

  it('closes idle connections, used and unused, and leaves a busy one alone', async () => {
    const server = await serve(exchange => {
      if (exchange.downstream.path === '/now') echo(exchange)
    })
    const [idle, unused, busy] = [await server.client(), await server.client(), await server.client()]
    idle.send('GET /now HTTP/1.1\r\nHost: x\r\n\r\n')
    busy.send('GET /later HTTP/1.1\r\nHost: x\r\n\r\n')
    await idle.untilHas('\r\n\r\n')
    await eventually(() => server.exchanges.length === 2 && server.server.connections === 3)
    const closed = server.server.close()
    await Promise.all([idle.untilClosed(), unused.untilClosed()])
    echo(server.exchanges.find(e => e.downstream.path === '/later') as Exchange)
    expect(fieldOf(await busy.untilClosed(), 'connection')).toBe('close')
    await closed
    expect(server.server.connections).toBe(0)
  })

  it('binds both loopbacks for localhost, with one port', async () => {
    const server = await serve(echo, { listen: 'localhost:0' })
    expect(server.addresses[0]).toMatch(/^127\.0\.0\.1:\d+$/)
    for (const address of server.addresses) {
      const client = await RawClient.open(address)
      client.send('GET /here HTTP/1.1\r\nHost: x\r\n\r\n')
      await client.untilHas('/here')
      client.destroy()
    }
    expect(new Set(server.addresses.map(a => a.split(':').at(-1))).size).toBe(1)
    expect(server.events.filter(e => e.type === 'listening').map(e => e.address)).toEqual(server.addresses)
  })

  it('says which address is taken and what to do', async () => {
    const first = await serve(echo)
    const second = new TestServer(echo, { listen: first.address })
    await expect(second.start()).rejects.toThrow(
      `cannot listen on ${first.address}: another process has this port; stop it or choose another port (EADDRINUSE)`,
    )
  })
})

describe('the address of a listener', () => {
  it.each(['15080', 'localhost', '127.0.0.1:99999', '[::1', ''])('%s is explained', async listen => {
    await expect(new TestServer(echo, { listen }).start()).rejects.toThrow(/write HOST:PORT|above 65535/)
  })
})

describe('a request that cannot be forwarded gets a problem document and a closed connection', () => {
  it.each([
    [
      'both framings',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG',
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['an absurd length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\nab'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['a Host that is none', 'GET / HTTP/1.1\r\nHost: x/y\r\n\r\n'],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a fragment', 'GET /a#x HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a fragment of a URL', 'GET http://x#x HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an https target', 'GET https://x/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a bad authority', 'GET http://u@x/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ...[
      'x',
      'x:',
      ':443',
      'x:0',
      'x:65536',
      '/x:443',
      'http://x:443',
      'u@x:443',
      '[::1:443',
      '[::x]:443',
      'x:443/',
    ].map(target => [`CONNECT ${target}`, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`] as [string, string]),
    ['CONNECT with a body', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\nContent-Length: 1\r\n\r\na'],
    ['CONNECT with chunks', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['an unknown expectation', 'POST / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\na'],
    ['a coding we cannot undo', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ...['GET', 'POST'].flatMap(method =>
      ['identity', 'gzip', 'xchunked', 'chunked;q=1', 'chunked, identity'].map(coding => [
        `${method} with the coding ${coding}`,
        `${method} / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\n\r\n`,
      ]),
    ),
    ['a request behind a refused one', 'GET /a#x HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    [
      'a handshake behind a refused one',
      'GET /a#x HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
    ['CONNECT behind a refused one', 'GET /a#x HTTP/1.1\r\nHost: x\r\n\r\nCONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    [
      'a refused request behind a refused one',
      'GET /a#x HTTP/1.1\r\nHost: x\r\n\r\nGET /b#x HTTP/1.1\r\nHost: x\r\n\r\n',
    ],
    ['chunks in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a folded field', 'GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n'],
    ['a blank before the colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['an h2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/2 in the request line', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['noise', 'hello\r\n\r\n'],
  ])('%s', async (_name, request) => {
    const [received, server] = await ask(request, echo)
    expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(reasonOf(received)).toBe('bad-request')
    expect(fieldOf(received, 'forbear-outcome')).toBe('bad-request')
    expect(fieldOf(received, 'connection')).toBe('close')
    expect(Number(fieldOf(received, 'content-length'))).toBe(bodyOf(received).length)
    expect(received.match(/HTTP\/1\.1 \d/g)?.length).toBe(1)
    expect(Date.parse(fieldOf(received, 'date') ?? '')).not.toBeNaN()
    expect(server.exchanges.length).toBe(0)
    expect(server.events).toMatchObject([
      { type: 'listening' },
      { type: 'notice', message: expect.stringMatching(/^request refused: .+/), detail: { reason: 'bad-request' } },
    ])
  })

  it('a head above the limit is a 431', async () => {
    const [received, server] = await ask(`GET / HTTP/1.1\r\nHost: x\r\nCookie: ${'c'.repeat(17_000)}\r\n\r\n`, echo)
    expect(received).toMatch(/^HTTP\/1\.1 431 /)
    expect(reasonOf(received)).toBe('headers-too-large')
    expect(fieldOf(received, 'date')).toMatch(/ GMT$/)
    expect(server.exchanges.length).toBe(0)
    expect(server.notices.join()).not.toContain('ccc')
  })

  it('the limit can be raised', async () => {
    const server = await serve(echo, { maxHeaderBytes: 32_768 })
    const client = await server.client()
    client.send(`GET / HTTP/1.1\r\nHost: x\r\nCookie: ${'c'.repeat(17_000)}\r\n\r\n`)
    expect(await client.untilHas('\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('a head that never ends is refused', async () => {
    const server = await serve(echo, { headersTimeoutMs: 30 })
    const slow = await server.client()
    slow.send('GET / HTTP/1.1\r\nHo')
    expect(reasonOf(await slow.untilClosed())).toBe('bad-request')
  })

  it('a connection opened in advance and never used is closed without a word', async () => {
    const server = await serve(echo, { headersTimeoutMs: 30 })
    const unused = await server.client()
    expect(await unused.untilClosed()).toBe('')
    expect(server.notices).toEqual([])
  })

  it('noise after a good request waits for its answer', async () => {
    const server = await serve(() => {})
    const client = await server.client()
    client.send('GET /good HTTP/1.1\r\nHost: x\r\n\r\nnoise\r\n\r\n')
    await eventually(() => server.exchanges.length === 1 && server.notices.length === 1)
    echo(server.exchanges[0] as Exchange)
    const received = await client.untilClosed()
    expect(received).toMatch(/^HTTP\/1\.1 200 /)
    expect(received).toContain('HTTP/1.1 400 ')
    expect(server.exchanges[0]?.answered).toBe(1)
  })

  it('a chunk that is none ends the request and tells the pipeline that the app is gone', async () => {
    const server = await serve(exchange => {
      exchange.downstream.body?.capture(10)
    })
    const client = await server.client()
    client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n')
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 400 /)
    await eventually(() => server.exchanges[0]?.gone === 1)
  })

  it('an error inside the handler ends that connection only', async () => {
    const server = await serve(exchange => {
      if (exchange.downstream.path === '/bug') throw new Error('oops')
      echo(exchange)
    })
    const [broken, fine] = [await server.client(), await server.client()]
    broken.send('GET /bug HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await broken.untilClosed()).toBe('')
    fine.send('GET /fine HTTP/1.1\r\nHost: x\r\n\r\n')
    await fine.untilHas('/fine')
    expect(server.notices).toEqual(['request failed inside the sidecar'])
  })
})
