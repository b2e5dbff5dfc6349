import { describe, expect } from 'vitest'
import { call, listens, problem } from './harness/client.js'
import { attempts, calls, EDIT_MS, FILE, followed, POLL_MS } from './harness/counted-policy.js'
import { toYaml, upstreamDoc } from './harness/policies.js'
import { freePort } from './harness/ports.js'
import type { Sidecar } from './harness/sidecar.js'
import { test } from './harness/stage.js'
import { sleep, until } from './harness/time.js'

const rejections = async (sidecar: Sidecar): Promise<number> =>
  (await sidecar.metrics()).sum('forbear_policy_reloads_total', { result: 'rejected' })

describe('a broken edit', () => {
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

  test('with --start valid-only starts with nothing, too, and goes on when there is something', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const dir = await stage.policyDir({})
    const sidecar = await stage.sidecar(dir, ['--start', 'valid-only'])
    expect((await sidecar.call('/payments/x')).status).toBe(404)
    expect((await sidecar.status()).lastReloadError?.messages.join()).toContain('FB002')
    await dir.write(FILE, toYaml(upstreamDoc('payments', upstream.url)))
    await until('the first document', async () => (await sidecar.call('/payments/x')).text === 'fine', POLL_MS)
    expect((await sidecar.status()).lastReloadError).toBeNull()
  })

  test('with --start valid-only tells who is left out, whose port answers too and stays when the text is torn', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const port = await freePort()
    const spec = { listen: `127.0.0.1:${port}`, retry: { maxAttempts: 0 } }
    const dir = await stage.policyDir({
      [FILE]: toYaml(upstreamDoc('payments', upstream.url, spec)),
      'ledger.yaml': toYaml(upstreamDoc('ledger', upstream.url)),
    })
    const sidecar = await stage.sidecar(dir, ['--start', 'valid-only'])
    const listen = { address: spec.listen, state: 'open', error: null }
    const reload = async () => JSON.parse((await sidecar.admin('/reload', { method: 'POST' })).text)
    expect(await sidecar.status()).toMatchObject({ noPolicy: { payments: { listen } }, kept: [] })
    expect((await call(port, '/x')).status).toBe(503)
    await dir.write(FILE, '')
    // The watcher may have been faster, so the result may be `unchanged`.
    expect(await reload()).toMatchObject({ noPolicy: ['payments'] })
    for (const [at, path] of [
      [port, '/x'],
      [sidecar.port, '/payments/x'],
    ] as const)
      expect(problem(await call(at, path)).reason).toBe('no-policy')
    // In this order, for no set in between is wholly valid.
    await dir.write('ledger.yaml', '# later\n')
    await dir.write(FILE, toYaml(upstreamDoc('payments', upstream.url, { listen: spec.listen })))
    expect(await reload()).toMatchObject({ kept: ['ledger'] })
    expect([(await call(port, '/x')).text, (await sidecar.call('/ledger/x')).text]).toEqual(['fine', 'fine'])
    expect((await sidecar.status()).lastReloadError).not.toBeNull()
  })
})
