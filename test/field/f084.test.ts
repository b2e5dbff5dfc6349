import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { POLL_MS } from '../e2e/harness/counted-policy.js'
import { toYaml, upstreamDoc } from '../e2e/harness/policies.js'
import { test } from '../e2e/harness/stage.js'
import { until } from '../e2e/harness/time.js'

const FILE = 'policies.yaml'
const NAMES = ['payments', 'ledger', 'stock']

const three = (target: string, total = '5s'): string =>
  toYaml(...NAMES.map(name => upstreamDoc(name, target, { timeouts: { total } })))

type Fault = readonly [what: string, make: (path: string, whole: string) => Promise<unknown>, reason: RegExp]

const FAULTS: readonly Fault[] = [
  ['missing', async () => {}, /no file that ends in \.yaml or \.yml/],
  ['zero bytes', path => writeFile(path, ''), /is empty/],
  ['only comments', path => writeFile(path, '# nothing\n'), /holds only comments/],
  ['half written', (path, whole) => writeFile(path, whole.slice(0, whole.lastIndexOf('total'))), /:\d+:\d+ /],
  ['invalid by schema', (path, whole) => writeFile(path, whole.replace('5s', '5')), /timeouts\.total/],
  ['a directory', path => mkdir(path), /is a directory, not a file/],
]

describe.concurrent('F084: a policy file that went bad is never taken for defaults', () => {
  test('on reload the old policies stay, with one error line, metric and status', { timeout: 90_000 }, async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const whole = three(upstream.url)
    const dir = await stage.policyDir({ [FILE]: whole })
    const path = join(dir.path, FILE)
    const sidecar = await stage.sidecar(dir)
    const { generation, hash } = await sidecar.status()
    for (const [at, [what, make, reason]] of FAULTS.entries()) {
      await rm(path, { recursive: true, force: true })
      await make(path, whole)
      const told = () => sidecar.errorLines().filter(line => reason.test(JSON.stringify(line['messages'])))
      await until(`${what}: the error line`, () => told().length > 0, POLL_MS)
      expect(told(), what).toHaveLength(1)
      const status = await sidecar.status()
      expect(status, what).toMatchObject({ generation, hash })
      expect(status.lastReloadError?.messages.join('\n'), what).toMatch(reason)
      const metrics = await sidecar.metrics()
      expect(metrics.sum('forbear_policy_reloads_total', { result: 'rejected' }), what).toBeGreaterThan(at)
      expect(metrics.sum('forbear_policy_last_reload_successful'), what).toBe(0)
      for (const name of NAMES) expect((await sidecar.call(`/${name}/x`)).text, what).toBe('fine')
    }
    expect(await sidecar.health('/readyz')).toBe(200)
    await rm(path, { recursive: true })
    await writeFile(path, three(upstream.url, '6s'))
    await until('a good edit', async () => (await sidecar.status()).generation > generation, POLL_MS)
    expect((await sidecar.status()).lastReloadError).toBeNull()
    expect((await sidecar.metrics()).sum('forbear_policy_last_reload_successful')).toBe(1)
  })

  test.for(FAULTS)('at the start, %s: exits 78 with the reason', async ([, make, reason], { stage }) => {
    const dir = await stage.policyDir({})
    await make(join(dir.path, FILE), three('http://127.0.0.1:9'))
    const sidecar = await stage.spawn(dir)
    expect((await sidecar.exitWithin(20_000)).code).toBe(78)
    expect(sidecar.output).toMatch(reason)
    expect(sidecar.output).not.toContain('listening')
  })
})
