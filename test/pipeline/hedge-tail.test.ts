import { expect, it } from 'vitest'
import type { PolicyPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { reply } from './support/upstream.js'

checkEveryEnding()

const HEDGE = {
  hedge: { mode: 'enabled', after: { kind: 'quantile', q: 0.95 }, minSamples: 100, floorMs: 5 },
} as const

/** Same luck at each run. */
function seeded(): () => number {
  let state = 7
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** 8 to 12 ms, of which so many are 50 times slower; 100 calls a second. */
async function serve(stage: Stage, seconds: number, slowShare: number) {
  const random = seeded()
  stage.upstream.decides(() => reply(200, { afterMs: (8 + 4 * random()) * (random() < slowShare ? 50 : 1) }))
  const first = stage.calls.length
  const before = stage.upstream.sent.length
  const starts: number[] = []
  for (let n = 0; n < 100 * seconds; n++) {
    starts.push(stage.clock.nowMs())
    stage.get(`/${first + n}`)
    await stage.run(10)
  }
  await stage.run(2000)
  const calls = stage.calls.slice(first)
  const took = calls.map((call, n) => (call.answeredAtMs as number) - (starts[n] as number)).sort((a, b) => a - b)
  return {
    p999Ms: took[Math.ceil(0.999 * took.length) - 1] as number,
    extra: (stage.upstream.sent.length - before - calls.length) / calls.length,
    good: calls.every(call => call.status === 200),
  }
}

async function warmed(policy: PolicyPart): Promise<Stage> {
  const stage = new Stage(policy)
  await serve(stage, 5, 0)
  return stage
}

it('where 1 % of the answers are 50 times slower, p99.9 falls at least five times for at most 5 % more calls', async () => {
  const plain = await serve(await warmed({}), 100, 0.01)
  const hedged = await serve(await warmed(HEDGE), 100, 0.01)
  expect([plain.extra, plain.good, hedged.good]).toEqual([0, true, true])
  expect(plain.p999Ms / hedged.p999Ms).toBeGreaterThanOrEqual(5)
  expect(hedged.extra).toBeLessThanOrEqual(0.05)
  expect(hedged.extra).toBeGreaterThan(0.005)
})

it('where every answer has become slow, hedges cost no more than half of the budget, and p95 follows', async () => {
  const stage = await warmed(HEDGE)
  const brown = await serve(stage, 60, 1)
  expect(brown.good).toBe(true)
  expect(brown.extra).toBeLessThanOrEqual(0.1)
  expect(stage.status().hedge.afterMs).toBeGreaterThan(400)
})
