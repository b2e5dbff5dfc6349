import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

const WAIT = { breaker: { whenOpen: 'wait' } } as const
const paths = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `/${prefix}-${n}`)

/** Healthy at so many calls a second for some seconds, then down until the breaker opens. */
async function outageAfter(stage: Stage, perSec: number): Promise<void> {
  stage.upstream.plays(reply(200))
  for (let n = 0; n < perSec * 4; n++) {
    stage.get(`/healthy-${n}`)
    await stage.run(1000 / perSec)
  }
  stage.upstream.plays(reply(503))
  await stage.openBreaker()
}

describe('the release after an outage', () => {
  /** Calls sent in each second from the first of these. */
  const perSecond = (times: readonly number[]) => {
    const start = times[0] as number
    const counts: number[] = []
    for (const at of times) {
      const second = Math.floor((at - start) / 1000)
      counts[second] = (counts[second] ?? 0) + 1
    }
    return counts
  }

  it('starts at half the last healthy rate and grows to at most 1.3 times of it while answers stay good', async () => {
    const stage = new Stage(WAIT)
    await outageAfter(stage, 50)
    const before = stage.upstream.sent.length
    stage.upstream.plays(reply(200))
    for (const path of paths('w', 400)) stage.post(path)
    await stage.run(800)
    await stage.run(150)
    const times = stage.upstream.times.slice(before)
    const early = times.filter(at => at > (times[0] as number) + 10 && at <= (times[0] as number) + 110)
    expect(early.length).toBeGreaterThanOrEqual(1)
    expect(early.length).toBeLessThanOrEqual(4)
    await stage.finish()
    const counts = perSecond(stage.upstream.times.slice(before))
    expect(counts[0]).toBeGreaterThanOrEqual(25)
    for (const count of counts) expect(count).toBeLessThanOrEqual(1.3 * 50 + 2)
    expect(counts[2]).toBeGreaterThanOrEqual(1.3 * 50 - 3)
  })

  it('does not take the growth of the line in the first second, when it still starts small, for a greater load', async () => {
    const stage = new Stage({ ...WAIT, limits: { maxWaiting: 5000 }, timeouts: { totalMs: 60_000 } })
    await outageAfter(stage, 250)
    const before = stage.upstream.sent.length
    stage.upstream.plays(reply(200))
    for (const path of paths('w', 500)) stage.post(path)
    for (let n = 0; n < 250 * 8; n++) {
      stage.post(`/as-before-${n}`)
      await stage.run(4)
    }
    await stage.finish()
    for (const count of perSecond(stage.upstream.times.slice(before))) expect(count).toBeLessThanOrEqual(1.3 * 250 + 5)
  })

  it('stays at half while answers are bad', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait', consecutiveFailures: 0, failureRatio: 1 } })
    stage.upstream.plays(reply(200))
    for (let n = 0; n < 200; n++) {
      stage.get(`/healthy-${n}`)
      await stage.run(20)
    }
    await stage.run(11_000)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const before = stage.upstream.sent.length
    for (const path of paths('w', 200)) stage.post(path)
    let n = 0
    stage.upstream.decides(() => reply(n++ % 3 === 1 ? 503 : 200))
    await stage.finish()
    const counts = perSecond(stage.upstream.times.slice(before))
    for (const count of counts.slice(0, 3)) expect(count).toBeLessThanOrEqual(0.5 * 50 * 1.4)
  })

  it('is not slowed down by those in line who have too little time left', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    stage.upstream.plays(reply(200, { afterMs: 500 }))
    for (let n = 0; n < 20; n++) stage.get(`/known-${n}`)
    await stage.run(1000)
    stage.upstream.plays(reply(503))
    for (let n = 0; stage.status().breaker.state === 'closed'; n++) {
      stage.get(`/down-${n}`, { headers: { 'forbear-max-attempts': '1' } })
      await stage.run(100)
    }
    stage.pipeline.forceBreaker('api', 'open')
    const late = paths('late', 40).map(path => stage.post(path, { headers: { 'forbear-timeout-ms': '5400' } }))
    await stage.run(4920)
    const next = stage.post('/next')
    stage.upstream.plays(reply(200))
    stage.pipeline.forceBreaker('api', 'closed')
    await stage.run(430)
    expect(late.every(call => call.summary === '503 breaker-open after 0')).toBe(true)
    expect(next.summary).toBe('200 delivered after 1')
  })

  /** Highest rate of the last ten of sixty seconds of more load than the healthy rate, behind a line. */
  const busiestLater = async (isBad: (n: number) => boolean) => {
    const stage = new Stage({ breaker: { whenOpen: 'wait', consecutiveFailures: 0 } })
    stage.upstream.plays(reply(200))
    for (let n = 0; n < 80; n++) {
      stage.get(`/healthy-${n}`)
      await stage.run(50)
    }
    stage.pipeline.forceBreaker('api', 'open')
    const call = () => stage.post(`/${stage.calls.length}`, { headers: { 'forbear-max-attempts': '1' } })
    for (let n = 0; n < 200; n++) call()
    stage.upstream.decides(n => reply(isBad(n) ? 503 : 200))
    stage.pipeline.forceBreaker('api', 'closed')
    stage.pipeline.forceBreaker('api', 'auto')
    const startMs = stage.clock.nowMs()
    for (let n = 0; n < 60 * 30; n++) {
      call()
      await stage.run(1000 / 30)
    }
    const counts = Array.from({ length: 60 }, (_, second) => {
      const fromMs = startMs + second * 1000
      return stage.upstream.times.filter(at => at >= fromMs && at < fromMs + 1000).length
    })
    await stage.finish()
    return Math.max(...counts.slice(50))
  }

  it('rises above 1.3 times when the line stays as long as it was with nothing but good answers', async () => {
    expect(await busiestLater(() => false)).toBeGreaterThan(28)
  })

  it('does so with a steady few bad answers as well', async () => {
    expect(await busiestLater(n => n % 131 === 0)).toBeGreaterThan(28)
  })

  it('does not rise above 1.3 times when bad answers come in a row now and then', async () => {
    expect(await busiestLater(n => n % 131 < 4)).toBeLessThanOrEqual(27)
  })

  it('makes newcomers stand in line until the line is empty', async () => {
    const stage = new Stage(WAIT)
    await outageAfter(stage, 20)
    const before = stage.upstream.sent.length
    stage.upstream.plays(reply(200))
    for (const path of paths('w', 20)) stage.post(path)
    await stage.run(1200)
    const newcomer = stage.post('/newcomer')
    expect(newcomer.summary).toBe('waiting')
    await stage.finish()
    expect(stage.upstream.paths.slice(before)).toEqual([...paths('w', 20), '/newcomer'])
    const after = stage.post('/after')
    await stage.run(10)
    expect(after.summary).toBe('200 delivered after 1')
  })

  it('stops when the breaker opens again, and those in line go on waiting', async () => {
    const stage = new Stage(WAIT)
    await outageAfter(stage, 20)
    const calls = paths('w', 100).map(path => stage.post(path))
    stage.upstream.decides(() => reply(stage.clock.nowMs() < 8000 ? 200 : 503))
    const downAgainAtMs = 8000
    await stage.run(downAgainAtMs - stage.clock.nowMs())
    await stage.openBreaker()
    const left = calls.filter(call => !call.over).length
    expect(left).toBeGreaterThan(0)
    await stage.run(500)
    expect(calls.filter(call => !call.over).length).toBe(left)
    stage.upstream.plays(reply(200))
    await stage.finish()
  })

  it('follows an answer of connect, too, when nothing was sent', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.plays(fail('connect'))
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    const call = stage.post('/w')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
  })
})
