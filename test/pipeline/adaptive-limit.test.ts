import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { reply } from './support/upstream.js'

checkEveryEnding()

const auto = { limits: { adaptive: true, maxInFlight: 1_000_000 }, breaker: { mode: 'disabled' } } as const
const once = { headers: { 'forbear-max-attempts': '1' } }

/** Serves `workers` calls at once in 20 ms each; the others queue. Gives the most that were inside at one time. */
function queueing(stage: Stage, workers: number): () => number {
  const freeAtMs = new Array<number>(workers).fill(0)
  const ends: number[] = []
  let most = 0
  stage.upstream.decides(() => {
    const nowMs = stage.clock.nowMs()
    const worker = freeAtMs.indexOf(Math.min(...freeAtMs))
    const endMs = Math.max(nowMs, freeAtMs[worker] as number) + 20
    freeAtMs[worker] = endMs
    ends.push(endMs)
    most = ends.filter(end => end > nowMs).length
    return reply(200, { afterMs: endMs - nowMs })
  })
  return () => most
}

async function offer(stage: Stage, perSec: number, seconds: number): Promise<void> {
  for (let n = 0; n < perSec * seconds; n++) {
    stage.get(`/${stage.calls.length}`, once)
    await stage.run(1000 / perSec)
  }
}

describe('maxInFlight: auto', () => {
  it('begins with 20, and grows with the calls while answers come as fast as ever', async () => {
    const stage = new Stage(auto)
    stage.upstream.plays(reply(200, { afterMs: 200 }))
    expect(stage.status().inFlightLimit).toBe(20)
    await offer(stage, 400, 20)
    expect(stage.status().inFlightLimit).toBeGreaterThan(60)
  })

  it('keeps the queue in the upstream short: what does not fit waits here', async () => {
    const stage = new Stage({ ...auto, limits: { ...auto.limits, maxWaiting: 100_000 } })
    const inside = queueing(stage, 4)
    await offer(stage, 180, 20)
    await offer(stage, 400, 8)
    expect(inside()).toBeLessThan(25)
    await stage.finish()
    expect(stage.calls.every(call => call.status === 200)).toBe(true)
  })

  it('is a number of the policy where the policy has one', async () => {
    const stage = new Stage({ limits: { maxInFlight: 7 } })
    await offer(stage, 100, 3)
    expect(stage.status().inFlightLimit).toBe(7)
  })

  it('keeps what it has learned over an edit of something else', async () => {
    const stage = new Stage(auto)
    stage.upstream.plays(reply(200, { afterMs: 200 }))
    await offer(stage, 400, 20)
    const learned = stage.status().inFlightLimit
    stage.apply([{ policy: { ...auto, timeouts: { totalMs: 9000 } } }])
    expect(stage.status().inFlightLimit).toBe(learned)
    stage.apply([{ policy: { limits: { maxInFlight: 5 } } }])
    expect(stage.status().inFlightLimit).toBe(5)
  })
})
