/** Twenty pods of one service under load: an edit reaches all of them, a restart goes through them. */
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest'
import { sleep, until } from '../../e2e/harness/time.js'
import { Cluster, type Placed, told } from './cluster.js'
import type { Termination } from './pod.js'
import { whyNoPods } from './sandbox.js'
import { ask, callingWhile, Service } from './service.js'

const PODS = 20
/** Pods that start, or end, at a time. */
const BATCH = 4
const PER_SECOND = 40
/** After SIGTERM an app goes on for so long: until then balancers may not have heard of it. */
const LINGER_MS = 1_000
const PATIENCE_MS = 60_000

const why = whyNoPods()

describe.skipIf(why !== null)(`${PODS} pods`, () => {
  let cluster: Cluster
  const service = new Service()
  beforeAll(async () => {
    cluster = await Cluster.create()
    for (const batch of batches()) await Promise.all(batch.map(startOne))
  }, 120_000)
  afterAll(() => cluster.close(), 60_000)

  const batches = () =>
    Array.from({ length: PODS / BATCH }, (_, n) => Array.from({ length: BATCH }, (_, k) => n * BATCH + k))

  /** Half of them of each form. */
  async function startOne(n: number): Promise<void> {
    const env = { APP_IDLE_MS: String(LINGER_MS), APP_LAST_MS: '300' }
    const placed = await cluster.run({ native: n % 2 === 0, env })
    await until('it is ready', () => placed.pod.ready(), PATIENCE_MS)
    service.add(placed)
  }

  async function generation({ pod }: Placed): Promise<number> {
    const { body } = await pod.sandbox.http({ port: 15082, path: '/metrics' })
    return Number(/^forbear_policy_generation(?:\{\})? (\d+)$/m.exec(body)?.[1])
  }

  const everywhere = async (test: (placed: Placed) => Promise<boolean>) =>
    (await Promise.all(service.endpoints.map(test))).every(Boolean)

  /** Kubelets write at moments of their own. */
  async function edit(...upstreams: readonly string[]): Promise<void> {
    for (const placed of service.endpoints) {
      await cluster.edit(placed, cluster.policies('payments', ...upstreams))
      await sleep(100)
    }
  }

  it('put an edit in force everywhere, tell its generation, and lose no call over it', async () => {
    onTestFailed(() => console.error(cluster.report))
    const edits = async () => {
      await edit('ledger')
      await until('it is in force', () => everywhere(async one => (await ask(one, '/ledger/x')) === 200), PATIENCE_MS)
      await until('2 is told', () => everywhere(async one => (await generation(one)) === 2), PATIENCE_MS)
    }
    const tally = await callingWhile(PER_SECOND, () => service.call('/payments/x'), edits())
    console.log(`${tally.sent} calls over ${PODS} reloads`)
    expect(tally.lost).toEqual({})
    expect(tally.sent).toBeGreaterThan(PODS)
  })

  it('stay as they are and ready when an edit is wrong', async () => {
    for (const placed of service.endpoints)
      await cluster.edit(placed, { 'upstreams.yaml': 'kind: Upstream\nspec: {\n' })
    const rejected = async ({ pod }: Placed) =>
      pod.sandbox.told('forbear').some(line => String(line['msg']).startsWith('policies rejected'))
    await until('all of them tell', () => everywhere(rejected), PATIENCE_MS)
    expect(await everywhere(({ pod }) => pod.ready())).toBe(true)
    expect(await Promise.all(service.endpoints.map(generation))).toEqual(Array(PODS).fill(2))
    expect(await everywhere(async one => (await ask(one, '/ledger/x')) === 200)).toBe(true)
  })

  it('are restarted one batch after the other without the loss of a call', async () => {
    onTestFailed(() => console.error(cluster.report))
    const ended: Promise<{ readonly old: Placed; readonly termination: Termination }>[] = []
    const restart = async () => {
      const old = service.endpoints
      for (const batch of batches()) {
        await Promise.all(batch.map(startOne))
        for (const one of batch.flatMap(n => old[n] ?? [])) {
          service.remove(one)
          ended.push(one.pod.terminate().then(termination => ({ old: one, termination })))
        }
      }
      await Promise.all(ended)
    }
    const tally = await callingWhile(PER_SECOND, () => service.call('/payments/x'), restart())
    console.log(`${tally.sent} calls over ${PODS} restarts`)
    expect(tally.lost).toEqual({})
    for (const { old, termination } of await Promise.all(ended)) {
      expect(termination.killed).toEqual([])
      expect(new Set(told(old, 'last'))).toEqual(new Set([200]))
    }
  }, 120_000)
})
