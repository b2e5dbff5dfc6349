/** Pods that end, or do not want to. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster, told } from './cluster.js'
import { whyNoPods } from './sandbox.js'

const FORMS = [
  ['native', true],
  ['classic', false],
] as const

const why = whyNoPods()

describe.skipIf(why !== null)('a pod', { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.create()
  }, 60_000)
  afterAll(() => cluster.close())

  describe('that is to end', () => {
    it.concurrent.each(FORMS)('ends in the %s form when its app is done', async (name, native) => {
      const placed = await cluster.run({ native, kind: 'Job', env: { APP_JOB: '5' }, spec: { restartPolicy: 'Never' } })
      const exits = await placed.pod.completed(15_000)
      expect(told(placed, 'job')).toEqual([[200, 200, 200, 200, 200]])
      expect(told(placed, 'quit')).toEqual(name === 'classic' ? [200] : [])
      expect([exits.get('app')?.code, exits.get('forbear')?.code]).toEqual([0, 0])
    })
  })

  describe('whose app is busy', () => {
    it.concurrent.each(FORMS)(
      'in a preStop hook finds its sidecar there after it, in the %s form',
      async (_, native) => {
        const app = { lifecycle: { preStop: { sleep: { seconds: 1 } } } }
        const placed = await cluster.run({ native, app, env: { APP_LAST_MS: '500' } })
        const { killed } = await placed.pod.terminate()
        expect(killed).toEqual([])
        expect(new Set(told(placed, 'last'))).toEqual(new Set([200]))
      },
    )
  })

  describe('whose app takes its time', () => {
    it.concurrent('in a preStop hook finds its sidecar there when that was told to wait', async () => {
      const app = { lifecycle: { preStop: { sleep: { seconds: 3 } } } }
      const placed = await cluster.run({ native: false, app, sidecarArgs: ['--drain-quiet', '6s'] })
      const { killed } = await placed.pod.terminate()
      expect(killed).toEqual([])
      expect(told(placed, 'last')).toEqual([200])
    })

    it.concurrent('until it is killed has had all its calls answered', async () => {
      const placed = await cluster.run({
        native: true,
        env: { APP_STUBBORN: '1' },
        spec: { terminationGracePeriodSeconds: 3 },
      })
      const { killed, exits } = await placed.pod.terminate()
      expect(killed).toContain('app')
      expect(exits.get('app')?.signal).toBe('SIGKILL')
      expect(told(placed, 'last').length).toBeGreaterThan(5)
      expect(new Set(told(placed, 'last'))).toEqual(new Set([200]))
    })
  })
})
