/** The life of one pod as `inject` makes it, from the app's first call to its last. */
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest'
import { until } from '../../e2e/harness/time.js'
import { Cluster, type Placed, told } from './cluster.js'
import { type HttpAnswer, whyNoPods } from './sandbox.js'
import { ask, callingWhile } from './service.js'

const ADMIN = { host: '127.0.0.1', port: 15081 }
const PER_SECOND = 30

const FORMS = [
  ['native', { native: true, links: 'after' }, 20],
  ['classic', { native: false, links: 'before' }, 5],
] as const

const why = whyNoPods()

describe.skipIf(why !== null)('a pod', { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.create()
  }, 60_000)
  afterAll(() => cluster.close())

  const admin = ({ pod }: Placed, path: string, method = 'GET', headers = {}): Promise<HttpAnswer> =>
    pod.sandbox.http({ ...ADMIN, path, method, headers })

  async function status(placed: Placed): Promise<{ generation: number; lastReloadError: unknown }> {
    return JSON.parse((await admin(placed, '/status')).body)
  }

  describe.each(FORMS)('of the %s form', (_, form, reloads) => {
    let placed: Placed
    beforeAll(async () => {
      placed = await cluster.run({ ...form, env: { APP_LAST_MS: '1500' } })
    }, 60_000)

    it('gives its app a first call that succeeds', () => {
      console.log(`first call answered ${told(placed, 'atMs')[0]} ms after the app's start`)
      expect(told(placed, 'first')).toEqual([200])
    })

    it('is probed at its address, where nobody can change anything', async () => {
      onTestFailed(() => console.error(cluster.report))
      const { sandbox } = placed.pod
      expect(await placed.pod.ready()).toBe(true)
      expect(await sandbox.http({ port: 15082, path: '/livez' })).toMatchObject({ status: 200 })
      expect(await sandbox.http({ port: 15082, path: '/quitquitquit', method: 'POST' })).toMatchObject({ status: 404 })
      for (const port of [15080, 15081]) {
        const answer = await sandbox.http({ port, path: '/quitquitquit', method: 'POST' })
        expect(answer).toMatchObject({ status: 0, body: 'ECONNREFUSED' })
      }
    })

    it('is not ended by a GET, by another Host or by a page of another origin', async () => {
      expect(await admin(placed, '/quitquitquit')).toMatchObject({ status: 405 })
      expect(await admin(placed, '/quitquitquit', 'POST', { host: 'shop.example' })).toMatchObject({ status: 403 })
      const origin = 'http://shop.example'
      expect(await admin(placed, '/quitquitquit', 'POST', { origin })).toMatchObject({ status: 403 })
      expect(await placed.pod.ready()).toBe(true)
    })

    it(`loses no call over ${reloads} edits, each of which is in force`, async () => {
      onTestFailed(() => console.error(cluster.report))
      const edits = async () => {
        for (let edit = 1; edit <= reloads; edit++) {
          await cluster.edit(placed, {
            ...cluster.policies('payments'),
            [`of-${edit}.yaml`]: cluster.policies(`ledger-${edit}`)['upstreams.yaml'] ?? '',
          })
          await until(`edit ${edit} is in force`, async () => (await ask(placed, `/ledger-${edit}/x`)) === 200, 10_000)
        }
      }
      const tally = await callingWhile(PER_SECOND, () => ask(placed, '/payments/x'), edits())
      expect(tally.lost).toEqual({})
      expect(tally.sent).toBeGreaterThan(reloads)
      expect((await status(placed)).generation).toBe(1 + reloads)
    })

    it('goes on as before when an edit is wrong', async () => {
      const before = await status(placed)
      await cluster.edit(placed, { ...cluster.policies('refunds'), 'broken.yaml': 'kind: Upstream\nspec: {\n' })
      await until('it is told', async () => (await status(placed)).lastReloadError !== null, 10_000)
      expect((await status(placed)).generation).toBe(before.generation)
      expect(await placed.pod.ready()).toBe(true)
      expect([await ask(placed, '/payments/x'), await ask(placed, '/refunds/x')]).toEqual([200, 404])
    })

    it("serves its app's last calls, and all of it ends in good order", async () => {
      onTestFailed(() => console.error(cluster.report))
      const { exits, signalledMs, killed } = await placed.pod.terminate()
      const last = told(placed, 'last')
      expect(last.length).toBeGreaterThan(5)
      expect(new Set(last)).toEqual(new Set([200]))
      expect(killed).toEqual([])
      expect([exits.get('app')?.code, exits.get('forbear')?.code]).toEqual([0, 0])
      const appEndedMs = exits.get('app')?.atMs ?? Number.NaN
      expect((signalledMs.get('forbear') ?? Number.NaN) > appEndedMs).toBe(form.native)
      expect(exits.get('forbear')?.atMs).toBeGreaterThan(appEndedMs)
      expect(placed.pod.sandbox.complaints('forbear')).toEqual([])
    })
  })
})
