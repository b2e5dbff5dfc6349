import { describe, expect } from 'vitest'
import { failures, okRatio, openLoop, type Shot } from './harness/load.js'
import { upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { seeded, sleep } from './harness/time.js'
import type { Upstream, UpstreamOptions } from './harness/upstream.js'

interface Scene {
  readonly upstream: Upstream
  readonly sidecar: Sidecar
}

const fine = { delayMs: 15, body: 'fine' }

async function scene(stage: Stage, options: UpstreamOptions = {}): Promise<Scene> {
  const upstream = await stage.upstream(options)
  return { upstream, sidecar: await stage.sidecar([upstreamDoc('payments', upstream.url)]) }
}

/** Every connection lands on one of ten replicas at random and stays there, as with a Kubernetes Service. */
const tenReplicas = (stage: Stage): Promise<Scene> => scene(stage, { replicas: 10, random: seeded(20_261_130) })

const load = ({ sidecar }: Scene, perSecond: number, forMs: number): Promise<Shot[]> =>
  openLoop({ perSecond, forMs, send: () => sidecar.call('/payments/x') })

async function expectCalm({ upstream, sidecar }: Scene, shots: readonly Shot[], okAtLeast: number): Promise<void> {
  expect(okRatio(shots), JSON.stringify(failures(shots))).toBeGreaterThanOrEqual(okAtLeast)
  expect(upstream.hits).toBeLessThanOrEqual(1.2 * shots.length + 5)
  expect((await sidecar.metrics()).sum('forbear_breaker_transitions_total')).toBe(0)
}

/**
 * Five attempts that each choose a connection by chance would fail 0.1⁵ of the requests, so a failure here is a fault of
 * choice; 0.5 % is what the contract allows.
 */
async function oneSickOfTen(stage: Stage, perSecond: number, forMs: number): Promise<void> {
  const stand = await tenReplicas(stage)
  stand.upstream.runs(({ received }) => (received.replica === 0 ? { status: 503, delayMs: 1, body: 'sick' } : fine))
  await expectCalm(stand, await load(stand, perSecond, forMs), 0.995)
}

// Little load each, so these share their time.
describe.concurrent('at a low rate', () => {
  test('with one sick replica of ten at 5 rps at least 99.5 % succeed and the breaker never opens', ({ stage }) =>
    oneSickOfTen(stage, 5, 8_000))

  test('with one sick replica of ten at 50 rps at least 99.5 % succeed and the breaker never opens', ({ stage }) =>
    oneSickOfTen(stage, 50, 6_000))

  /** Every second attempt fails, so of the attempts exactly half are good: no margin is needed. */
  test('with a constant half of failures at least the good half is served', async ({ stage }) => {
    const stand = await scene(stage)
    stand.upstream.runs(({ received }) => (received.n % 2 ? { status: 503, delayMs: 15 } : fine))
    await expectCalm(stand, await load(stand, 60, 5_000), 0.5)
  })
})

describe('at a higher rate', () => {
  test('with one sick replica of ten at 300 rps at least 99.5 % succeed and the breaker never opens', ({ stage }) =>
    oneSickOfTen(stage, 300, 5_000))

  test('a replica that goes sick under load is avoided within the same bounds', async ({ stage }) => {
    const stand = await tenReplicas(stage)
    let sick = -1
    stand.upstream.runs(({ received }) => (received.replica === sick ? { instead: 'reset', delayMs: 1 } : fine))
    const shots = load(stand, 100, 3_500)
    await sleep(1_500)
    sick = 3
    await expectCalm(stand, await shots, 0.995)
  })

  /** Of 400 requests the share that a fair coin serves has σ = 2.5 %; the margin is three of them. */
  test('with a random half of failures about the good half is served', async ({ stage }) => {
    const stand = await scene(stage)
    const random = seeded(7)
    stand.upstream.runs(() => (random() < 0.5 ? { status: 503, delayMs: 5 } : fine))
    const shots = await load(stand, 100, 4_000)
    expect(okRatio(shots), JSON.stringify(failures(shots))).toBeGreaterThanOrEqual(0.425)
  })

  test('90 % of 404 opens nothing and repeats nothing', async ({ stage }) => {
    const stand = await scene(stage)
    stand.upstream.runs(({ received }) => (received.n % 10 ? { status: 404 } : {}))
    const shots = await load(stand, 150, 2_000)
    expect(shots.filter(shot => shot.status === 404).length).toBe(270)
    expect(shots.every(shot => shot.outcome === 'delivered')).toBe(true)
    expect(stand.upstream.hits).toBe(300)
    await expectCalm(stand, shots, 0.1)
  })
})
