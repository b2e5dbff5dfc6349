import { describe, expect } from 'vitest'
import { listens, problem } from './harness/client.js'
import { failures, openLoop } from './harness/load.js'
import { ample, quickRetry, toYaml, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import type { Sidecar } from './harness/sidecar.js'
import { test } from './harness/stage.js'
import { sleep, until } from './harness/time.js'

const FILE = 'payments.yaml'
/** A watched edit is in force within this; where the runtime sends no file events only the poll of 5 s remains. */
const EDIT_MS = 2_000
const POLL_MS = 7_000

/** A policy whose effect can be counted: calls to the upstream for one GET that always fails. */
const calls = (url: string, maxAttempts: number, spec: Record<string, unknown> = {}): string =>
  toYaml(
    upstreamDoc('payments', url, {
      retry: quickRetry({ maxAttempts }),
      budget: ample,
      breaker: { mode: 'disabled' },
      ...spec,
    }),
  )

const attempts = async (sidecar: Sidecar): Promise<number> =>
  Number((await sidecar.call('/payments/x')).headers['forbear-attempts'])

const followed = (what: string, sidecar: Sidecar, expected: number, withinMs: number): Promise<unknown> =>
  until(what, async () => (await attempts(sidecar)) === expected, withinMs)

const rejections = async (sidecar: Sidecar): Promise<number> =>
  (await sidecar.metrics()).sum('forbear_policy_reloads_total', { result: 'rejected' })

describe.concurrent('an edit', () => {
  test('of a file is in force for new requests within two seconds', async ({ stage }) => {
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

  test('of a mounted ConfigMap is in force within two seconds, several in a row too', { timeout: 40_000 }, async ({
    stage,
  }) => {
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
    const old = (await stage.upstream()).plays({ delayMs: 2_500, body: 'old' })
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
    const backoff = { kind: 'fixed', base: '2500ms', jitter: 'none' }
    const text = (maxAttempts: number): string => calls(upstream.url, maxAttempts, { retry: { maxAttempts, backoff } })
    const dir = await stage.policyDir({ [FILE]: text(5) })
    const sidecar = await stage.sidecar(dir)
    const waiting = sidecar.call('/payments/x')
    await until('the first attempt', () => upstream.hits === 1)
    await dir.write(FILE, text(1))
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

describe.concurrent('a broken edit', () => {
  test('keeps the old policy, is told once with file:line:col, and a mended one follows', { timeout: 40_000 }, async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const dir = await stage.policyDir({ [FILE]: calls(upstream.url, 2) })
    const sidecar = await stage.sidecar(dir)
    const { generation, hash } = await sidecar.status()
    await dir.write(FILE, `${calls(upstream.url, 3)}  broken: [\n`)
    const place = /payments\.yaml:\d+:\d+/
    const line = await until('the error line', () => sidecar.errorLines()[0], EDIT_MS)
    expect(JSON.stringify(line)).toMatch(place)
    const status = await sidecar.status()
    expect(status).toMatchObject({ generation, hash })
    expect(status.lastReloadError?.messages.join('\n')).toMatch(place)
    expect(await rejections(sidecar)).toBeGreaterThanOrEqual(1)
    expect(await attempts(sidecar)).toBe(2)
    // Long enough for the poll to come round: the same mistake is not told again.
    await sleep(6_000)
    expect(sidecar.errorLines().length).toBe(1)
    expect(await attempts(sidecar)).toBe(2)
    await dir.write(FILE, calls(upstream.url, 4))
    await followed('the mended file', sidecar, 4, EDIT_MS)
    const mended = await sidecar.status()
    expect(mended.generation).toBeGreaterThan(generation)
    expect(mended.lastReloadError).toBeNull()
  })

  test('of a mounted ConfigMap keeps the old policy too', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const dir = await stage.configMapDir({ [FILE]: calls(upstream.url, 2) })
    const sidecar = await stage.sidecar(dir)
    await dir.swap({ [FILE]: calls(upstream.url, 3).replace('maxAttempts', 'maxAttemps') })
    const line = await until('the error line', () => sidecar.errorLines()[0], POLL_MS)
    expect(JSON.stringify(line)).toMatch(/payments\.yaml:\d+:\d+.*maxAttemps.*maxAttempts/)
    expect(await attempts(sidecar)).toBe(2)
    await dir.swap({ [FILE]: calls(upstream.url, 4) })
    await followed('the mended file', sidecar, 4, POLL_MS)
  })

  test.for([
    ['zero bytes', ''],
    ['only comments', '# later\n'],
    ['half a document', 'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata:\n  na'],
    ['another kind', 'apiVersion: forbear.dev/v1alpha1\nkind: Upstreem\nmetadata: { name: payments }\n'],
  ] as const)('with %s keeps the old policy', async ([, text], { stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const dir = await stage.policyDir({ [FILE]: calls(upstream.url, 2) })
    const sidecar = await stage.sidecar(dir)
    await dir.write(FILE, text)
    await until('the error line', () => sidecar.errorLines()[0], POLL_MS)
    expect(await attempts(sidecar)).toBe(2)
    expect((await sidecar.status()).lastReloadError).not.toBeNull()
  })

  test('that deletes the file keeps the old policy, and a new file is picked up', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const dir = await stage.policyDir({ [FILE]: calls(upstream.url, 2) })
    const sidecar = await stage.sidecar(dir)
    await dir.remove(FILE)
    await until('the error line', () => sidecar.errorLines()[0], POLL_MS)
    expect(await attempts(sidecar)).toBe(2)
    await dir.write(FILE, calls(upstream.url, 3))
    await followed('the new file', sidecar, 3, POLL_MS)
  })
})

describe.concurrent('a bad policy at the start', () => {
  const wrong = toYaml(
    upstreamDoc('payments', 'http://127.0.0.1:1', { retry: { maxAttemps: 0 }, timeouts: { total: '1.5s' } }),
  )

  test('exits 78 with every mistake and binds nothing', async ({ stage }) => {
    const sidecar = await stage.spawn(await stage.policyDir({ [FILE]: wrong }))
    const ports = [sidecar.port, sidecar.adminPort, sidecar.healthPort]
    let everBound = false
    const watching = (async () => {
      while (!sidecar.exit) {
        for (const port of ports) everBound ||= await listens(port)
        await sleep(2)
      }
    })()
    expect((await sidecar.exitWithin(15_000)).code).toBe(78)
    await watching
    expect(everBound).toBe(false)
    expect(sidecar.output).toMatch(/payments\.yaml:\d+:\d+.*maxAttemps/)
    expect(sidecar.output).toMatch(/payments\.yaml:\d+:\d+.*1\.5s/)
  })

  test.for([
    ['an empty directory', {}],
    ['an empty file', { [FILE]: '' }],
  ] as const)('exits 78 with %s', async ([, files], { stage }) => {
    const sidecar = await stage.spawn(await stage.policyDir(files))
    expect((await sidecar.exitWithin(15_000)).code).toBe(78)
    expect(sidecar.output.trim()).not.toBe('')
  })

  test('exits 78 when the directory does not exist', async ({ stage }) => {
    const sidecar = await stage.spawn({ path: '/nonexistent/forbear-policies' })
    expect((await sidecar.exitWithin(15_000)).code).toBe(78)
    expect(sidecar.output).toContain('/nonexistent/forbear-policies')
  })

  test('with --start valid-only starts with what is valid and answers no-policy for the rest', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const dir = await stage.policyDir({ [FILE]: wrong, 'ledger.yaml': toYaml(upstreamDoc('ledger', upstream.url)) })
    const sidecar = await stage.sidecar(dir, ['--start', 'valid-only'])
    expect((await sidecar.call('/ledger/x')).text).toBe('fine')
    const refused = await sidecar.call('/payments/x')
    expect([refused.status, problem(refused).reason]).toEqual([503, 'no-policy'])
    expect(refused.headers['forbear-outcome']).toBe('no-policy')
    expect(sidecar.output).toMatch(/payments\.yaml:\d+:\d+/)
    await dir.write(FILE, toYaml(upstreamDoc('payments', upstream.url)))
    await until('the mended document', async () => (await sidecar.call('/payments/x')).text === 'fine', POLL_MS)
  })
})
