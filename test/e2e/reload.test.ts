import { describe, expect } from 'vitest'
import { listens } from './harness/client.js'
import { attempts, calls, EDIT_MS, FILE, followed, POLL_MS } from './harness/counted-policy.js'
import { failures, openLoop } from './harness/load.js'
import { toYaml, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import { test } from './harness/stage.js'
import { sleep, until } from './harness/time.js'

describe('an edit', () => {
  test('of a file is in force for new requests', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const dir = await stage.policyDir({ [FILE]: calls(upstream.url, 1) })
    const sidecar = await stage.sidecar(dir)
    expect(await attempts(sidecar)).toBe(1)
    const { generation } = await sidecar.status()
    await dir.write(FILE, calls(upstream.url, 2))
    await followed('the rewritten file', sidecar, 2, EDIT_MS)
    await dir.replace(FILE, calls(upstream.url, 3))
    await followed('the replaced file', sidecar, 3, EDIT_MS)
    const status = await sidecar.status()
    expect(status.generation).toBe(generation + 2)
    expect((await sidecar.metrics()).sum('forbear_policy_generation')).toBe(status.generation)
  })

  test('of a mounted ConfigMap is in force, several in a row too', { timeout: 40_000 }, async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const dir = await stage.configMapDir({ [FILE]: calls(upstream.url, 1) })
    const sidecar = await stage.sidecar(dir)
    expect(await attempts(sidecar)).toBe(1)
    await dir.swap({ [FILE]: calls(upstream.url, 2) })
    await followed('the first swap', sidecar, 2, EDIT_MS)
    for (const expected of [3, 4, 5]) {
      await sleep(1_000)
      await dir.swap({ [FILE]: calls(upstream.url, expected) })
      await followed(`the swap to ${expected}`, sidecar, expected, POLL_MS)
    }
  })

  test('that comes in a burst of swaps ends with the last content', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const dir = await stage.configMapDir({ [FILE]: calls(upstream.url, 1) })
    const sidecar = await stage.sidecar(dir)
    for (const maxAttempts of [2, 3, 4, 2, 3, 4, 2, 3, 4, 6])
      await dir.swap({ [FILE]: calls(upstream.url, maxAttempts) })
    await followed('the last swap', sidecar, 6, POLL_MS)
    expect(sidecar.errorLines()).toEqual([])
  })

  test('leaves requests in flight under the old policy', async ({ stage }) => {
    const old = (await stage.upstream()).plays({ delayMs: 4_000, body: 'old' })
    const fresh = (await stage.upstream()).plays({ body: 'new' })
    const dir = await stage.policyDir({ [FILE]: calls(old.url, 1) })
    const sidecar = await stage.sidecar(dir)
    const inFlight = sidecar.call('/payments/x')
    await until('the old upstream is called', () => old.hits === 1)
    await dir.write(FILE, calls(fresh.url, 1))
    const early = { timeoutMs: 25_000, headers: { 'forbear-timeout-ms': '300' } }
    await until('the new target', async () => (await sidecar.call('/payments/y', early)).text === 'new', EDIT_MS)
    const answer = await inFlight
    expect([answer.status, answer.text]).toEqual([200, 'old'])
  })

  test('that allows fewer attempts also stops the retries of a request that waits', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503, body: 'busy' })
    const backoff = { kind: 'fixed', base: '4s', jitter: 'none' }
    const text = (maxAttempts: number): string => calls(upstream.url, maxAttempts, { retry: { maxAttempts, backoff } })
    const dir = await stage.policyDir({ [FILE]: text(5) })
    const sidecar = await stage.sidecar(dir)
    const waiting = sidecar.call('/payments/x')
    await until('the first attempt', () => upstream.hits === 1)
    await dir.write(FILE, text(1))
    await sidecar.admin('/reload', { method: 'POST' })
    expect([(await waiting).status, upstream.hits]).toEqual([503, 1])
  })

  test('neither closes an open breaker nor forgets it', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const text = (maxAttempts: number): string => calls(upstream.url, maxAttempts, { breaker: { openFor: '15s' } })
    const dir = await stage.policyDir({ [FILE]: text(1) })
    const sidecar = await stage.sidecar(dir)
    const isOpen = async (): Promise<boolean> => (await sidecar.upstreamStatus('payments')).breaker.state === 'open'
    await until('the breaker opens', async () => (await attempts(sidecar)) === 0 && (await isOpen()))
    const { generation } = await sidecar.status()
    await dir.write(FILE, text(4))
    await until('the edit', async () => (await sidecar.status()).generation > generation, EDIT_MS)
    expect(await isOpen()).toBe(true)
    expect(await attempts(sidecar)).toBe(0)
  })

  test('that adds an upstream opens its listener, and one that removes it closes it', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const port = await freePort()
    const dir = await stage.configMapDir({ [FILE]: calls(upstream.url, 1) })
    const sidecar = await stage.sidecar(dir)
    expect(await listens(port)).toBe(false)
    const more = toYaml(upstreamDoc('ledger', upstream.url, { listen: `127.0.0.1:${port}` }))
    await dir.swap({ [FILE]: calls(upstream.url, 1), 'ledger.yaml': more })
    await until('the listener of the new upstream', () => listens(port), POLL_MS)
    expect((await sidecar.call('/ledger/x')).text).toBe('fine')
    await dir.swap({ [FILE]: calls(upstream.url, 1) })
    await until('the listener is gone', async () => !(await listens(port)), POLL_MS)
    expect((await sidecar.call('/ledger/x')).status).toBe(404)
    expect((await sidecar.call('/payments/x')).status).toBe(200)
  })

  test('under load loses no request', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ delayMs: 30, body: 'fine' })
    const dir = await stage.configMapDir({ [FILE]: calls(upstream.url, 1) })
    const sidecar = await stage.sidecar(dir)
    const load = openLoop({ perSecond: 60, forMs: 4_000, send: () => sidecar.call('/payments/x') })
    for (let n = 1; n <= 6; n++) {
      await sleep(500)
      await dir.swap({ [FILE]: calls(upstream.url, n % 3 ? n : 1, { pool: { maxConnections: 100 + n } }) })
    }
    const shots = await load
    expect(shots.length).toBe(240)
    expect(failures(shots)).toEqual({})
    expect((await sidecar.status()).generation).toBeGreaterThan(1)
  })

  test.for(['SIGHUP', 'POST /reload'])('is also read by hand with %s', async (by, { stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const dir = await stage.policyDir({ [FILE]: calls(upstream.url, 1) })
    const sidecar = await stage.sidecar(dir)
    await dir.write(FILE, calls(upstream.url, 2))
    if (by === 'SIGHUP') sidecar.signal('SIGHUP')
    else expect((await sidecar.admin('/reload', { method: 'POST' })).status).toBeLessThan(300)
    await followed('the edit', sidecar, 2, EDIT_MS)
  })
})
