import { describe, expect } from 'vitest'
import { Balancer, type Balancing } from './harness/balancer.js'
import { failures, okRatio, openLoop, type Shot } from './harness/load.js'
import { type Document, upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { sleep } from './harness/time.js'
import type { Behaviour, Upstream } from './harness/upstream.js'

interface Scene {
  readonly replicas: readonly Upstream[]
  readonly balancer: Balancer
  readonly sidecar: Sidecar
}

const fine: Behaviour = { delayMs: 15, body: 'fine' }

/** Without a clock nobody can tell a replica that hangs from one that is slow; far above what a busy machine adds. */
const IMPATIENT = { timeouts: { attempt: '1500ms' } }

const SICKNESSES: Readonly<Record<string, Behaviour>> = {
  'answers 503 in a millisecond': { status: 503, delayMs: 1, body: 'sick' },
  resets: { instead: 'reset', delayMs: 1 },
  hangs: { instead: 'hang' },
}

async function tenBehind(stage: Stage, balancing: Balancing, spec: Document = {}): Promise<Scene> {
  const replicas = await Promise.all(Array.from({ length: 10 }, () => stage.upstream()))
  for (const replica of replicas) replica.plays(fine)
  const balancer = await Balancer.start(balancing, replicas)
  stage.later(() => balancer.close())
  const sidecar = await stage.sidecar([upstreamDoc('payments', balancer.url, spec)], ['--access-log', 'errors'])
  return { replicas, balancer, sidecar }
}

const load = ({ sidecar }: Scene, perSecond: number, forMs: number): Promise<Shot[]> =>
  openLoop({ perSecond, forMs, send: () => sidecar.call('/payments/x') })

async function expectCalm({ replicas, sidecar }: Scene, shots: readonly Shot[], okAtLeast: number): Promise<void> {
  expect(okRatio(shots), JSON.stringify(failures(shots))).toBeGreaterThanOrEqual(okAtLeast)
  const metrics = await sidecar.metrics()
  const sent = metrics.sum('forbear_requests_total')
  expect(replicas.reduce((sum, replica) => sum + replica.hits, 0)).toBeLessThanOrEqual(1.2 * sent + 5)
  expect(metrics.sum('forbear_breaker_transitions_total')).toBe(0)
}

async function oneSick(stage: Stage, balancing: Balancing, sickness: string, perSecond: number): Promise<void> {
  const behaviour = SICKNESSES[sickness] as Behaviour
  const scene = await tenBehind(stage, balancing, behaviour.instead === 'hang' ? IMPATIENT : {})
  scene.replicas[3]?.plays(behaviour)
  const shots = await load(scene, perSecond, 4_000)
  // The budget follows the first attempts of the last second, so what fails after the last of them is no measure.
  const lastMs = shots.at(-1)?.startedMs ?? 0
  const settled = shots.filter(shot => shot.endedMs < lastMs)
  await expectCalm(scene, settled, 0.995)
  expect(settled.length).toBeGreaterThan(shots.length / 2)
  expect(scene.replicas[3]?.hits).toBeGreaterThan(0)
}

async function oneKilled(stage: Stage, balancing: Balancing, perSecond: number): Promise<void> {
  const scene = await tenBehind(stage, balancing)
  const shots = load(scene, perSecond, 4_000)
  await sleep(1_500)
  const killed = scene.replicas[7] as Upstream
  await killed.close()
  // For a second the balancer still sends calls into the void.
  await sleep(1_000)
  scene.balancer.remove(killed)
  await expectCalm(scene, await shots, 1)
}

describe.each(['connection', 'request'] as const)('behind a balancer that chooses for each %s', balancing => {
  describe.concurrent('at 50 rps at least 99.5 % succeed and the breaker never opens when one of ten', () => {
    for (const sickness of Object.keys(SICKNESSES)) {
      test(sickness, ({ stage }) => oneSick(stage, balancing, sickness, 50))
    }
  })

  test('the same at 300 rps when one of ten answers 503 in a millisecond', ({ stage }) =>
    oneSick(stage, balancing, 'answers 503 in a millisecond', 300))

  test('no GET is lost and the breaker never opens when one of ten is killed at 300 rps', ({ stage }) =>
    oneKilled(stage, balancing, 300))
})
