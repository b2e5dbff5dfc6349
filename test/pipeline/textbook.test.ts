/** Why the defaults are not those of the textbooks: the figures that `policies/README.md` gives. */
import { expect, it } from 'vitest'
import { builtIn, shown } from './support/policy-files.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { reply } from './support/upstream.js'

checkEveryEnding()

const TEXTBOOK = shown('textbook')
const DEFAULTS = builtIn()
/** The same but for the one section. */
const TEXTBOOK_BUDGET = { ...DEFAULTS, budget: TEXTBOOK.budget }
const TEXTBOOK_BREAKER = { ...DEFAULTS, breaker: TEXTBOOK.breaker }

/** Uniform in [0, 1), the same at each run. */
function seeded(): () => number {
  let state = 7
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Scene {
  readonly seconds: number
  /** Of ten replicas, at a time in ms from the beginning. */
  readonly dead: (atMs: number) => number
}

const PER_SECOND = 100

/** 100 calls a second to ten replicas behind a balancer that gives each attempt to any of them. Shares of the calls. */
async function play(policy: typeof DEFAULTS, { seconds, dead }: Scene) {
  const random = seeded()
  const stage = new Stage(policy, { random })
  const startMs = stage.clock.nowMs()
  stage.upstream.decides(() => {
    const sick = 10 * random() < dead(stage.clock.nowMs() - startMs)
    return sick ? reply(503, { afterMs: 2 }) : reply(200, { afterMs: 10 + 10 * random() })
  })
  for (let n = 0; n < PER_SECOND * seconds; n++) {
    stage.get(`/${n}`)
    await stage.run(1000 / PER_SECOND)
  }
  await stage.finish()
  const share = (n: number) => n / stage.calls.length
  const served = stage.calls.filter(call => call.status === 200).length
  const refused = stage.calls.filter(call => call.attempts === 0).length
  const unsaved = stage.calls.filter(call => call.outcome === 'budget-exhausted').length
  return { served: share(served), refused: share(refused), unsaved: share(unsaved) }
}

it('with one of ten replicas dead a budget of 10 % lets over 1 % of the calls fail, the built-in one hardly any', async () => {
  const scene = { seconds: 60, dead: () => 1 }
  const textbook = await play(TEXTBOOK_BUDGET, scene)
  const ours = await play(DEFAULTS, scene)
  expect(textbook.served).toBeLessThan(0.99)
  expect(textbook.unsaved).toBeCloseTo(1 - textbook.served)
  expect(ours.served).toBeGreaterThan(0.995)
})

it('with half of the replicas dead a breaker at 50 % refuses calls that would be served', async () => {
  const scene = { seconds: 60, dead: () => 5 }
  const textbook = await play(TEXTBOOK_BREAKER, scene)
  const ours = await play(DEFAULTS, scene)
  expect(textbook.served).toBeLessThan(0.05)
  expect(textbook.refused).toBeGreaterThan(0.9)
  expect(ours.served).toBeGreaterThan(0.5)
})

it('for an outage of three seconds it refuses calls for five or more', async () => {
  const scene = { seconds: 30, dead: (atMs: number) => (atMs >= 10_000 && atMs < 13_000 ? 10 : 0) }
  const textbook = await play(TEXTBOOK_BREAKER, scene)
  const ours = await play(DEFAULTS, scene)
  expect(textbook.refused * scene.seconds).toBeGreaterThan(5)
  expect(ours.refused * scene.seconds).toBeLessThan(4)
})
