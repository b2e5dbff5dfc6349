import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { SystemClock } from '../../src/clock/system-clock.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import { ownAnswer } from '../../src/pipeline/answers.js'
import { Listeners } from '../../src/proxy/listeners.js'
import type { RequestHandler } from '../../src/proxy/request-handler.js'
import { Resolver } from '../../src/proxy/resolver.js'
import { TlsContexts } from '../../src/proxy/tls-context.js'
import type { ForbearEvent } from '../../src/telemetry/events.js'
import { freePort } from '../e2e/harness/ports.js'
import { upstreamSnapshot } from '../policy/support/upstream-snapshot.js'
import { bodyOf, RawClient } from './support/raw-client.js'

/** What is tried again after seconds is tried again at once. */
class HurriedClock extends SystemClock {
  override after(delayMs: number, fn: () => void) {
    return super.after(delayMs / 100, fn)
  }
}

/** Answers with the name of the upstream whose port was called, after the path's number of ms. */
const handler: RequestHandler = {
  handle(downstream, { upstreamName }) {
    const name = upstreamName ?? 'shared'
    const head = { status: 200, statusText: 'OK', headers: ['Content-Length', String(name.length)] }
    const answer = () => downstream.answer(head, [], name)
    setTimeout(answer, Number(downstream.path.slice(1))).unref()
    return { onAnswered() {}, onAppGone() {} }
  },
  upgrade: () => ({ proceed: false, answer: ownAnswer('no-route') }),
}

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

type Ports = Readonly<Record<string, string | null>>

function snapshotOf(ports: Ports, invalid: readonly string[] = []): Snapshot {
  const upstreams = Object.entries(ports).map(([name, listen]) => [name, upstreamSnapshot(name, { listen })] as const)
  const match = { hosts: [], pathPrefix: '/' }
  return {
    generation: 1,
    hash: '',
    upstreams: new Map(upstreams),
    invalid: new Map(invalid.map(name => [name, { match }])),
  }
}

async function listenersOn(ports: Ports) {
  const events: ForbearEvent[] = []
  const clock = new HurriedClock()
  const tls = new TlsContexts(clock, () => {})
  const options = { listen: '127.0.0.1:0', pseudonym: 'forbear-test', resolver: new Resolver(clock), tls, clock }
  const listeners = new Listeners(options, handler, { emit: event => events.push(event) })
  endings.push(() => listeners.close())
  await listeners.start(snapshotOf(ports))
  const apply = (next: Ports, invalid?: readonly string[]) => listeners.reconcile(snapshotOf(next, invalid))
  const errors = () =>
    events.flatMap(event => (event.type === 'notice' && event.level === 'error' ? [event.message] : []))
  return { apply, errors, close: () => listeners.close() }
}

/** Who answers on a port; `null` = nobody listens there. */
async function whoAnswers(address: string): Promise<string | null> {
  const client = await RawClient.open(address).catch(() => null)
  if (client === null) return null
  client.send('GET /0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  return bodyOf(await client.untilClosed())
}

async function address(): Promise<string> {
  return `127.0.0.1:${await freePort()}`
}

/** Another process of the host that has the port. */
async function occupied(at: string): Promise<Server> {
  const server = createServer(socket => socket.destroy())
  await new Promise<void>(resolve => server.listen(Number(at.split(':')[1]), '127.0.0.1', resolve))
  endings.push(() => server.close())
  return server
}

test('an added port is opened, a removed one closed', async () => {
  const [a, b] = [await address(), await address()]
  const { apply } = await listenersOn({ a })
  await apply({ a, b })
  expect([await whoAnswers(a), await whoAnswers(b)]).toEqual(['a', 'b'])
  await apply({ b })
  expect([await whoAnswers(a), await whoAnswers(b)]).toEqual([null, 'b'])
})

test('a changed port moves', async () => {
  const [old, next] = [await address(), await address()]
  const { apply } = await listenersOn({ a: old })
  await apply({ a: next })
  expect([await whoAnswers(old), await whoAnswers(next)]).toEqual([null, 'a'])
})

test('two upstreams may change ports with each other, and three in a ring', async () => {
  const [p, q, r] = [await address(), await address(), await address()]
  const { apply, errors } = await listenersOn({ a: p, b: q, c: r })
  await apply({ a: q, b: p, c: r })
  expect([await whoAnswers(p), await whoAnswers(q)]).toEqual(['b', 'a'])
  await apply({ a: r, b: q, c: p })
  expect([await whoAnswers(p), await whoAnswers(q), await whoAnswers(r)]).toEqual(['c', 'b', 'a'])
  expect(errors()).toEqual([])
})

test('a renamed upstream takes its port along', async () => {
  const port = await address()
  const { apply, errors } = await listenersOn({ a: port })
  await apply({ b: port })
  expect([await whoAnswers(port), errors()]).toEqual(['b', []])
})

test('another host on the same port takes over from the first', async () => {
  const port = await freePort()
  const { apply, errors } = await listenersOn({ a: `127.0.0.1:${port}` })
  await apply({ a: `localhost:${port}` })
  expect([await whoAnswers(`127.0.0.1:${port}`), errors()]).toEqual(['a', []])
})

test('a port that is taken is told once, leaves the old one open, and is opened when it becomes free', async () => {
  const [old, taken, other] = [await address(), await address(), await address()]
  const { apply, errors } = await listenersOn({ a: old, b: null })
  const holder = await occupied(taken)
  await apply({ a: taken, b: other })
  expect([await whoAnswers(old), await whoAnswers(other)]).toEqual(['a', 'b'])
  await new Promise(resolve => setTimeout(resolve, 20))
  await apply({ a: taken, b: other })
  expect(errors()).toEqual([expect.stringMatching(`^cannot listen on ${taken}: .*${old} stays open`)])
  holder.close()
  await vi.waitFor(async () => expect(await whoAnswers(taken)).toBe('a'))
  expect(await whoAnswers(old)).toBeNull()
})

test('an address that cannot be had leaves the old one open, on the same port too', async () => {
  const port = await freePort()
  const { apply, errors } = await listenersOn({ a: `127.0.0.1:${port}` })
  await apply({ a: `192.0.2.1:${port}` })
  expect(await whoAnswers(`127.0.0.1:${port}`)).toBe('a')
  expect(errors()).toEqual([expect.stringContaining('EADDRNOTAVAIL')])
})

test('a new upstream whose port is taken gets it when it becomes free', async () => {
  const taken = await address()
  const { apply, errors } = await listenersOn({})
  const holder = await occupied(taken)
  await apply({ a: taken })
  expect(errors()).toHaveLength(1)
  holder.close()
  await vi.waitFor(async () => expect(await whoAnswers(taken)).toBe('a'))
})

test('reloads in quick succession end with the ports of the last', async () => {
  const [p, q] = [await address(), await address()]
  const { apply } = await listenersOn({})
  await Promise.all([apply({ a: p }), apply({}), apply({ a: q }), apply({ b: p }), apply({ b: q })])
  expect([await whoAnswers(p), await whoAnswers(q)]).toEqual([null, 'b'])
})

test('nothing is opened any more once it is closing', async () => {
  const [p, q] = [await address(), await address()]
  const { apply, close } = await listenersOn({ a: p })
  const [, late] = [apply({ a: p, b: q }), apply({ b: p })]
  await close()
  await late
  expect([await whoAnswers(p), await whoAnswers(q)]).toEqual([null, null])
})

test('the end waits no longer than a moment for what a removed port still serves', async () => {
  const port = await address()
  const { apply, close } = await listenersOn({ a: port })
  const slow = await RawClient.open(port)
  slow.send('GET /60000 HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise(resolve => setTimeout(resolve, 20))
  await apply({})
  expect(slow.closed).toBe(false)
  await close()
  await slow.untilClosed()
})

test('the port of a document that is invalid for now stays', async () => {
  const port = await address()
  const { apply } = await listenersOn({ a: port })
  await apply({}, ['a'])
  expect(await whoAnswers(port)).toBe('a')
})

test('a port removed and added again is served at once, while a call of before runs out on its old connection', async () => {
  const port = await address()
  const { apply, errors } = await listenersOn({ a: port })
  const before = await RawClient.open(port)
  endings.push(() => before.destroy())
  before.send('GET /200 HTTP/1.1\r\nHost: x\r\n\r\n')
  const idle = connect(Number(port.split(':')[1]), '127.0.0.1')
  endings.push(() => idle.destroy())
  await opened(idle)
  await new Promise(resolve => setTimeout(resolve, 20))
  await apply({})
  await apply({ a: port })
  expect([await whoAnswers(port), errors()]).toEqual(['a', []])
  const answer = await before.untilClosed()
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close/i)
})

const opened = (socket: Socket): Promise<void> => new Promise(resolve => socket.once('connect', resolve))
