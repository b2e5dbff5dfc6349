import { describe, expect, it } from 'vitest'
import type { PolicyPart } from '../pipeline/support/policy.js'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const HEDGE = { mode: 'enabled', after: { kind: 'fixed', delayMs: 100 } } as const

/** 50 calls a second. */
async function load(stage: Stage, seconds: number, name: string): Promise<void> {
  for (let n = 0; n < 50 * seconds; n++) {
    stage.get(`/${name}-${n}`)
    await stage.run(20)
  }
}

/** What was sent beyond the calls of the app. */
const extra = (stage: Stage) => stage.upstream.sent.length - stage.calls.length

describe('F064 nothing caps the hedges: in a brown-out every call crosses the delay and traffic doubles (azure-sdk-for-rust#4914)', () => {
  it.each<[string, PolicyPart, number]>([
    ['a tenth, half of the budget of a fifth', {}, 0.1],
    ['a twentieth with half of that budget', { budget: { ratio: 0.1 } }, 0.05],
  ])('of an upstream at 500 ms for everyone, the extra load is %s', async (_name, part, share) => {
    const stage = new Stage({ hedge: HEDGE, ...part })
    stage.upstream.plays(reply(200, { afterMs: 10 }))
    await load(stage, 20, 'well')
    expect(extra(stage)).toBe(0)
    stage.upstream.plays(reply(200, { afterMs: 500 }))
    await load(stage, 60, 'brown')
    await stage.finish()
    // Half of the floor of a window more, for quiet clients.
    expect(extra(stage)).toBeLessThanOrEqual(share * 3000 + 6 * 2.5)
    expect(extra(stage)).toBeGreaterThan(share * 3000 * 0.6)
    expect(stage.calls.every(call => call.status === 200)).toBe(true)
  })

  it('in no second more than a tenth of its calls, or half of the floor', async () => {
    const stage = new Stage({ hedge: HEDGE })
    stage.upstream.plays(reply(200, { afterMs: 10 }))
    await load(stage, 20, 'well')
    stage.upstream.plays(reply(200, { afterMs: 500 }))
    await load(stage, 20, 'brown')
    await stage.finish()
    const hedges = stage.upstream.sent.filter((sent, n, all) => all.findIndex(one => one.call === sent.call) < n)
    for (const { atMs } of hedges) {
      const second = hedges.filter(other => other.atMs > atMs - 1000 && other.atMs <= atMs)
      expect(second.length).toBeLessThanOrEqual(5)
    }
  })

  it('with retries of the same brown-out, both together stay within the one budget', async () => {
    const stage = new Stage({ hedge: HEDGE, breaker: { mode: 'disabled' } })
    stage.upstream.plays(reply(200, { afterMs: 10 }))
    await load(stage, 20, 'well')
    // A fifth fails, the rest is slow.
    stage.upstream.decides(n => (n % 5 === 0 ? fail('reset', { afterMs: 50 }) : reply(200, { afterMs: 500 })))
    await load(stage, 60, 'brown')
    await stage.finish()
    expect(extra(stage)).toBeLessThanOrEqual(0.2 * 3000 + 7 * 5)
  })

  it('when the breaker is not closed there are none', async () => {
    const stage = new Stage({ hedge: HEDGE, breaker: { mode: 'observe', consecutiveFailures: 3 } })
    stage.upstream.plays(reply(200, { afterMs: 10 }))
    await load(stage, 20, 'well')
    stage.upstream.plays(fail('reset', { afterMs: 50 }))
    for (let n = 0; n < 10; n++) {
      stage.get(`/bad-${n}`, { headers: { 'forbear-max-attempts': '1' } })
      await stage.run(60)
    }
    expect(stage.status().breaker.state).toBe('open')
    stage.upstream.plays(reply(200, { afterMs: 150 }))
    const before = extra(stage)
    stage.get('/late')
    await stage.run(120)
    expect(extra(stage)).toBe(before)
    expect(stage.of('hedge-decided').at(-1)?.result).toBe('breaker-open')
  })
})
