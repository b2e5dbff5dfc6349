import { describe, expect, it } from 'vitest'
import type { AppCall } from './support/app-call.js'
import type { PolicyPart, RoutePart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

/** The breaker only reports, so that the budget is what bounds the load. */
const observed = { breaker: { mode: 'observe' } } as const

/** Most attempts that any second of the run saw. */
function busiestSecond(times: readonly number[]): number {
  return Math.max(...times.map(from => times.filter(at => at >= from && at < from + 1000).length))
}

describe('the budget', () => {
  it('bounds the attempts of an upstream that always fails, over the whole and in every second', async () => {
    const stage = new Stage(observed)
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 1000; n++) {
      stage.get(`/${n}`)
      await stage.run(10)
    }
    await stage.finish()
    expect(stage.upstream.sent.length).toBeLessThanOrEqual(1.2 * 1000 + 10)
    expect(busiestSecond(stage.upstream.times)).toBeLessThanOrEqual(1.2 * 100 + 10)
    const outcomes = new Set(stage.calls.map(call => call.outcome))
    expect([...outcomes].sort()).toEqual(['budget-exhausted', 'retries-exhausted'])
    expect(stage.denials).toContain('budget-exhausted')
  })

  /** A third of the first attempts fails, each is to be repeated a second later, and then no more calls come. */
  async function stopLoad(part: PolicyPart, routes: readonly RoutePart[] = []) {
    const retry = { maxAttempts: 5, backoff: { kind: 'fixed', baseMs: 1000 } } as const
    const policy = { retry, breaker: { mode: 'disabled' }, ...part } as const
    const stage = new Stage({}, { upstreams: [{ policy, routes }] })
    const numberOf = (call: AppCall) => Number(call.path.slice(1))
    stage.upstream.decides((_n, call) => reply(numberOf(call) % 3 === 0 ? 503 : 200))
    for (let n = 0; n < 1200; n++) {
      stage.get(`/${n}`)
      await stage.run(1000 / 300)
    }
    await stage.finish()
    const timesOf = (isRetry: boolean) =>
      stage.upstream.sent.filter(sent => (sent.fields['forbear-attempt'] !== '1') === isRetry).map(sent => sent.atMs)
    return { stage, retries: timesOf(true), firsts: timesOf(false) }
  }

  function expectCapped({ retries, firsts }: Awaited<ReturnType<typeof stopLoad>>): void {
    for (const atMs of retries) {
      const inSecond = (times: readonly number[]) => times.filter(at => at > atMs - 1000 && at <= atMs).length
      expect(inSecond(retries), `retries until ${atMs}`).toBeLessThanOrEqual(Math.max(5, 0.2 * inSecond(firsts)))
    }
  }

  it('bounds the retries of every second by the first attempts of that second, also when calls stop coming', async () => {
    const stopped = await stopLoad({})
    expectCapped(stopped)
    const { stage, retries } = stopped
    expect(retries.length).toBeGreaterThan(100)
    const told = stage.calls.filter(call => call.summary === '503 budget-exhausted after 1')
    expect(told.some(call => (call.answeredAtMs ?? 0) - call.readyAtMs >= 1000)).toBe(true)
    // What was not sent has been given back: the floor of ten seconds, and nothing owed.
    await stage.run(10_000)
    expect(stage.balance).toBeCloseTo(5)
  })

  it('does so too when the retries had to wait for a slot', async () => {
    const stopped = await stopLoad({ limits: { maxInFlight: 4 } })
    expectCapped(stopped)
    expect(stopped.retries.length).toBeGreaterThan(100)
  })

  it('does so for the upstream although a route has a larger budget', async () => {
    const loose = { name: 'loose', policy: { budget: { ratio: 1, minPerSecond: 5 } }, own: { budget: true } }
    const stopped = await stopLoad({}, [loose])
    expectCapped(stopped)
    expect(stopped.retries.length).toBeGreaterThan(100)
  })

  it('does not judge again what comes back from the line, which paces it', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    const slow = ['/s0', '/s1', '/s2', '/s3', '/s4']
    const fails = [reply(503, { afterMs: 400 }), reply(200)] as const
    stage.upstream.playsByPath(Object.fromEntries(slow.map(path => [path, fails])), reply(503))
    const calls = slow.map(path => stage.get(path))
    await stage.openBreaker()
    await stage.run(300)
    // A policy that would grant them nothing more.
    stage.apply([{ policy: { breaker: { whenOpen: 'wait' }, budget: { ratio: 0, minPerSecond: 0 } } }])
    stage.upstream.plays(reply(200))
    await stage.finish()
    expect(calls.map(call => call.summary)).toEqual(slow.map(() => '200 delivered after 2'))
  })

  it('grants a fifth of the first attempts that succeeded, besides its floor', async () => {
    const stage = new Stage(observed)
    stage.upstream.decides((_n, call) => reply(call.path.startsWith('/good') ? 200 : 503))
    for (let n = 0; n < 100; n++) stage.get(`/good/${n}`)
    await stage.run(50)
    expect(stage.balance).toBeCloseTo(0.2 * 100 + 0.5 * 10)
    await stage.finish()
  })

  it('earns nothing by retries that succeed', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const before = stage.balance
    stage.get()
    await stage.finish()
    expect(stage.balance).toBeCloseTo(before - 1)
  })

  it('is asked before the wait, so that nobody waits for a refusal', async () => {
    const stage = new Stage({ budget: { ratio: 0, minPerSecond: 0 } })
    stage.upstream.plays(reply(503))
    const call = stage.get()
    await stage.run(10)
    expect(call.summary).toBe('503 budget-exhausted after 1')
    expect(call.header('forbear-exhausted')).toBe('budget-exhausted')
  })

  it('gets back what was withdrawn for an attempt that is not sent', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    const before = stage.balance
    const call = stage.get()
    await stage.run(100)
    expect(stage.balance).toBe(before - 1)
    call.hangUp()
    expect(stage.balance).toBe(before)
  })

  it('keeps what was withdrawn for an attempt that was sent, however it ends', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200, { afterMs: 5000 }))
    const before = stage.balance
    const call = stage.get()
    await stage.run(1000)
    call.hangUp()
    expect(stage.balance).toBe(before - 1)
  })

  it('is one for all requests of an upstream', async () => {
    const stage = new Stage({ ...observed, budget: { ratio: 0, minPerSecond: 0.2 } })
    stage.upstream.plays(reply(503))
    const calls = [1, 2, 3, 4].map(n => stage.get(`/${n}`, { headers: { 'forbear-max-attempts': '2' } }))
    await stage.finish()
    expect(calls.map(call => call.attempts)).toEqual([2, 2, 1, 1])
  })

  it('pays for the retry after connect too', async () => {
    const stage = new Stage({ budget: { ratio: 0, minPerSecond: 0 } })
    stage.upstream.plays(fail('connect'), reply(200))
    const call = stage.post()
    await stage.finish()
    expect(call.summary).toBe('502 connect after 1')
    expect(stage.denials).toEqual(['budget-exhausted'])
  })
})

describe('the budget of a route', () => {
  const routes = [{ name: 'tight', path: '/tight', policy: { budget: { minPerSecond: 0.1 } }, own: { budget: true } }]
  const short = { headers: { 'forbear-max-attempts': '2' } }

  it('tightens that of its upstream', async () => {
    const stage = new Stage({}, { upstreams: [{ policy: observed, routes }] })
    stage.upstream.plays(reply(503))
    const calls = [stage.get('/tight', short), stage.get('/tight', short), stage.get('/wide', short)]
    await stage.finish()
    expect(calls.map(call => call.attempts)).toEqual([2, 1, 2])
  })

  it('cannot loosen it, and gets back its own ticket when the upstream refuses', async () => {
    const policy = { ...observed, budget: { ratio: 0, minPerSecond: 0.1 } }
    const loose = [{ name: 'loose', path: '/loose', policy: { budget: { minPerSecond: 5 } }, own: { budget: true } }]
    const stage = new Stage({}, { upstreams: [{ policy, routes: loose }] })
    stage.upstream.plays(reply(503))
    const calls = [stage.get('/loose', short), stage.get('/loose', short)]
    await stage.finish()
    expect(calls.map(call => call.attempts)).toEqual([2, 1])
    expect(stage.status('loose').budget.balance).toBeCloseTo(49)
  })

  it('gives the ticket of its upstream back when it refuses itself', async () => {
    const stage = new Stage({}, { upstreams: [{ policy: observed, routes }] })
    stage.upstream.plays(reply(503))
    stage.get('/tight', short)
    stage.get('/tight', short)
    await stage.finish()
    expect(stage.balance).toBeCloseTo(4)
  })
})
