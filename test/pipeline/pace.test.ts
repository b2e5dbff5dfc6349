import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { hang, type Play, reply } from './support/upstream.js'

checkEveryEnding()

const fixed = (ratePerSec: number, burst = 1) => ({ pace: { mode: 'fixed', ratePerSec, burst } }) as const
const auto = { pace: { mode: 'auto' }, retry: { retryAfter: { scope: 'upstream' } } } as const

/** An upstream with a bucket of tokens; a call without one starts a ban, which a call into it makes longer. */
class LimitedUpstream {
  violations = 0
  #tokens: number
  #filledAtMs = 0
  #bannedUntilMs = 0

  constructor(
    readonly stage: Stage,
    readonly ratePerSec: number,
    readonly burst: number,
    readonly banMs: number,
  ) {
    this.#tokens = burst
    stage.upstream.decides(() => this.#answer())
  }

  #answer(): Play {
    const nowMs = this.stage.clock.nowMs()
    this.#tokens = Math.min(this.burst, this.#tokens + ((nowMs - this.#filledAtMs) * this.ratePerSec) / 1000)
    this.#filledAtMs = nowMs
    if (nowMs < this.#bannedUntilMs) {
      this.violations += 1
      this.#bannedUntilMs += this.banMs / 20
      return this.#refusal(nowMs)
    }
    if (this.#tokens < 1) {
      this.#bannedUntilMs = nowMs + this.banMs
      return this.#refusal(nowMs)
    }
    this.#tokens -= 1
    return reply(200)
  }

  #refusal(nowMs: number): Play {
    return reply(429, {
      headers: { 'retry-after': String(Math.ceil((this.#bannedUntilMs - nowMs) / 1000)) },
      afterMs: 1,
    })
  }
}

async function offer(stage: Stage, perSec: number, seconds: number): Promise<void> {
  for (let n = 0; n < perSec * seconds; n++) {
    stage.get(`/${stage.calls.length}`)
    await stage.run(1000 / perSec)
  }
}

const served = (stage: Stage) => stage.calls.filter(call => call.status === 200).length

describe('a fixed pace', () => {
  it('lets calls through one after the other, first come first served', async () => {
    const stage = new Stage(fixed(10))
    const calls = [0, 1, 2, 3].map(n => stage.get(`/${n}`))
    await stage.run(0)
    expect(stage.upstream.paths).toEqual(['/0'])
    await stage.run(100)
    expect(stage.upstream.paths).toEqual(['/0', '/1'])
    await stage.run(250)
    expect(stage.upstream.paths).toEqual(['/0', '/1', '/2', '/3'])
    expect(calls.map(call => call.status)).toEqual([200, 200, 200, 200])
  })

  it('holds nobody back below it', async () => {
    const stage = new Stage(fixed(10, 5))
    await offer(stage, 9, 10)
    await stage.finish()
    for (const call of stage.calls) expect(stage.finishedOf(call).waitedMs).toBeLessThan(1)
  })

  it('makes retries wait as well, before those who came later', async () => {
    const stage = new Stage({ ...fixed(2), retry: { backoff: { baseMs: 10 } } })
    stage.upstream.plays(reply(503), reply(200))
    stage.get('/first')
    await stage.run(50)
    stage.get('/second')
    stage.get('/third')
    await stage.run(2000)
    expect(stage.upstream.paths).toEqual(['/first', '/first', '/second', '/third'])
  })

  it('refuses at once whoever would not get a turn in time, and says when to come again', async () => {
    const stage = new Stage({ ...fixed(1), timeouts: { totalMs: 3000 } })
    const calls = Array.from({ length: 6 }, (_, n) => stage.get(`/${n}`))
    await stage.run(1)
    expect(calls.map(call => call.summary)).toContain('503 overloaded after 0')
    expect(Number(calls.at(-1)?.header('retry-after'))).toBeGreaterThanOrEqual(2)
    await stage.finish()
    expect(served(stage)).toBeGreaterThanOrEqual(3)
  })

  it('lets nobody wait beyond the waiting room', async () => {
    const stage = new Stage({ ...fixed(1), limits: { maxWaiting: 2 } })
    const calls = Array.from({ length: 5 }, (_, n) => stage.get(`/${n}`))
    await stage.run(1)
    expect(calls.filter(call => call.outcome === 'overloaded')).toHaveLength(2)
  })

  it('an app that leaves the line leaves its turn to the next', async () => {
    const stage = new Stage(fixed(1))
    const [, second, third] = [0, 1, 2].map(n => stage.get(`/${n}`))
    await stage.run(10)
    second?.hangUp()
    await stage.run(1000)
    expect(third?.status).toBe(200)
  })

  it('an edit that lifts it lets everyone go', async () => {
    const stage = new Stage(fixed(0.15))
    for (let n = 0; n < 5; n++) stage.get(`/${n}`)
    await stage.run(10)
    stage.apply([{}])
    await stage.run(11_000)
    expect(served(stage)).toBe(5)
  })

  it('costs nothing what an open breaker refuses', async () => {
    const stage = new Stage({ ...fixed(10), breaker: { whenOpen: 'refuse' } })
    stage.pipeline.forceBreaker('api', 'open')
    for (let n = 0; n < 100; n++) stage.get(`/refused-${n}`)
    expect(stage.handshake('/socket').proceed).toBe(false)
    stage.pipeline.forceBreaker('api', 'closed')
    const call = stage.get('/after')
    await stage.run(10)
    expect(call.status).toBe(200)
  })

  it('costs nothing what the throttle refuses', async () => {
    let random = 0.99
    const policy = { ...fixed(10, 50), throttle: { mode: 'enabled' }, breaker: { mode: 'disabled' } } as const
    const stage = new Stage(policy, { random: () => random })
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 30; n++) stage.post(`/${n}`, { headers: { 'forbear-max-attempts': '1' } })
    await stage.run(10)
    random = 0
    const refused = Array.from({ length: 50 }, (_, n) => stage.get(`/refused-${n}`))
    expect(new Set(refused.map(call => call.outcome))).toEqual(new Set(['throttled']))
    random = 0.99
    for (let n = 0; n < 20; n++) stage.get(`/more-${n}`, { headers: { 'forbear-max-attempts': '1' } })
    expect(stage.upstream.sent).toHaveLength(50)
    await stage.finish()
  })

  it('holds while a breaker that only observes would not let go', async () => {
    const stage = new Stage({ ...fixed(2), breaker: { mode: 'observe' } })
    stage.pipeline.forceBreaker('api', 'open')
    for (let n = 0; n < 10; n++) stage.get(`/${n}`)
    await stage.run(1100)
    expect(stage.upstream.sent).toHaveLength(3)
    await stage.finish()
  })

  it('keeps nobody waiting for a breaker that refuses', async () => {
    const stage = new Stage({ ...fixed(2), breaker: { whenOpen: 'refuse' } })
    stage.get('/first')
    const waiting = stage.get('/waiting')
    await stage.run(50)
    stage.pipeline.forceBreaker('api', 'open')
    expect(waiting.summary).toBe('503 breaker-open after 0')
    expect(stage.get('/later').summary).toBe('503 breaker-open after 0')
  })

  it('is named to whoever waits for it when the upstream goes away', async () => {
    const stage = new Stage(fixed(2))
    stage.get('/first')
    const waiting = stage.get('/waiting')
    await stage.run(50)
    stage.apply([])
    expect(waiting.summary).toBe('503 overloaded after 0')
  })

  it('is paid once by whoever then queues for a slot', async () => {
    const stage = new Stage({ ...fixed(1, 5), limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    for (let n = 0; n < 5; n++) stage.get(`/${n}`)
    await stage.run(450)
    expect(stage.upstream.paths).toEqual(['/0', '/1', '/2', '/3', '/4'])
  })

  it('has back what was paid by a call that ends in the queue', async () => {
    const stage = new Stage({ ...fixed(0.2, 3), limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    for (let n = 0; n < 3; n++) stage.get(`/${n}`)
    stage.calls[1]?.hangUp()
    stage.get('/3')
    await stage.run(350)
    expect(stage.upstream.paths).toEqual(['/0', '/2', '/3'])
  })

  it('ends by an edit that makes an open breaker hold the calls instead', async () => {
    const stage = new Stage({ ...fixed(0.5), breaker: { mode: 'observe', whenOpen: 'wait' } })
    stage.pipeline.forceBreaker('api', 'open')
    const calls = [0, 1, 2].map(n => stage.get(`/${n}`))
    await stage.run(50)
    stage.apply([{ policy: { breaker: { mode: 'enforce', whenOpen: 'wait' } } }])
    await stage.run(100)
    expect(calls.map(call => call.summary)).toEqual(['200 delivered after 1', 'waiting', 'waiting'])
    stage.pipeline.forceBreaker('api', 'closed')
    await stage.run(2000)
    expect(calls.map(call => call.status)).toEqual([200, 200, 200])
  })

  it('of a route is its own, with a line of its own', async () => {
    const slow = { name: 'slow', path: '/slow', policy: fixed(1), own: { pace: true } }
    const stage = new Stage({}, { upstreams: [{ routes: [slow] }] })
    for (let n = 0; n < 3; n++) stage.get('/slow')
    const other = stage.get('/fast')
    await stage.run(20)
    expect(other.status).toBe(200)
    expect(stage.status('slow').pace).toEqual({ mode: 'fixed', ratePerSec: 1 })
  })

  it('a handshake does not wait for it', async () => {
    const stage = new Stage(fixed(1))
    stage.get('/')
    expect(stage.handshake('/socket')).toMatchObject({ proceed: false, answer: { status: 503 } })
    await stage.run(1000)
  })
})

describe('a pace that learns', () => {
  const patient = { ...auto, limits: { maxWaiting: 5000 }, timeouts: { totalMs: 19_000 } } as const

  it.each([
    ['as it is measured', 15, 15, 2000, [5, 30, 5], [5, 10, 15]],
    ['a wider limit', 100, 100, 2000, [30, 180, 30], [5, 10, 15]],
    ['a small one', 3, 3, 2000, [1, 5, 1], [5, 10, 30]],
    ['no burst', 20, 1, 1000, [5, 35, 5], [5, 10, 15]],
  ] as const)(
    'serves a peak of twice the limit without calling into a ban: %s',
    async (_name, rate, burst, banMs, rates, seconds) => {
      const stage = new Stage(patient)
      const upstream = new LimitedUpstream(stage, rate, burst, banMs)
      for (const [n, perSec] of rates.entries()) await offer(stage, perSec, seconds[n] as number)
      await stage.finish()
      expect(served(stage) / stage.calls.length).toBeGreaterThanOrEqual(0.99)
      expect(upstream.violations).toBeLessThanOrEqual(3)
    },
  )

  it('is as fast as the app again half a minute after the limit is lifted', async () => {
    const stage = new Stage(patient)
    new LimitedUpstream(stage, 15, 15, 2000)
    await offer(stage, 30, 10)
    stage.upstream.plays(reply(200))
    await offer(stage, 30, 30)
    const before = stage.calls.length
    await offer(stage, 30, 10)
    await stage.finish()
    for (const call of stage.calls.slice(before)) expect(stage.finishedOf(call).waitedMs).toBeLessThan(50)
  })

  it('does nothing to an upstream that never says 429', async () => {
    const stage = new Stage(auto)
    await offer(stage, 200, 5)
    await stage.finish()
    expect(stage.status().pace).toEqual({ mode: 'auto', ratePerSec: Number.POSITIVE_INFINITY })
    for (const call of stage.calls) expect(stage.finishedOf(call).waitedMs).toBe(0)
  })
})

describe('who hangs up under a pace', () => {
  it('while it stands in line makes no later call wait for it', async () => {
    const stage = new Stage({ ...fixed(1), timeouts: { totalMs: 5000 } })
    const leaving = Array.from({ length: 9 }, (_, n) => stage.get(`/leaving/${n}`))
    await stage.run(10)
    for (const call of leaving.slice(2)) call.hangUp()
    // All the turns within total were taken by those who have gone.
    stage.get('/b')
    stage.get('/c')
    await stage.run(5000)
    expect(stage.upstream.paths).toEqual(['/leaving/0', '/leaving/1', '/b', '/c'])
  })

  it('with its turn, but without a slot, leaves its turn to the next', async () => {
    const stage = new Stage({ ...fixed(1), limits: { maxInFlight: 1 } })
    stage.upstream.plays(hang(), reply(200))
    const [first, second] = [stage.get('/1'), stage.get('/2')]
    await stage.run(1500)
    // The second has had its turn and waits for the slot of the first.
    second?.hangUp()
    first?.hangUp()
    stage.get('/3')
    await stage.run(10)
    expect(stage.upstream.paths).toEqual(['/1', '/3'])
  })
})
