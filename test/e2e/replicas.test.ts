import { expect } from 'vitest'
import { failures, okRatio, openLoop } from './harness/load.js'
import { upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { seeded } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

/**
 * Ten replicas behind one address; every connection lands on one of them at random and stays there, as with a Kubernetes
 * Service. Replica 0 answers 503 after 1 ms, the others 200 after 15 ms.
 */
async function tenReplicas(stage: Stage): Promise<{ upstream: Upstream; sidecar: Sidecar }> {
  const upstream = await stage.upstream({ replicas: 10, random: seeded(20_261_130) })
  upstream.runs(({ received }) =>
    received.replica === 0 ? { status: 503, delayMs: 1, body: 'sick' } : { delayMs: 15, body: 'fine' },
  )
  return { upstream, sidecar: await stage.sidecar([upstreamDoc('payments', upstream.url)]) }
}

const transitions = async (sidecar: Sidecar): Promise<number> =>
  (await sidecar.metrics()).sum('forbear_breaker_transitions_total')

/**
 * An implementation that chooses a connection for a retry at random fails 0.1⁵ of the requests, so any failure here is a
 * fault of choice, not of chance; 0.5 % is what the contract allows.
 */
test.for([
  [5, 8_000],
  [50, 6_000],
  [300, 6_000],
] as const)(
  'with one sick replica of ten at %i rps at least 99.5 % succeed and the breaker never opens',
  async ([perSecond, forMs], { stage }) => {
    const { upstream, sidecar } = await tenReplicas(stage)
    const shots = await openLoop({ perSecond, forMs, send: () => sidecar.call('/payments/x') })
    expect(okRatio(shots), JSON.stringify(failures(shots))).toBeGreaterThanOrEqual(0.995)
    expect(upstream.hits).toBeLessThanOrEqual(1.2 * shots.length + 5)
    expect(await transitions(sidecar)).toBe(0)
  },
)

test('a replica that goes sick under load is avoided within the same bounds', async ({ stage }) => {
  const { upstream, sidecar } = await tenReplicas(stage)
  let sick = -1
  upstream.runs(({ received }) =>
    received.replica === sick ? { instead: 'reset', delayMs: 1 } : { delayMs: 15, body: 'fine' },
  )
  setTimeout(() => {
    sick = 3
  }, 1_500)
  const shots = await openLoop({ perSecond: 100, forMs: 4_000, send: () => sidecar.call('/payments/x') })
  expect(okRatio(shots), JSON.stringify(failures(shots))).toBeGreaterThanOrEqual(0.995)
  expect(await transitions(sidecar)).toBe(0)
})

/** Every second attempt fails, so of the attempts exactly half are good: no margin is needed. */
test('with a constant half of failures at least the good half is served', async ({ stage }) => {
  const upstream = (await stage.upstream()).runs(({ received }) =>
    received.n % 2 ? { status: 503, delayMs: 5 } : { delayMs: 5, body: 'fine' },
  )
  const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url)])
  const shots = await openLoop({ perSecond: 100, forMs: 5_000, send: () => sidecar.call('/payments/x') })
  expect(okRatio(shots), JSON.stringify(failures(shots))).toBeGreaterThanOrEqual(0.5)
  expect(upstream.hits).toBeLessThanOrEqual(1.2 * shots.length + 5)
  expect(await transitions(sidecar)).toBe(0)
})

/** Random halves: of 500 requests the share served has σ ≤ 2.3 %; the margin is three of them. */
test('with a random half of failures about the good half is served', async ({ stage }) => {
  const random = seeded(7)
  const upstream = (await stage.upstream()).runs(() =>
    random() < 0.5 ? { status: 503, delayMs: 5 } : { delayMs: 5, body: 'fine' },
  )
  const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url)])
  const shots = await openLoop({ perSecond: 100, forMs: 5_000, send: () => sidecar.call('/payments/x') })
  expect(okRatio(shots), JSON.stringify(failures(shots))).toBeGreaterThanOrEqual(0.43)
})

test('90 % of 404 opens nothing and repeats nothing', async ({ stage }) => {
  const upstream = (await stage.upstream()).runs(({ received }) => (received.n % 10 ? { status: 404 } : {}))
  const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url)])
  const shots = await openLoop({ perSecond: 150, forMs: 2_000, send: () => sidecar.call('/payments/x') })
  expect(upstream.hits).toBe(shots.length)
  expect(shots.filter(shot => shot.status === 404).length).toBe(shots.length * 0.9)
  expect(shots.every(shot => shot.outcome === 'delivered')).toBe(true)
  expect(await transitions(sidecar)).toBe(0)
  expect((await sidecar.upstreamStatus('payments')).breaker.state).toBe('closed')
})
