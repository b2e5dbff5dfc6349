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

function snapshotOf(ports: Ports, invalid: Ports = {}): Snapshot {
  const upstreams = Object.entries(ports).map(([name, listen]) => [name, upstreamSnapshot(name, { listen })] as const)
  const match = { hosts: [], pathPrefix: '/' }
  return {
    generation: 1,
    hash: '',
    upstreams: new Map(upstreams),
    invalid: new Map(Object.entries(invalid).map(([name, listen]) => [name, { match, listen }])),
  }
}

async function listenersOn(ports: Ports, invalid?: Ports, reserved?: Readonly<Record<string, string>>) {
  const events: ForbearEvent[] = []
  const clock = new HurriedClock()
  const tls = new TlsContexts(clock, () => {})
  const common = { listen: '127.0.0.1:0', pseudonym: 'forbear-test', resolver: new Resolver(clock), tls, clock }
  const options = reserved === undefined ? common : { ...common, reserved }
  const listeners = new Listeners(options, handler, { emit: event => events.push(event) })
  endings.push(() => listeners.close())
  await listeners.start(snapshotOf(ports, invalid))
  const apply = (next: Ports, unusable?: Ports) => listeners.reconcile(snapshotOf(next, unusable))
  const lost = () => events.filter(event => event.type === 'not-listening')
  const errors = () => lost().flatMap(({ error }) => (error === null ? [] : [error]))
  return { apply, errors, lost, listeners, close: () => listeners.close() }
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
  await apply({}, { a: null })
  expect(await whoAnswers(port)).toBe('a')
})

test('a port that cannot be had is seen, and who has it if that is forbear itself', async () => {
  const [admin, taken, free] = [await address(), await address(), await address()]
  await occupied(admin)
  const holder = await occupied(taken)
  const { apply, lost, listeners } = await listenersOn({ a: free }, {}, { [admin]: 'admin port' })
  await apply({ a: free, b: admin, c: taken })
  const failed = { address: admin, state: 'failed', error: expect.stringContaining('the admin port of forbear itself') }
  expect(Object.fromEntries(listeners.statuses())).toEqual({
    a: { address: free, state: 'open', error: null },
    b: failed,
    c: { address: taken, state: 'failed', error: expect.stringContaining('another process has this port') },
  })
  expect(lost()[0]).toEqual({
    type: 'not-listening',
    role: 'upstream',
    upstream: 'b',
    address: admin,
    error: failed.error,
  })
  expect(await listeners.failures()).toEqual([
    expect.stringMatching(/^b: cannot listen on .*EADDR|^b: .*admin port/),
    expect.stringMatching(/^c: cannot listen on /),
  ])
  holder.close()
  await vi.waitFor(() => expect(listeners.statuses().get('c')).toMatchObject({ state: 'open' }))
  await apply({ a: free })
  expect([...listeners.statuses().keys()]).toEqual(['a'])
})

test('a port that closes is told', async () => {
  const [p, q] = [await address(), await address()]
  const { apply, lost } = await listenersOn({ a: p, b: q })
  await apply({ a: p })
  expect(lost()).toEqual([{ type: 'not-listening', role: 'upstream', upstream: 'b', address: q, error: null }])
})

test('the port of a document that was never valid is open, unless a valid one wants it or it cannot be had', async () => {
  const [p, q, taken] = [await address(), await address(), await address()]
  await occupied(taken)
  const { apply, errors } = await listenersOn({ a: p }, { b: q, c: p, d: taken })
  expect([await whoAnswers(p), await whoAnswers(q)]).toEqual(['a', 'b'])
  expect(errors()).toEqual([expect.stringContaining(taken)])
  await apply({ a: p, e: q }, { b: q })
  expect(await whoAnswers(q)).toBe('e')
})

test('connections that wait to be accepted when a port closes or moves are served', async () => {
  const [old, next] = [await address(), await address()]
  for (const then of [{ a: next }, {}, { a: old.replace('127.0.0.1', '0.0.0.0') }]) {
    const { apply, close } = await listenersOn({ a: old })
    const many = Array.from({ length: 50 }, () => connect(Number(old.split(':')[1]), '127.0.0.1'))
    const answers = many.map(socket => answerOf(socket))
    await new Promise(resolve => process.nextTick(resolve))
    await apply(then)
    expect(await Promise.all(answers)).toEqual(Array(50).fill('HTTP/1.1 200 OK'))
    await close()
  }
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

/** The status line, or why there is none. */
const answerOf = (socket: Socket): Promise<string> =>
  new Promise(resolve => {
    endings.push(() => socket.destroy())
    socket.once('connect', () => socket.write('GET /0 HTTP/1.1\r\nHost: x\r\n\r\n'))
    socket.once('data', data => resolve(String(data).split('\r\n', 1)[0] ?? ''))
    socket.once('error', error => resolve(error.message))
    socket.once('close', () => resolve('closed'))
  })
