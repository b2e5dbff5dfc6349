import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type AdminDeps, createAdminServer } from '../../src/admin/admin.js'
import { EventStream, MAX_CLIENTS } from '../../src/admin/dashboard/event-stream.js'
import type { ManagedServer } from '../../src/admin/http-server.js'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import type { SidecarStatus } from '../../src/telemetry/status.js'
import { attemptFinished, requestFinished } from '../telemetry/events.js'
import { sidecarStatus, upstreamStatus } from '../telemetry/status.js'
import { call } from './call.js'
import { observerOf } from './observer.js'

const POLICY = {
  store: 'redis://user:pass@redis:6379',
  onDead: 'https://hooks.internal/dead?token=hunter2',
  totalMs: Infinity,
}

const servers: ManagedServer[] = []
const watching: IncomingMessage[] = []
afterEach(async () => {
  for (const one of watching.splice(0)) one.destroy()
  await Promise.all(servers.splice(0).map(server => server.close()))
})

async function served(status: () => SidecarStatus = () => sidecarStatus()) {
  const clock = new VirtualClock(Date.UTC(2024, 4, 6, 7, 8, 9))
  const metrics = createMetrics({ status })
  const observer = observerOf({ clock, status, tallies: metrics.tallies })
  const server = createAdminServer({
    phase: () => 'ready',
    metrics,
    status,
    observer,
    policies: () => ({}),
    policy: name => (name === 'payments' ? POLICY : undefined),
    parked: () => null,
    parseDurationMs: () => null,
    actions: {} as AdminDeps['actions'],
  })
  servers.push(server)
  const [address = ''] = await server.listen('127.0.0.1:0')
  return { address, clock, metrics, observer, get: (path: string, headers = {}) => call(address, 'GET', path, headers) }
}

/** What one client of the stream has heard, message by message. */
async function watch(address: string) {
  const { hostname, port } = new URL(`http://${address}`)
  const outgoing = request({ hostname, port, path: '/events', agent: false }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  watching.push(response)
  response.on('error', () => undefined)
  let text = ''
  const heard = () => text.split('\n\n').slice(0, -1)
  response.setEncoding('utf8').on('data', chunk => (text += chunk))
  const until = async (count: number) => {
    while (heard().length < count) await once(response, 'data')
    return heard()
  }
  return { response, until }
}

const frameIn = (message = '') => JSON.parse(message.replace(/^data: /, ''))

describe('the page', () => {
  it('says in words how things are, what is in force and what was rejected', async () => {
    const breaker = { state: 'open', mode: 'enforce', openForMs: 11_200, failuresInARow: 12, held: null } as const
    const lastReloadError = { at: '2024-05-06T07:00:00.000Z', messages: ['pay.yaml:3:5  spec.retyr  unknown key'] }
    const { get } = await served(() => sidecarStatus({ upstreams: [upstreamStatus({ breaker })], lastReloadError }))
    const { body } = await get('/')
    expect(body).toContain('<h1 id="headline">payments is sick</h1>')
    expect(body).toContain('breaker open after 12 failures in a row, calls are held off, probe in 12 s')
    expect(body).toContain('<dd id="generation">3</dd>')
    expect(body).toContain('<li><code>pay.yaml:3:5  spec.retyr  unknown key</code></li>')
    expect(body).toContain('action="/upstreams/payments/budget?reset"')
  })

  it('has nothing in it that its own security policy would forbid, and cannot be framed', async () => {
    const { get } = await served()
    const { headers, body } = await get('/')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|https?:\/\/(?!payments\.example\.com)/)
  })

  it('takes nothing that a message or a name says for markup', async () => {
    const lastReloadError = { at: '2024-05-06T07:00:00.000Z', messages: ['a.yaml:1:1  <img src=x> "&\''] }
    const { get, observer } = await served(() => sidecarStatus({ lastReloadError }))
    observer.emit({ type: 'notice', level: 'warn', message: '<b>loud</b>' })
    const { body } = await get('/')
    expect(body).not.toMatch(/<img|<b>/)
    expect(body).toContain('&#60;img src=x&#62; &#34;&#38;&#39;')
  })

  it('serves its files, and nothing else by their path', async () => {
    const { get } = await served()
    expect((await get('/dashboard/uplot.mjs')).headers['content-type']).toBe('text/javascript; charset=utf-8')
    for (const name of ['constructor', 'nothing.mjs', '..', '../../package.json']) {
      expect((await get(`/dashboard/${name}`)).status).toBe(404)
    }
  })

  it('shows the policy of an upstream without the password of a store or the query of a hook', async () => {
    const { get } = await served()
    expect(JSON.parse((await get('/upstreams/payments/policy')).body)).toEqual({
      store: 'redis://***@redis:6379',
      onDead: 'https://hooks.internal/dead?***',
      totalMs: 'none',
    })
    expect((await get('/upstreams/nobody/policy')).status).toBe(404)
    expect((await get('/upstreams/nobody/detail')).status).toBe(404)
  })

  it('shows no password where a message quotes the address of a store', async () => {
    const problems = ['redis://user:pass@redis:6379/1 is not open: refused']
    const parked = { waiting: 0, dead: 0, bytes: 0, problems }
    const { address, get, observer } = await served(() => sidecarStatus({ parked }))
    observer.emit({ type: 'notice', level: 'error', message: `cannot open ${problems[0]}` })
    const [, frame] = await (await watch(address)).until(2)
    for (const text of [(await get('/')).body, frame]) {
      expect(text).toContain('redis://***@redis:6379/1 is not open')
      expect(text).not.toContain('user:pass')
    }
  })

  it('puts the sickest of two hundred upstreams first', async () => {
    const upstreams = Array.from({ length: 200 }, (_, n) =>
      upstreamStatus({ name: `u-${n}`, gate: { closed: n === 140, closedForMs: 4000 } }),
    )
    const { get } = await served(() => sidecarStatus({ upstreams }))
    const names = [...(await get('/')).body.matchAll(/data-name="(u-\d+)"/g)].map(([, name]) => name)
    expect([names.length, names[0]]).toEqual([200, 'u-140'])
  })
})

describe('what is remembered while nobody looks', () => {
  it('tells of an upstream its history, its events with reasons and its routes', async () => {
    const upstreams = [upstreamStatus(), upstreamStatus({ route: 'place-order' })]
    const { clock, metrics, observer, get } = await served(() => sidecarStatus({ upstreams }))
    for (let n = 0; n < 10; n++) metrics.emit(requestFinished({ status: 503, outcome: 'budget-exhausted' }))
    metrics.emit(attemptFinished({ status: 503 }))
    metrics.emit({
      type: 'retry-denied',
      upstream: 'payments',
      route: 'place-order',
      attempt: 1,
      reason: 'budget-exhausted',
    })
    observer.emit({ type: 'gate-changed', upstream: 'payments', to: 'closed', closedForMs: 4000 })
    await clock.advance(5000)
    const detail = JSON.parse((await get('/upstreams/payments/detail')).body)
    expect(detail.history.columns).toMatchObject({ requests: [10], failed: [10], denied: [1], p50: [10], breaker: [0] })
    expect(detail.events.map(({ text }: { text: string }) => text)).toEqual([
      'no retry: budget-exhausted',
      'gate closed: the upstream asked for a pause (Retry-After)',
    ])
    expect(detail.routes[1][0]).toBe('place-order')
    expect((await get('/')).body).toContain('retries limited by budget, 1 not made in 5 s')
  })

  it('counts what happens again and again, and keeps a few things of each upstream', () => {
    const observer = observerOf()
    const { happenings } = observer
    const probe = { type: 'breaker-changed', route: null, from: 'half-open', to: 'open', observeOnly: false } as const
    for (let n = 0; n < 30; n++) {
      observer.emit({ ...probe, upstream: 'payments', reason: 'probe-failed', openForMs: n * 100 })
    }
    expect(happenings.of('payments')).toMatchObject([{ text: 'breaker still open: probe-failed', count: 30 }])
    for (let n = 0; n < 100; n++) {
      happenings.add({ upstream: 'stock', kind: 'notice', tone: 'note', text: `${n}` }, 1, n)
    }
    expect([happenings.of('stock').length, happenings.all.length]).toEqual([20, 30])
    happenings.keepOnly(new Set(['payments']))
    expect(happenings.of('stock')).toEqual([])
  })
})

describe('the stream', () => {
  it('gives a frame at once, another when something has changed, and else a sign of life', async () => {
    let status = sidecarStatus()
    const { address, clock } = await served(() => status)
    const { until } = await watch(address)
    const [retry, first] = await until(2)
    expect([retry, frameIn(first).verdict.headline]).toEqual(['retry: 2000', 'All is well'])
    await clock.advance(1000)
    expect((await until(3))[2]).toBe('event: beat\ndata:')
    status = sidecarStatus({ retries: 'off' })
    await clock.advance(1000)
    expect(frameIn((await until(4))[3])).toMatchObject({ retries: 'off', verdict: { level: 'warn' } })
  })

  it('makes no frame while nobody watches', async () => {
    const { address, clock } = await served()
    const before = clock.pendingTimers
    const { response, until } = await watch(address)
    await until(2)
    expect(clock.pendingTimers).toBe(before + 1)
    response.destroy()
    while (clock.pendingTimers > before) await turn()
  })

  it('takes so many watchers and no more, and none from the page of another', async () => {
    const { address, get } = await served()
    for (let n = 0; n < MAX_CLIENTS; n++) await (await watch(address)).until(2)
    expect(await get('/events')).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect((await get('/events', { origin: 'https://evil.example' })).status).toBe(403)
    expect((await get('/events', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await get('/events', { host: 'evil.example' })).status).toBe(403)
  })

  it('cuts a watcher off that has not read the last frame, and keeps one that has', async () => {
    const clock = new VirtualClock()
    let frames = 0
    const stream = new EventStream(clock, () => String(frames++).padEnd(1 << 20, 'x'))
    const clients: ServerResponse[] = []
    const server = createServer((_, response) => {
      response.writeHead(200)
      clients.push(response)
      stream.add(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const open = async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      const count = clients.length
      while (clients.length === count) await turn()
      return { socket, response: clients[count] as ServerResponse }
    }
    const [lazy, eager] = [await open(), await open()]
    lazy.socket.pause()
    eager.socket.resume()
    let mostBuffered = 0
    for (let n = 0; n < 100 && !lazy.response.destroyed; n++) {
      while (eager.response.writableLength > 0) await turn()
      await clock.advance(1000)
      mostBuffered = Math.max(mostBuffered, lazy.response.writableLength)
    }
    expect([lazy.response.destroyed, eager.response.destroyed]).toEqual([true, false])
    expect(mostBuffered).toBeLessThan(3 << 20)
    for (const { socket } of [lazy, eager]) socket.destroy()
    server.close()
  })
})

const turn = () => new Promise(resolve => setImmediate(resolve))
