import { once } from 'node:events'
import { connect } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { ample, type Document, upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import { nowMs, sleep, until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

const QUICK = { kind: 'fixed', base: '100ms', jitter: 'none' }
const BY_STATUS = { until: { status: [200] }, backoff: QUICK }
const BY_DOCUMENT = { until: { json: { pointer: '/job/state', in: ['done', 'failed'] } }, backoff: QUICK }

const polled = (upstream: Upstream, poll: Document = BY_STATUS, spec: Document = {}) => [
  upstreamDoc('jobs', upstream.url, {
    budget: ample,
    routes: [{ name: 'job', match: { methods: ['GET', 'POST', 'HEAD'], path: '/{id}' }, poll }],
    ...spec,
  }),
]

const accepted = (headers: Record<string, string> = {}) => ({ status: 202, headers, body: 'working on it' })
const json = (state: string, more: Record<string, string> = {}) => ({
  headers: { 'content-type': 'application/json', ...more },
  body: JSON.stringify({ job: { state } }),
})
const gaps = (upstream: Upstream) =>
  upstream.received.slice(1).map(({ atMs }, n) => atMs - (upstream.received[n]?.atMs ?? 0))

describe.concurrent('a poll over real sockets', () => {
  test('gives the app one answer for many, and tells how many', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(accepted(), accepted(), { status: 200, body: 'result' })
    const sidecar = await stage.sidecar(polled(upstream))
    const answer = await sidecar.call('/jobs/1')
    expect([answer.status, answer.text]).toEqual([200, 'result'])
    expect(answer.headers).toMatchObject({
      'forbear-outcome': 'delivered',
      'forbear-attempts': '3',
      'forbear-polls': '3',
    })
    expect(upstream.received.map(one => one.headers['forbear-attempt'])).toEqual(['1', '1', '1'])
    const metrics = await sidecar.metrics()
    expect(metrics.sum('forbear_polls_total', { result: 'repeated' })).toBe(2)
    expect(metrics.sum('forbear_polls_total', { result: 'done' })).toBe(1)
    expect(metrics.sum('forbear_retries_total')).toBe(0)
    expect(await sidecar.accessLine('/jobs/1')).toMatchObject({ attempts: 3, polls: 3, outcome: 'delivered' })
    expect((await sidecar.call('/jobs/1', { method: 'HEAD' })).headers['forbear-polls']).toBe('1')
    expect((await sidecar.call('/jobs/1', { method: 'POST' })).headers['forbear-polls']).toBe(undefined)
  })

  test('reads the document, plain or compressed, and passes it on byte for byte', async ({ stage }) => {
    const done = Buffer.from('{"job": {"state":\t"done"}}')
    const types = { 'content-type': 'application/json; charset=utf-8' }
    const coded = (body: Buffer, coding: string) => ({ body, headers: { ...types, 'content-encoding': coding } })
    for (const last of [
      { body: done, headers: types },
      coded(gzipSync(done), 'gzip'),
      coded(brotliCompressSync(done), 'br'),
    ]) {
      const first = coded(gzipSync('{"job":{"state":"queued"}}'), 'gzip')
      const upstream = (await stage.upstream()).plays(first, last)
      const sidecar = await stage.sidecar(polled(upstream, BY_DOCUMENT))
      const answer = await sidecar.call('/jobs/1', { headers: { 'accept-encoding': 'gzip, br' } })
      expect(answer.headers['forbear-polls']).toBe('2')
      expect(answer.body.equals(last.body)).toBe(true)
      expect(answer.headers['content-encoding']).toBe(new Map(Object.entries(last.headers)).get('content-encoding'))
      expect(upstream.nth(1).headers['accept-encoding']).toBe('gzip, br')
    }
  })

  test('streams a document that is larger than it reads', async ({ stage }) => {
    const body = Buffer.alloc(3_000_000, '[')
    const upstream = (await stage.upstream()).plays({ body, headers: { 'content-type': 'application/json' } })
    const sidecar = await stage.sidecar(polled(upstream, BY_DOCUMENT))
    const answer = await sidecar.call('/jobs/1')
    expect(answer.body.equals(body)).toBe(true)
    expect(answer.headers['forbear-outcome']).toBe('poll-pending')
    expect(sidecar.output).toContain('a poll passes an answer on that it cannot read')
    expect((await sidecar.metrics()).sum('forbear_in_flight')).toBe(0)
  })

  test('waits as long as each answer asks for', async ({ stage }) => {
    const asks = (seconds: number) => accepted({ 'Retry-After': String(seconds) })
    const upstream = (await stage.upstream()).plays(asks(2), accepted(), asks(1), { status: 200 })
    const sidecar = await stage.sidecar(polled(upstream))
    expect((await sidecar.call('/jobs/1')).headers['forbear-polls']).toBe('4')
    const [first = 0, second = 0, third = 0] = gaps(upstream)
    expect(first).toBeGreaterThanOrEqual(1_990)
    expect(second).toBeLessThan(1_900)
    expect(third).toBeGreaterThanOrEqual(990)
  })

  test('gives the last answer when the app wanted to wait no longer', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(accepted({ 'X-Progress': '40' }))
    const sidecar = await stage.sidecar(polled(upstream))
    const answer = await sidecar.call('/jobs/1', { headers: { Prefer: 'wait=1' } })
    expect([answer.status, answer.text, answer.headers['x-progress']]).toEqual([202, 'working on it', '40'])
    expect([answer.headers['forbear-outcome'], answer.headers['preference-applied']]).toEqual(['poll-pending', 'wait'])
    expect(answer.headers['forbear-polls']).toBe(String(upstream.received.length))
    // The policy would wait five minutes.
    expect(answer.elapsedMs).toBeLessThan(20_000)
  })

  test('stops within a second when the app hangs up', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(accepted())
    const sidecar = await stage.sidecar(polled(upstream))
    const socket = connect(sidecar.port, '127.0.0.1')
    socket.write('GET /jobs/1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await until('it polls', () => upstream.received.length > 2)
    socket.destroy()
    await until('nobody waits', async () => (await sidecar.upstreamStatus('jobs')).waiting === 0, 1_000)
    const sent = upstream.received.length
    await sleep(1_000)
    expect(upstream.received).toHaveLength(sent)
    expect(await sidecar.accessLine('/jobs/1')).toMatchObject({ status: 499, outcome: 'aborted' })
  })

  test('goes on over a replica that dies in the middle of an answer', async ({ stage }) => {
    const upstream = (await stage.upstream()).runs(({ received: { n }, res }) => {
      if (n !== 2) return n < 4 ? json('queued') : json('done')
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      res.write('{"job":')
      setTimeout(() => res.destroy(), 50)
      return undefined
    })
    const sidecar = await stage.sidecar(polled(upstream, BY_DOCUMENT))
    const answer = await sidecar.call('/jobs/1')
    expect([answer.status, answer.headers['forbear-attempts'], answer.headers['forbear-polls']]).toEqual([
      200,
      '4',
      '3',
    ])
  })

  test('gives every app its last answer when the sidecar ends', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays(accepted())
    const sidecar = await stage.sidecar(polled(upstream, { ...BY_STATUS, backoff: { ...QUICK, base: '1s' } }))
    const calls = [1, 2, 3].map(n => sidecar.call(`/jobs/${n}`))
    await until('they poll', () => upstream.received.length >= 3)
    const askedMs = nowMs()
    sidecar.signal('SIGTERM')
    for (const answer of await Promise.all(calls))
      expect([answer.status, answer.headers['forbear-outcome'], answer.headers.connection]).toEqual([
        202,
        'poll-pending',
        'close',
      ])
    const exit = await sidecar.exitWithin(10_000)
    expect([exit.code, exit.signal]).toEqual([0, null])
    expect(exit.atMs - askedMs).toBeLessThan(9_000)
  })

  test('holds no slot, whoever else polls', async ({ stage }) => {
    const count = Number(process.env['FORBEAR_TEST_POLLS'] ?? 500)
    const upstream = (await stage.upstream()).runs(({ received }) =>
      received.url === '/other' ? { body: 'at once' } : accepted({ 'Retry-After': '60' }),
    )
    const limits = { maxInFlight: 2, maxWaiting: count + 10 }
    const sidecar = await stage.sidecar(polled(upstream, { ...BY_STATUS, maxWait: '5m' }, { limits }))
    const sockets = await Promise.all(
      Array.from({ length: count }, async (_, n) => {
        const socket = connect(sidecar.port, '127.0.0.1')
        await once(socket, 'connect')
        socket.write(`GET /jobs/${n} HTTP/1.1\r\nHost: a\r\n\r\n`)
        return socket
      }),
    )
    stage.later(async () => sockets.forEach(socket => socket.destroy()))
    await until('all of them wait', async () => (await sidecar.upstreamStatus('jobs')).waiting === count, 60_000)
    expect((await sidecar.upstreamStatus('jobs')).inFlight).toBe(0)
    expect((await sidecar.call('/jobs/other')).text).toBe('at once')
    for (const socket of sockets) socket.destroy()
    await until('nobody waits', async () => (await sidecar.upstreamStatus('jobs')).waiting === 0, 1_000 + count)
    expect(upstream.received).toHaveLength(count + 1)
  })
})
