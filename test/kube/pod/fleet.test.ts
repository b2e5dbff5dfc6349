/** Twenty pods of one service under load: an edit reaches all of them, a restart goes through them. */
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest'
import { sleep } from '../../e2e/harness/time.js'
import { Cluster, type Placed, told } from './cluster.js'
import type { Termination } from './pod.js'
import { whyNoPods } from './sandbox.js'
import { ask, callingWhile, Service } from './service.js'

const PODS = 20
/** Pods that start, or end, at a time. */
const BATCH = 4
const PER_SECOND = 10
/** After SIGTERM an app goes on for so long: until then balancers may not have heard of it. */
const LINGER_MS = 1_000
/** Sixty processes start here, and as many again: on a busy machine that takes minutes. */
const PATIENCE_MS = 240_000
const LOOK_EVERY_MS = 300

const why = whyNoPods()

describe.skipIf(why !== null)(`${PODS} pods`, { timeout: PATIENCE_MS }, () => {
  let cluster: Cluster
  const service = new Service()
  beforeAll(async () => {
    cluster = await Cluster.create()
    for (const batch of batches()) await Promise.all(batch.map(startOne))
  }, PATIENCE_MS)
  afterAll(() => cluster.close(), 60_000)

  const batches = () =>
    Array.from({ length: PODS / BATCH }, (_, n) => Array.from({ length: BATCH }, (_, k) => n * BATCH + k))

  /** One of a batch is of the classic form. */
  async function startOne(n: number): Promise<void> {
    const env = { APP_IDLE_MS: String(LINGER_MS), APP_LAST_MS: '300' }
    const placed = await cluster.run({ native: n % BATCH > 0, env })
    while (!(await placed.pod.ready())) await sleep(LOOK_EVERY_MS)
    service.add(placed)
  }

  async function generation({ pod }: Placed): Promise<number> {
    const { body } = await pod.sandbox.http({ host: '127.0.0.1', port: 15081, path: '/status' })
    return (JSON.parse(body) as { readonly generation: number }).generation
  }

  /** Asks each pod now and then, for twenty that are asked all the time have no time for anything else. */
  async function everywhere(what: string, test: (placed: Placed) => Promise<boolean>): Promise<void> {
    const deadlineMs = performance.now() + PATIENCE_MS
    const look = async (placed: Placed) => {
      while (!(await test(placed))) {
        if (performance.now() > deadlineMs) throw new Error(`${what}: not in ${placed.pod.address}`)
        await sleep(LOOK_EVERY_MS)
      }
    }
    await Promise.all(service.endpoints.map(look))
  }

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
      await everywhere('the edit is in force', async one => (await ask(one, '/ledger/x')) === 200)
      expect(await Promise.all(service.endpoints.map(generation))).toEqual(Array(PODS).fill(2))
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
    await everywhere('the refusal is told', rejected)
    expect(await Promise.all(service.endpoints.map(({ pod }) => pod.ready()))).toEqual(Array(PODS).fill(true))
    expect(await Promise.all(service.endpoints.map(generation))).toEqual(Array(PODS).fill(2))
    expect(await Promise.all(service.endpoints.map(one => ask(one, '/ledger/x')))).toEqual(Array(PODS).fill(200))
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
  })
})
