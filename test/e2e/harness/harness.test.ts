/** The pieces that the end-to-end tests stand on, against each other and without a sidecar. */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { call, listens, rawCall } from './client.js'
import { failures, okRatio, openLoop } from './load.js'
import { Metrics } from './metrics.js'
import { toYaml, upstreamDoc } from './policies.js'
import { freePort } from './ports.js'
import { reset } from './reset.js'
import { test } from './stage.js'
import { mostInAny, seeded, until, within } from './time.js'

test('a reset closes a connection whose own end is on its way, and breaks any other', async ({ stage }) => {
  const [ending, other] = await stage.connections((await stage.upstream()).port, 2)
  if (!ending || !other) throw new Error('no connections')
  const closed = Promise.all([ending, other].map(socket => new Promise(resolve => socket.once('close', resolve))))
  ending.end()
  for (const socket of [ending, other]) reset(socket)
  await within('both are closed', closed, 2_000)
})

describe('the upstream', () => {
  test('plays its behaviours in order, the last one for ever, and records what it was sent', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503, headers: { 'X-A': ['1', '2'] } }, { body: 'fine' })
    const first = await call(upstream.port, '/a//b?c=%zz', {
      method: 'PUT',
      headers: { 'X-Key': '\xfc' },
      body: 'hello',
    })
    expect([first.status, first.headers['x-a']]).toEqual([503, '1, 2'])
    expect((await call(upstream.port, '/2')).text).toBe('fine')
    expect((await call(upstream.port, '/3')).text).toBe('fine')
    expect(upstream.nth(1)).toMatchObject({ method: 'PUT', url: '/a//b?c=%zz', bodyBytes: 5, connection: 1 })
    expect(upstream.nth(1).headers['x-key']).toBe('\xfc')
    expect(upstream.nth(1).bodySha256).toMatch(/^2cf24dba5fb0a30e26e83b2ac5b9e29e/)
    expect(upstream.nth(3).answeredAtMs).toBeGreaterThanOrEqual(upstream.nth(3).atMs)
  })

  test('resets, hangs, and notices when the caller leaves', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'reset' }, { instead: 'hang' })
    await expect(call(upstream.port, '/')).rejects.toThrow(/ECONNRESET|socket hang up/)
    await expect(call(upstream.port, '/', { timeoutMs: 100 })).rejects.toThrow(/abort/)
    await until('the caller has left', () => upstream.nth(2).abandonedAtMs)
    expect(upstream.inFlight).toBe(0)
  })

  test('closes its port and opens the same one again', async ({ stage }) => {
    const upstream = await stage.upstream({ port: await freePort(), closed: true })
    expect(await listens(upstream.port)).toBe(false)
    await upstream.open()
    expect((await call(upstream.port, '/')).status).toBe(200)
    await upstream.close()
    expect(await listens(upstream.port)).toBe(false)
    await upstream.open()
    expect((await call(upstream.port, '/')).status).toBe(200)
  })

  test('spreads connections, not requests, over its replicas', async ({ stage }) => {
    const upstream = await stage.upstream({ replicas: 10, random: seeded(1) })
    for (let n = 0; n < 60; n++) await call(upstream.port, '/')
    expect(new Set(upstream.received.map(one => one.replica)).size).toBe(10)
    await rawCall(upstream.port, 'GET /k HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5), 100)
    const kept = upstream.received.filter(one => one.url === '/k')
    expect([kept.length, new Set(kept.map(one => one.replica)).size]).toEqual([5, 1])
  })

  test('of raw bytes calls its script once a head, however the bytes arrive', async ({ stage }) => {
    const heads: string[] = []
    const upstream = await stage.rawUpstream((socket, head) => {
      heads.push(head)
      socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    })
    const port = Number(new URL(upstream.url).port)
    const reply = await rawCall(port, 'GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n', 100)
    expect(heads).toEqual(['GET /1 HTTP/1.1\r\n\r\n', 'GET /2 HTTP/1.1\r\n\r\n'])
    expect(reply.match(/ 204 /g)?.length).toBe(2)
  })
})

test('an open-loop load leaves at its rate whatever the upstream does, and counts what failed', async ({ stage }) => {
  const upstream = (await stage.upstream()).runs(({ received }) => ({
    status: received.n % 4 ? 200 : 503,
    delayMs: 300,
  }))
  const shots = await openLoop({ perSecond: 100, forMs: 600, send: () => call(upstream.port, '/') })
  expect(shots.length).toBe(60)
  expect(okRatio(shots)).toBe(0.75)
  expect(failures(shots)).toEqual({ '503': 15 })
  expect(upstream.maxInFlight).toBeGreaterThan(15)
  const [first, last] = [shots[0], shots[59]]
  expect((last?.startedMs ?? 0) - (first?.startedMs ?? 0)).toBeGreaterThanOrEqual(580)
})

test('a ConfigMap directory looks as the kubelet leaves it, before and after a swap', async ({ stage }) => {
  const dir = await stage.configMapDir({ 'a.yaml': 'one', 'b.yaml': 'two' })
  const before = await readlink(join(dir.path, '..data'))
  await dir.swap({ 'a.yaml': 'three', 'c.yaml': 'four' })
  const after = await readlink(join(dir.path, '..data'))
  expect(after).not.toBe(before)
  expect((await readdir(dir.path)).sort()).toEqual([after, '..data', 'a.yaml', 'c.yaml', 'revision'].sort())
  expect((await lstat(join(dir.path, 'a.yaml'))).isSymbolicLink()).toBe(true)
  expect(await readFile(join(dir.path, 'a.yaml'), 'utf8')).toBe('three')
})

test('documents become one YAML stream', () => {
  const text = toYaml(
    upstreamDoc('a', 'http://127.0.0.1:1'),
    upstreamDoc('b', 'http://127.0.0.1:2', { pool: { maxConnections: 2 } }),
  )
  expect(text.split('---\n').length).toBe(2)
  expect(text).toContain('kind: Upstream')
})

test('metrics are summed over the series that carry the labels', () => {
  const metrics = new Metrics(
    '# HELP x y\nx{a="1",b="q\\"}"} 2\nx{a="1"} 3 1700000000\nx{a="2"} 5\nz 1e3\nw_bucket{le="+Inf"} 7\n',
  )
  expect(metrics.sum('x', { a: '1' })).toBe(5)
  expect(metrics.sum('x')).toBe(10)
  expect([metrics.sum('z'), metrics.sum('none'), metrics.has('none')]).toEqual([1_000, 0, false])
  expect(metrics.sum('w_bucket', { le: '+Inf' })).toBe(7)
})

test('the most in any window is counted with an open end', () => {
  expect(mostInAny(1_000, [])).toBe(0)
  expect(mostInAny(1_000, [0, 999, 1_000, 1_500, 1_998, 5_000])).toBe(4)
})

test('what never comes fails with its name', async () => {
  await expect(until('rain', () => false, 40)).rejects.toThrow('rain: not within 40 ms')
  await expect(within('snow', new Promise(() => {}), 40)).rejects.toThrow('snow: not within 40 ms')
})
