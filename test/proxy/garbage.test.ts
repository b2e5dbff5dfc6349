import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UpstreamSnapshot } from '../../src/core/snapshot.js'
import { UndiciTransport } from '../../src/proxy/transport.js'
import { call, type Ending, RawUpstream, snapshotOf, upstreamAt } from './support/call.js'
import { systemClock } from './support/system-clock.js'

const uncaught: unknown[] = []
const note = (error: unknown) => uncaught.push(error)
let pieces: readonly Buffer[] = []
let raw: RawUpstream
let upstream: UpstreamSnapshot
let transport: UndiciTransport

beforeAll(async () => {
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  raw = await RawUpstream.start(socket => {
    socket.once('data', async () => {
      for (const piece of pieces) {
        socket.write(piece)
        await new Promise(resolve => setImmediate(resolve))
      }
      socket.end()
    })
  })
  upstream = upstreamAt(raw.port)
  transport = new UndiciTransport({ clock: systemClock })
  transport.reconcile(snapshotOf(upstream))
})

afterAll(async () => {
  await transport.destroy()
  await raw.close()
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
})

/** Lines that a parser may stumble over, in any order, cut anywhere. */
const line = fc.oneof(
  fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.0 200',
    'HTTP/1.1 103 Early Hints',
    'HTTP/1.1 100 Continue',
    'HTTP/1.1 101 Switching Protocols',
    'HTTP/1.1 204 No Content',
    'HTTP/1.1 304 Not Modified',
    'HTTP/1.1 503 \xdcber\xfcllt',
    'Content-Length: 5',
    'Content-Length: 99999999999999999999',
    'Content-Length: -1',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Connection: close',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Keep-Alive: timeout=0',
    'Keep-Alive: timeout=9999999999999',
    'Trailer: X-Sum',
    '5',
    'hello',
    '0',
    'ffffffffffffffffff',
    ' folded',
    'X-Sum: 7',
    'No-Colon',
    '',
  ),
  fc.string({ maxLength: 20 }),
)

const answer = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'), fc.boolean())
  .map(([lines, eol, headed]) =>
    Buffer.from((headed ? ['HTTP/1.1 200 OK', ...lines] : lines).join(eol) + eol, 'latin1'),
  )

function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const marks = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...marks]
    .map((from, at) => bytes.subarray(from, marks[at] ?? bytes.length))
    .filter(part => part.length > 0)
}

describe('whatever bytes an upstream sends', () => {
  for (const use of ['deliver', 'hold', 'abort'] as const) {
    it(`a call ends exactly once and nothing is thrown (${use})`, async () => {
      await fc.assert(
        fc.asyncProperty(answer, fc.array(fc.nat(200), { maxLength: 4 }), fc.boolean(), async (bytes, cuts, head) => {
          pieces = cutUp(bytes, cuts)
          const one = call(transport, upstream, {
            method: head ? 'HEAD' : 'GET',
            idleTimeoutMs: 500,
            ...(use !== 'deliver' && { onHead: attempt => (use === 'hold' ? attempt.hold(64) : attempt.abort()) }),
          })
          const ending: Ending = await one.over
          await new Promise(resolve => setImmediate(resolve))
          const ends = one.told.filter(word =>
            ['delivered', 'cut', 'failure', ...(use === 'deliver' ? [] : ['head'])].includes(word),
          )
          expect(ends).toEqual([ending.end])
          expect(one.app.destroyed).toBe(ending.end === 'cut')
          expect(uncaught).toEqual([])
        }),
        { numRuns: 150 },
      )
    })
  }
})
