import { describe, expect, it } from 'vitest'
import type { PolicyPart } from '../pipeline/support/policy.js'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, type Play, reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

/** Repeats once, and nothing but the budget stands against it. */
const POLICY = { retry: { maxAttempts: 2 }, breaker: { mode: 'disabled' } } as const

/** So many calls fail in one millisecond; how many are repeated. */
async function granted(calls: number, play: Play, part: PolicyPart = {}, successesBefore = 0): Promise<number> {
  const stage = new Stage({ ...POLICY, ...part })
  for (let n = 0; n < successesBefore; n++) {
    stage.get(`/warm-${n}`)
    await stage.run(8_000 / successesBefore)
  }
  await stage.run(1_000)
  const sent = stage.upstream.sent.length
  stage.upstream.plays(play)
  for (let n = 0; n < calls; n++) stage.get(`/${n}`)
  await stage.finish()
  expect(stage.denials.filter(reason => reason === 'budget-exhausted').length).toBe(
    calls - (stage.upstream.sent.length - sent - calls),
  )
  return stage.upstream.sent.length - sent - calls
}

describe('F062 a budget taken from the calls now active collapses when all of them fail together (envoy-mobile#811)', () => {
  it.each([
    ['resets', fail('reset')],
    ['refused connections', fail('connect')],
    ['503', reply(503)],
    ['429', reply(429)],
  ] as readonly [string, Play][])(
    'ten %s at once are granted the floor of the window, five, however quiet it was',
    async (_name, play) => {
      expect(await granted(10, play)).toBe(5)
    },
  )

  it.each([
    [1, 1],
    [5, 5],
    [6, 5],
    // A fifth of the first attempts of that second is more than the floor, but without successes nothing pays for it.
    [1_000, 5],
  ])('of %i that fail at once without a success before, %i are repeated', async (calls, expected) => {
    expect(await granted(calls, fail('reset'))).toBe(expected)
  })

  it.each([
    [40, 10, 5],
    [400, 100, 20],
    [400, 300, 60],
    [400, 1_000, 85],
  ])('after %i successes in the window, %i that fail at once are granted %i', async (before, calls, expected) => {
    // min(floor + 0.2 × successes, max(floor, 0.2 × first attempts of the second))
    expect(await granted(calls, fail('reset'), {}, before)).toBe(expected)
  })

  it.each([
    [{ ratio: 0, minPerSecond: 0 }, 0],
    [{ ratio: 0.2, minPerSecond: 0 }, 20],
    [{ ratio: 1, minPerSecond: 0 }, 100],
    [{ ratio: 0, minPerSecond: 2 }, 20],
  ])('a budget of %o grants a hundred that fail after 400 successes %i', async (budget, expected) => {
    expect(await granted(100, fail('reset'), { budget }, 400)).toBe(expected)
  })

  it('the number is the same whether the failures fall into one tick or into one second', async () => {
    const stage = new Stage(POLICY)
    stage.upstream.plays(fail('reset'))
    for (let n = 0; n < 10; n++) {
      stage.get(`/${n}`)
      await stage.run(50)
    }
    await stage.finish()
    expect(stage.upstream.sent.length).toBe(15)
  })

  it('the calls still running when others fail are not taken for a base', async () => {
    const stage = new Stage(POLICY)
    stage.upstream.playsByPath({ '/fails': [fail('reset')] }, reply(200, { afterMs: 5_000 }))
    for (let n = 0; n < 200; n++) stage.get('/runs')
    for (let n = 0; n < 50; n++) stage.get('/fails')
    await stage.run(1_000)
    expect(stage.upstream.sent.length - 250).toBe(5)
    await stage.finish()
  })
})
