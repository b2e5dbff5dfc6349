/** What is in flight is bounded by the slower side, and what a body may take of time is bounded by `idle` and `response` alone. */
import { connect, type Socket } from 'node:net'
import { describe, expect, test as plain } from 'vitest'
import { RawClient } from '../proxy/support/raw-client.js'
import { open } from './harness/client.js'
import { onOneStage } from './harness/one-stage.js'
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
    let headBytes = 0
    const upstream = await stage.rawUpstream((socket, head) => {
      socket.pause()
      headBytes = head.length
    })
    const received = (): number => (upstream.transcripts[0] ?? '').length - headBytes
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url, { retry: quickRetry() })])
    const head = 'PUT /u/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n'
    const socket = client(stage, sidecar.port, head)
    const accepted = (await fill(socket)) - head.length
    expect(accepted).toBeLessThan(IN_FLIGHT_BYTES)
    await until('the upstream has stopped reading', () => headBytes > 0)
    for (const peer of upstream.sockets) peer.resume()
    await until('all of it is there', () => received() >= accepted)
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
  const hop = onOneStage(async stage => {
    const silent = await stage.rawUpstream(() => {})
    const stuck = await stage.rawUpstream(socket => {
      socket.pause()
    })
    const half = await stage.rawUpstream(socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf')
    })
    const large = { body: Buffer.alloc(40 * MIB) }
    const unread = { idle: (await stage.upstream()).plays(large), response: (await stage.upstream()).plays(large) }
    const idle = { timeouts: { idle: '300ms', total: '10s' }, retry: quickRetry(), budget: ample }
    const sidecar = await stage.sidecar([
      upstreamDoc('silent', silent.url, idle),
      upstreamDoc('stuck', stuck.url, { ...idle, retry: { maxAttempts: 1 } }),
      upstreamDoc('half', half.url, idle),
      upstreamDoc('idle', unread.idle.url, { timeouts: { idle: '1s' } }),
      upstreamDoc('response', unread.response.url, { timeouts: { response: '3s' } }),
    ])
    return { silent, unread, sidecar }
  })
  const failures = async (name: string): Promise<number> =>
    (await hop.sidecar.upstreamStatus(name)).breaker.failuresInARow
  const app = (): Promise<RawClient> => RawClient.open(`127.0.0.1:${hop.sidecar.port}`)

  plain('because the app sends no more is the app’s fault: 400, and no failure of the upstream', async () => {
    const client = await app()
    client.send('PUT /silent/x HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nhalf')
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 400 [\s\S]*"reason":"bad-request"/)
    await until('the upstream sees the end', () => hop.silent.sockets.size === 0)
    expect(hop.silent.transcripts.length).toBe(1)
    expect(await failures('silent')).toBe(0)
  })

  plain('because the upstream takes no more is a reset: 502, and a failure of the upstream', async () => {
    const client = await app()
    client.send('POST /stuck/x HTTP/1.1\r\nHost: a\r\nContent-Length: 99000000\r\n\r\n')
    client.socket.write(Buffer.alloc(40 * MIB))
    expect(await client.untilHas('"reason"')).toMatch(/^HTTP\/1\.1 502 [\s\S]*"reason":"reset"/)
    expect(await failures('stuck')).toBe(1)
    client.destroy()
  })

  plain('because the upstream sends no more is a cut, and a failure of the upstream', async () => {
    await expect(hop.sidecar.call('/half/x')).rejects.toThrow(/aborted|ECONNRESET/)
    expect(await hop.sidecar.accessLine('/half/x')).toMatchObject({ status: 200, outcome: 'cut' })
    expect(await failures('half')).toBe(1)
  })

  plain.for(['idle', 'response'] as const)(
    'because the app does not read is cut by %s, and no failure of the upstream',
    async clock => {
      const client = await app()
      client.socket.pause()
      client.send(`GET /${clock}/x HTTP/1.1\r\nHost: a\r\n\r\n`)
      expect(await hop.sidecar.accessLine(`/${clock}/x`)).toMatchObject({ outcome: 'cut' })
      expect(await failures(clock)).toBe(0)
      await until('the upstream sees the end', () => hop.unread[clock].sockets.size === 0)
      client.destroy()
    },
  )
})

describe.concurrent('a body that moves, however slowly, is cut by no clock but response', () => {
  const letters = 'abcdefghijklmnopqrst'
  const hop = onOneStage(async stage => {
    const down = (await stage.upstream()).runs(async ({ res }) => {
      res.writeHead(200, { 'content-length': letters.length })
      for (const letter of letters) {
        res.write(letter)
        await sleep(100)
      }
      res.end()
      return undefined
    })
    const up = (await stage.upstream()).runs(({ received }) => ({ body: received.body }))
    const both = await stage.rawUpstream((socket, head) => {
      if (!head.startsWith('POST')) return void socket.write('0\r\n\r\n')
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      let echoed = 0
      const echo = (): void => {
        const chunks = both.transcripts[0]?.match(/\r\n1\r\n[a-z]/g) ?? []
        for (; echoed < chunks.length; echoed++) socket.write(`${chunks[echoed]?.slice(2)}\r\n`)
      }
      socket.on('data', echo)
      echo()
    })
    const clocks = { timeouts: { attempt: '900ms', total: '1s', idle: '5s' }, retry: quickRetry(), budget: ample }
    const urls = Object.entries({ down: down.url, up: up.url, both: both.url })
    return { sidecar: await stage.sidecar(urls.map(([name, url]) => upstreamDoc(name, url, clocks))) }
  })

  plain('down: 20 bytes over two seconds under a total of one, and a deadline of the app', async () => {
    const answers = await Promise.all([
      hop.sidecar.call('/down/x'),
      hop.sidecar.call('/down/x', { headers: { 'forbear-timeout-ms': '900' } }),
    ])
    for (const answer of answers) {
      expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, letters, '1'])
    }
  })

  plain('up: the same, on its way to an upstream that answers at the end', async () => {
    const drip = async function* (): AsyncGenerator<Buffer> {
      for (const letter of letters) {
        yield Buffer.from(letter)
        await sleep(100)
      }
    }
    const send = (headers: Record<string, string>) =>
      hop.sidecar.call('/up/x', { method: 'POST', body: drip(), headers: { 'forbear-timeout-ms': '900', ...headers } })
    for (const answer of await Promise.all([send({}), send({ 'Content-Length': String(letters.length) })])) {
      expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, letters, '1'])
    }
  })

  plain('both ways at once: each byte is echoed before the next is sent', async () => {
    const client = await RawClient.open(`127.0.0.1:${hop.sidecar.port}`)
    client.send('POST /both/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const letter of letters.slice(0, 15)) {
      client.send(`1\r\n${letter}\r\n`)
      await client.untilHas(`1\r\n${letter}\r\n`)
      await sleep(100)
    }
    client.send('0\r\n\r\n')
    expect(await client.untilHas('0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    client.destroy()
  })
})
