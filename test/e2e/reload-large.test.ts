import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { loadAtStart } from '../../src/policy/load-in-worker.js'
import { failures, openLoop } from './harness/load.js'
import { ample, PolicyDir, toYaml, upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { test } from './harness/stage.js'
import { until } from './harness/time.js'

const UPSTREAMS = 200
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']

/** About 1.3 KB each. */
const documentOf = (n: number, target: string, status = 503): string =>
  toYaml(
    upstreamDoc(`service-${n}`, target, {
      match: { hosts: [`service-${n}.internal`] },
      retry: { retryOn: ['connect', status], maxAttempts: 2, backoff: { base: '10ms', jitter: 'none' } },
      budget: ample,
      routes: METHODS.map((method, at) => ({
        name: `route-${at}`,
        match: { methods: [method], path: `/v${at}/orders/{id}` },
        timeouts: { attempt: `${at + 15}s`, total: '20s' },
        retry: { backoff: { kind: 'exponential', base: `${100 + at}ms`, cap: '2s' } },
      })),
    }),
  )

const filesOf = (documents: readonly string[], count: number): Record<string, string> => {
  const per = Math.ceil(documents.length / count)
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `part-${at}.yaml`,
      documents.slice(at * per, (at + 1) * per).join('---\n'),
    ]),
  )
}

const documents = (target: string, count = UPSTREAMS) => Array.from({ length: count }, (_, n) => documentOf(n, target))

/** The line of the reload after that many before it. */
const reloadLine = (sidecar: Sidecar, before: number) =>
  until(
    'the reload is told',
    () => sidecar.logs.filter(line => line['trigger'] && line['trigger'] !== 'start')[before],
    20_000,
  )

/** Processor time: a crowded machine does not lengthen it. */
function costMs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

describe.for([1, UPSTREAMS])('200 upstreams with five routes each, in %i file(s), under load', fileCount => {
  test('take an edit of one document without losing a request or parsing another', { timeout: 120_000 }, async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const set = documents(upstream.url)
    const dir = await stage.configMapDir(filesOf(set, fileCount))
    const sidecar = await stage.sidecar(dir, ['--access-log', 'off'])
    let over = false
    const shots = openLoop({
      perSecond: 100,
      forMs: 30_000,
      send: n => sidecar.call(`/service-${n % UPSTREAMS}/v0/orders/${n}`),
      stop: () => over,
    })
    for (const [n, comment] of ['# moves all below\n', ''].entries()) {
      set[100] = comment + documentOf(100, upstream.url, 500 + n)
      await dir.swap(filesOf(set, fileCount))
      expect(await reloadLine(sidecar, n)).toMatchObject({ result: 'applied', documentsParsed: 1, generation: n + 2 })
    }
    over = true
    expect(failures(await shots)).toEqual({})
    upstream.plays({ status: 501 })
    expect((await sidecar.call('/service-100/v0/orders/1')).headers['forbear-attempts']).toBe('2')
    expect((await sidecar.call('/service-99/v0/orders/1')).headers['forbear-attempts']).toBe('1')
  })
})

test.skipIf(process.platform !== 'linux')(
  'an edit costs the thread that serves requests a fraction of what parsing all would (needs /proc)',
  { timeout: 120_000 },
  async ({ stage }) => {
    const set = documents('http://127.0.0.1:1')
    const dir = await stage.configMapDir(filesOf(set, 4))
    const sidecar = await stage.sidecar(dir)
    /** Processor time of the sidecar's first thread so far. */
    const ranMs = async () =>
      Number((await readFile(`/proc/${sidecar.pid}/task/${sidecar.pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6
    const before = await ranMs()
    for (let n = 0; n < 3; n++) {
      set[100] = documentOf(100, 'http://127.0.0.1:1', 500 + n)
      await dir.swap(filesOf(set, 4))
      expect(await reloadLine(sidecar, n)).toMatchObject({ result: 'applied', documentsParsed: 1 })
    }
    const perEditMs = ((await ranMs()) - before) / 3
    expect(perEditMs).toBeLessThan(costMs(() => loadAtStart(dir.path, 'all')) / 4)
  },
)

/** Comments make a document as long as one likes. */
const padded = (text: string, bytes: number): string => {
  const line = `# ${'x'.repeat(97)}\n`
  return text + line.repeat(Math.floor((bytes - text.length) / line.length))
}

const MIB = 1024 * 1024

test('files of 1 MiB each are loaded and reloaded', { timeout: 120_000 }, async ({ stage }) => {
  const upstream = (await stage.upstream()).plays({ body: 'fine' })
  const set = documents(upstream.url, 600)
  const files = filesOf(set, 2)
  const dir = await stage.policyDir({ ...files, 'long.yaml': padded(documentOf(600, upstream.url), MIB) })
  const sidecar = await stage.sidecar(dir)
  expect(Object.keys((await sidecar.status()).upstreams)).toHaveLength(601)
  await dir.write('long.yaml', padded(documentOf(600, upstream.url, 504), MIB))
  expect(await reloadLine(sidecar, 0)).toMatchObject({ result: 'applied', documentsParsed: 1 })
})

test('a larger file is refused with its size, and the rest stays in force', async ({ stage }) => {
  const upstream = (await stage.upstream()).plays({ body: 'fine' })
  const dir = await stage.policyDir({ 'a.yaml': documentOf(0, upstream.url) })
  const sidecar = await stage.sidecar(dir)
  await dir.write('b.yaml', padded('', MIB + 200))
  const { messages } = await reloadLine(sidecar, 0)
  expect(messages).toEqual([expect.stringMatching(/b\.yaml {2}has \d+ bytes; at most 1048576 are read \[FB004\]$/)])
  expect((await sidecar.call('/service-0/v0/orders/1')).text).toBe('fine')
})

test('aliases that would explode are refused in less than an honest set takes', async ({ stage }) => {
  const honest = await PolicyDir.create(filesOf(documents('http://127.0.0.1:1'), 1))
  const layers = Array.from({ length: 12 }, (_, n) => `x-${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`)
  const bomb = await PolicyDir.create({})
  await writeFile(
    join(bomb.path, 'a.yaml'),
    `x-0: &a0 [1]\n${layers.join('\n')}\n${documentOf(0, 'http://127.0.0.1:1')}`,
  )
  stage.later(() => Promise.all([honest.dispose(), bomb.dispose()]))
  const honestMs = costMs(() => loadAtStart(honest.path, 'all'))
  const bombMs = costMs(() => {
    const { loaded } = loadAtStart(bomb.path, 'all')
    expect(loaded.messages.map(({ code }) => code)).toEqual(['FB013'])
  })
  expect(bombMs).toBeLessThan(honestMs / 4)
})
