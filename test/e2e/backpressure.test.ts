/** What is in flight is bounded by the slower side, and what a body may take of time is bounded by `idle` and `response` alone. */
import { connect, type Socket } from 'node:net'
import { describe, expect } from 'vitest'
import { RawClient } from '../proxy/support/raw-client.js'
import { open } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { type Stage, test } from './harness/stage.js'
import { nowMs, sleep, until } from './harness/time.js'

const MIB = 1_048_576
const BLOCK = Buffer.alloc(65_536, 'b')
/** Loopback's buffers grow to 4 MiB of the writer and 6 of the reader, on each of the two ways; the rest is ours. */
const IN_FLIGHT_BYTES = 24 * MIB
const MANY = 40

/** Writes until the other side takes no more for a while, and says how much that was. */
async function fill(socket: Socket): Promise<number> {
  let lastMs = nowMs()
  const accepted = (): number => socket.bytesWritten - socket.writableLength
  for (let before = -1; nowMs() - lastMs < 400 && !socket.destroyed; before = accepted()) {
    if (accepted() !== before) lastMs = nowMs()
    while (socket.writableLength < 4 * BLOCK.length) socket.write(BLOCK)
    await sleep(10)
  }
  return accepted()
}

function client(stage: Stage, port: number, head: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  stage.later(async () => socket.destroy())
  socket.write(head)
  return socket
}

describe('while the app does not read', () => {
  test('the upstream is held back, and goes on where it was when the app does', async ({ stage }) => {
    const total = 64 * MIB
    const filled: Promise<number>[] = []
    const upstream = await stage.rawUpstream(socket => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
      const before = socket.bytesWritten
      const filling = fill(socket)
      filled.push(filling)
      void filling.then(() => {
        const left = total - (socket.bytesWritten - before)
        socket.write(Buffer.alloc(left, 'b'))
      })
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)])
    const res = await open(sidecar.port, '/u/x')
    res.pause()
    await until('the upstream is asked', () => filled.length === 1)
    expect(await filled[0]).toBeLessThan(IN_FLIGHT_BYTES)
    let bytes = 0
    for await (const chunk of res as AsyncIterable<Buffer>) bytes += chunk.length
    expect(bytes).toBe(total)
  })

  test(`the sidecar keeps next to nothing, for ${MANY} such calls at once`, async ({ stage }) => {
    const upstream = await stage.rawUpstream(socket => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const chunk = Buffer.concat([Buffer.from('10000\r\n'), BLOCK, Buffer.from('\r\n')])
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      }
      socket.on('drain', more)
      more()
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)])
    await open(sidecar.port, '/u/warm').then(res => res.destroy())
    const before = await sidecar.memoryBytes('VmRSS')
    for (let n = 0; n < MANY; n++) client(stage, sidecar.port, 'GET /u/x HTTP/1.1\r\nHost: a\r\n\r\n').pause()
    await until('all are under way', async () => (await sidecar.upstreamStatus('u')).inFlight === MANY, 10_000)
    await sleep(1_500)
    expect((await sidecar.memoryBytes('VmRSS')) - before).toBeLessThan(60 * MIB)
  })
})

describe('while the upstream does not read', () => {
  test('the app is held back, and its body arrives whole when the upstream does', async ({ stage }) => {
    let received = 0
    const upstream = await stage.rawUpstream(socket => {
      socket.pause()
      socket.on('data', chunk => {
        received += chunk.length
      })
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, { retry: quickRetry() })])
    const socket = client(stage, sidecar.port, 'PUT /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n')
    const accepted = await fill(socket)
    expect(accepted).toBeLessThan(IN_FLIGHT_BYTES)
    for (const peer of upstream.sockets) peer.resume()
    await until('all of it is there', () => received >= accepted - 1_000)
  })

  test(`the sidecar keeps no more than maxBody and a few buffers, for ${MANY} such calls at once`, async ({
    stage,
  }) => {
    const upstream = await stage.rawUpstream(socket => {
      socket.pause()
    })
    const spec = { retry: quickRetry({ maxBody: '64KiB' }), budget: ample }
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, spec)])
    const before = await sidecar.memoryBytes('VmRSS')
    for (let n = 0; n < MANY; n++) {
      const socket = client(stage, sidecar.port, 'PUT /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n')
      const more = (): void => {
        while (!socket.destroyed && socket.write(BLOCK));
      }
      socket.on('drain', more)
      more()
    }
    await until('all are under way', () => upstream.sockets.size === MANY, 10_000)
    await sleep(1_500)
    expect((await sidecar.memoryBytes('VmRSS')) - before).toBeLessThan(60 * MIB)
  })
})

describe.concurrent('a body that stands still', () => {
  const idle = { timeouts: { idle: '300ms', total: '10s' }, retry: quickRetry(), budget: ample }

  test('because the app sends no more is the app’s fault: 400, and no failure of the upstream', async ({ stage }) => {
    const upstream = await stage.rawUpstream(() => {})
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, idle)])
    const app = await RawClient.open(`127.0.0.1:${sidecar.port}`)
    app.send('PUT /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nhalf')
    expect(await app.untilClosed()).toMatch(/^HTTP\/1\.1 400 [\s\S]*"reason":"bad-request"/)
    await until('the upstream sees the end', () => upstream.sockets.size === 0)
    expect(upstream.transcripts.length).toBe(1)
    expect((await sidecar.upstreamStatus('u')).breaker.failuresInARow).toBe(0)
  })

  test('because the upstream takes no more is a reset: 502, and a failure of the upstream', async ({ stage }) => {
    const upstream = await stage.rawUpstream(socket => {
      socket.pause()
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, { ...idle, retry: { maxAttempts: 1 } })])
    const app = await RawClient.open(`127.0.0.1:${sidecar.port}`)
    app.send('POST /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 99000000\r\n\r\n')
    app.socket.write(Buffer.alloc(40 * MIB))
    expect(await app.untilHas('"reason"')).toMatch(/^HTTP\/1\.1 502 [\s\S]*"reason":"reset"/)
    expect((await sidecar.upstreamStatus('u')).breaker.failuresInARow).toBe(1)
    app.destroy()
  })

  test('because the upstream sends no more is a cut, and a failure of the upstream', async ({ stage }) => {
    const upstream = await stage.rawUpstream(socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf')
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, idle)])
    await expect(sidecar.call('/u/x')).rejects.toThrow(/aborted|ECONNRESET/)
    expect(await sidecar.accessLine('/u/x')).toMatchObject({ status: 200, outcome: 'cut' })
    expect((await sidecar.upstreamStatus('u')).breaker.failuresInARow).toBe(1)
  })

  test.for([
    ['idle', '1s'],
    ['response', '3s'],
  ] as const)(
    'because the app does not read is cut by %s, and no failure of the upstream',
    async ([clock, value], { stage }) => {
      const upstream = (await stage.upstream()).plays({ body: Buffer.alloc(40 * MIB) })
      const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, { timeouts: { [clock]: value } })])
      const app = client(stage, sidecar.port, 'GET /u/x HTTP/1.1\r\nHost: a\r\n\r\n')
      app.pause()
      expect(await sidecar.accessLine('/u/x')).toMatchObject({ outcome: 'cut' })
      expect((await sidecar.upstreamStatus('u')).breaker.failuresInARow).toBe(0)
      await until('the upstream sees the end', () => upstream.sockets.size === 0)
    },
  )
})

describe.concurrent('a body that moves, however slowly, is cut by no clock but response', () => {
  const clocks = { timeouts: { attempt: '900ms', total: '1s', idle: '5s' }, retry: quickRetry(), budget: ample }
  const letters = 'abcdefghijklmnopqrst'

  test('down: 20 bytes over two seconds under a total of one, and a deadline of the app', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(async ({ res }) => {
      res.writeHead(200, { 'content-length': letters.length })
      for (const letter of letters) {
        res.write(letter)
        await sleep(100)
      }
      res.end()
      return undefined
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, clocks)])
    const answers = await Promise.all([
      sidecar.call('/u/x'),
      sidecar.call('/u/x', { headers: { 'forbear-timeout-ms': '900' } }),
    ])
    for (const answer of answers) {
      expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, letters, '1'])
    }
  })

  test('up: the same, on its way to an upstream that answers at the end', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({ body: received.body }))
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, clocks)])
    const drip = async function* (): AsyncGenerator<Buffer> {
      for (const letter of letters) {
        yield Buffer.from(letter)
        await sleep(100)
      }
    }
    const send = (headers: Record<string, string>) =>
      sidecar.call('/u/x', { method: 'POST', body: drip(), headers: { 'forbear-timeout-ms': '900', ...headers } })
    for (const answer of await Promise.all([send({}), send({ 'Content-Length': String(letters.length) })])) {
      expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, letters, '1'])
    }
  })

  test('both ways at once: each byte is echoed before the next is sent', async ({ stage }) => {
    const upstream = await stage.rawUpstream((socket, head) => {
      if (!head.startsWith('POST')) return void socket.write('0\r\n\r\n')
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      let echoed = 0
      const echo = (): void => {
        const chunks = upstream.transcripts[0]?.match(/\r\n1\r\n[a-z]/g) ?? []
        for (; echoed < chunks.length; echoed++) socket.write(`${chunks[echoed]?.slice(2)}\r\n`)
      }
      socket.on('data', echo)
      echo()
    })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, clocks)])
    const app = await RawClient.open(`127.0.0.1:${sidecar.port}`)
    app.send('POST /u/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const letter of letters.slice(0, 8)) {
      app.send(`1\r\n${letter}\r\n`)
      await app.untilHas(`1\r\n${letter}\r\n`)
      await sleep(100)
    }
    app.send('0\r\n\r\n')
    expect(await app.untilHas('0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    app.destroy()
  })
})
