/** The rows of ARCHITECTURE.md "What survives a reload" that are about sockets; the others are in test/pipeline/what-survives.test.ts. */
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { call, listens } from './harness/client.js'
import { attempts, FILE } from './harness/counted-policy.js'
import { ample, type Document, policyDoc, quickRetry, toYaml, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

const payments = (target: string, spec: Document = {}): Document =>
  upstreamDoc('payments', target, { breaker: { mode: 'disabled' }, ...spec })

/** A sidecar on the documents, and how to put others into force. */
async function reloadable(stage: Stage, ...documents: readonly Document[]) {
  const dir = await stage.policyDir({ [FILE]: toYaml(...documents) })
  const sidecar = await stage.sidecar(dir)
  const apply = async (...next: readonly Document[]): Promise<void> => {
    // Whether the watcher or this wish comes first makes no difference.
    await dir.write(FILE, toYaml(...(next.length > 0 ? next : [upstreamDoc('nobody', 'http://127.0.0.1:9')])))
    await sidecar.admin('/reload', { method: 'POST' })
    expect((await sidecar.status()).lastReloadError).toBeNull()
  }
  return { sidecar, apply }
}

/** Opens so many connections at once and leaves them idle. */
async function warm(sidecar: Sidecar, upstream: Upstream, connections: number): Promise<void> {
  upstream.plays({ delayMs: 200, headers: { 'Keep-Alive': 'timeout=600' }, body: 'old' })
  await Promise.all(Array.from({ length: connections }, () => sidecar.call('/payments/warm')))
  expect(upstream.sockets.size).toBe(connections)
  upstream.plays({ headers: { 'Keep-Alive': 'timeout=600' }, body: 'old' })
}

/** Calls that come from now on are answered when the result is called. */
function holds(upstream: Upstream, body: string): () => void {
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  upstream.runs(async () => {
    await released
    return { body }
  })
  return release
}

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))

describe.concurrent('connections', () => {
  test('an edit keeps them', async ({ stage }) => {
    const upstream = await stage.upstream()
    const { sidecar, apply } = await reloadable(stage, payments(upstream.url))
    await warm(sidecar, upstream, 3)
    await apply(payments(upstream.url, { timeouts: { total: '9s' } }))
    await sidecar.call('/payments/x')
    expect([upstream.connections, upstream.sockets.size]).toEqual([3, 3])
  })

  test('another base path alone keeps them', async ({ stage }) => {
    const upstream = await stage.upstream()
    const { sidecar, apply } = await reloadable(stage, payments(upstream.url))
    await warm(sidecar, upstream, 3)
    await apply(payments(`${upstream.url}/base`))
    await sidecar.call('/payments/x')
    expect([upstream.connections, upstream.nth(4).url]).toEqual([3, '/base/x'])
  })

  test.for([
    ['another target', true],
    ['removed', false],
  ] as const)('%s: idle ones are closed at once, one in use ends after its call', async ([, moved], { stage }) => {
    const upstream = await stage.upstream()
    const next = (await stage.upstream()).plays({ body: 'new' })
    const { sidecar, apply } = await reloadable(stage, payments(upstream.url))
    await warm(sidecar, upstream, 3)
    const release = holds(upstream, 'old')
    const running = sidecar.call('/payments/running')
    await until('it runs', () => upstream.inFlight === 1)
    await apply(...(moved ? [payments(next.url)] : []))
    await until('idle ones are gone', () => upstream.sockets.size === 1)
    if (moved) expect((await sidecar.call('/payments/x')).text).toBe('new')
    release()
    expect(await running).toMatchObject({ status: 200, text: 'old' })
    await until('all are gone', () => upstream.sockets.size === 0)
    expect(upstream.hits).toBe(4)
  })

  test('another tls makes new ones', async ({ stage }) => {
    const tls = { cert: readFileSync(fixture('server.pem')), key: readFileSync(fixture('server-key.pem')) }
    const upstream = (await stage.upstream({ tls })).plays({ body: 'fine' })
    const secure = (serverName: string) => payments(upstream.url, { tls: { caFile: fixture('ca.pem'), serverName } })
    const { sidecar, apply } = await reloadable(stage, secure('localhost'))
    await sidecar.call('/payments/x')
    await apply(secure('payments.test'))
    expect((await sidecar.call('/payments/x')).status).toBe(200)
    expect(upstream.connections).toBe(2)
    await until('the old one is gone', () => upstream.sockets.size === 1)
  })

  test('an edit of maxConnections below those that are open closes what is idle', async ({ stage }) => {
    const upstream = await stage.upstream()
    const { sidecar, apply } = await reloadable(stage, payments(upstream.url))
    await warm(sidecar, upstream, 6)
    await apply(payments(upstream.url, { pool: { maxConnections: 2 } }))
    await until('two are left', () => upstream.sockets.size === 2)
    upstream.plays({ delayMs: 50 })
    upstream.maxInFlight = 0
    const all = await Promise.all(Array.from({ length: 8 }, () => sidecar.call('/payments/x')))
    expect([upstream.maxInFlight, all.every(answer => answer.status === 200)]).toEqual([2, true])
  })
})

describe.concurrent('listener', () => {
  const at = (port: number): Document => ({ listen: `127.0.0.1:${port}` })

  test('an edit, and another target, keep it and the connections of the app', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'old' })
    const next = (await stage.upstream()).plays({ body: 'new' })
    const port = await freePort()
    const { apply } = await reloadable(stage, payments(upstream.url, at(port)))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    stage.later(async () => agent.destroy())
    const texts = [(await call(port, '/x', { agent })).text]
    await apply(payments(upstream.url, { ...at(port), timeouts: { total: '9s' } }))
    texts.push((await call(port, '/x', { agent })).text)
    await apply(payments(next.url, at(port)))
    const last = await call(port, '/x', { agent })
    expect([...texts, last.text, last.headers.connection]).toEqual(['old', 'old', 'new', 'keep-alive'])
  })

  test('a changed listen opens the new one and lets the old one run out', async ({ stage }) => {
    const upstream = await stage.upstream()
    const release = holds(upstream, 'fine')
    const [old, next] = [await freePort(), await freePort()]
    const { apply } = await reloadable(stage, payments(upstream.url, at(old)))
    const running = call(old, '/running')
    await until('it runs', () => upstream.inFlight === 1)
    await apply(payments(upstream.url, at(next)))
    await until('the new one', () => listens(next))
    await until('the old one is closed', async () => !(await listens(old)))
    release()
    expect((await call(next, '/x')).text).toBe('fine')
    const answer = await running
    expect([answer.text, answer.headers.connection]).toEqual(['fine', 'close'])
  })

  test('a changed listen whose port is taken keeps the old one, is told once, and is tried again', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const [old, taken] = [await freePort(), await freePort()]
    const holder = createServer(socket => socket.destroy())
    await new Promise<void>(resolve => holder.listen(taken, '127.0.0.1', resolve))
    stage.later(async () => holder.close())
    const { sidecar, apply } = await reloadable(stage, payments(upstream.url, at(old)))
    await apply(payments(upstream.url, at(taken)))
    const line = await until('it is told', () => sidecar.errorLines()[0])
    expect(line).toMatchObject({ role: 'upstream', upstream: 'payments', address: `127.0.0.1:${taken}` })
    const reload = await sidecar.admin('/reload', { method: 'POST' })
    expect(JSON.parse(reload.text).messages).toEqual([`payments: ${line['msg']}`])
    expect((await sidecar.metrics()).sum('forbear_listener_up', { upstream: 'payments' })).toBe(0)
    expect(line['msg']).toMatch(new RegExp(`cannot listen on 127.0.0.1:${taken}: .*127.0.0.1:${old} stays open`))
    await apply(payments(upstream.url, { ...at(taken), timeouts: { total: '9s' } }))
    expect((await call(old, '/x')).text).toBe('fine')
    holder.close()
    await until('it is bound', async () => (await call(taken, '/x').catch(() => null))?.text === 'fine', 8000)
    await until('the old one is closed', async () => !(await listens(old)))
    expect(sidecar.errorLines()).toHaveLength(1)
  })

  test.for([
    ['removed', false],
    ['renamed', true],
  ] as const)('%s: a call on it is answered, and the port is served anew at once', async ([, renamed], { stage }) => {
    const upstream = await stage.upstream()
    const release = holds(upstream, 'old')
    const next = (await stage.upstream()).plays({ body: 'new' })
    const port = await freePort()
    const { apply } = await reloadable(stage, payments(upstream.url, at(port)))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    stage.later(async () => agent.destroy())
    const running = call(port, '/running', { agent })
    await until('it runs', () => upstream.inFlight === 1)
    if (!renamed) {
      await apply()
      expect(await listens(port)).toBe(false)
    }
    await apply(upstreamDoc(renamed ? 'ledger' : 'payments', next.url, at(port)))
    await until('it is open', () => listens(port))
    expect((await call(port, '/x')).text).toBe('new')
    release()
    expect([(await running).text, (await running).headers.connection]).toEqual(['old', 'close'])
    expect((await call(port, '/x', { agent })).text).toBe('new')
  })
})

describe.concurrent('another policyRef', () => {
  test('holds for the next call and keeps an open breaker', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const policies = [
      policyDoc('once', { retry: quickRetry({ maxAttempts: 1 }), budget: ample }),
      policyDoc('thrice', { retry: quickRetry({ maxAttempts: 3 }), budget: ample }),
    ]
    const open = { mode: 'enforce', openFor: '15s', maxOpenFor: '15s' }
    const of = (policyRef: string) => [
      ...policies,
      payments(upstream.url, { policyRef }),
      upstreamDoc('ledger', upstream.url, { policyRef, breaker: open }),
    ]
    const { sidecar, apply } = await reloadable(stage, ...of('once'))
    const state = async () => (await sidecar.upstreamStatus('ledger')).breaker.state
    await until('the breaker opens', async () => {
      await sidecar.call('/ledger/x')
      return (await state()) === 'open'
    })
    expect(await attempts(sidecar)).toBe(1)
    await apply(...of('thrice'))
    expect([await attempts(sidecar), await state()]).toEqual([3, 'open'])
  })
})
