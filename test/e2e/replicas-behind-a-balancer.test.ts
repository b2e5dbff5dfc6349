import { expect } from 'vitest'
import { Balancer, type Balancing } from './harness/balancer.js'
import { failures, okRatio, openLoop, type Shot } from './harness/load.js'
import { upstreamDoc } from './harness/policies.js'
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

async function tenBehind(stage: Stage, balancing: Balancing): Promise<Scene> {
  const replicas = await Promise.all(Array.from({ length: 10 }, () => stage.upstream()))
  for (const replica of replicas) replica.plays(fine)
  const balancer = await Balancer.start(balancing, replicas)
  stage.later(() => balancer.close())
  const sidecar = await stage.sidecar([upstreamDoc('payments', balancer.url)], ['--access-log', 'errors'])
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

// Two hops more than elsewhere share the test's process, so this one takes its turn alone.
test.for(['connection', 'request'] as const)(
  'no GET is lost and the breaker never opens when one of ten is killed at 300 rps, behind a balancer that chooses for each %s',
  (balancing, { stage }) => oneKilled(stage, balancing, 300),
)
