import { describe, expect, it } from 'vitest'
import type { HedgeSettings } from '../../src/core/hedge.js'
import type { PolicyPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const AFTER_MS = 50

/** A hedge after 50 ms, unless told otherwise. */
function hedged(hedge: Partial<HedgeSettings> = {}, part: PolicyPart = {}): Stage {
  return new Stage({
    ...part,
    hedge: { mode: 'enabled', after: { kind: 'fixed', delayMs: AFTER_MS }, ...hedge },
  })
}

function results(stage: Stage): string[] {
  return stage.of('hedge-decided').map(event => event.result)
}

function attemptResults(stage: Stage): string[] {
  return stage.of('attempt-finished').map(event => `${event.attempt} ${event.result}`)
}

const slow = (afterMs = 1000) => reply(200, { afterMs, body: 'slow' })
const fast = () => reply(200, { afterMs: 10, body: 'fast' })

describe('a hedge', () => {
  it('is sent when the attempt is late, and the first good answer is what the app gets', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(), fast())
    const call = stage.get()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, AFTER_MS])
    expect(call.summary).toBe('200 hedge-won after 2')
    expect([call.text, call.answeredAtMs]).toEqual(['fast', 60])
    expect(results(stage)).toEqual(['won'])
  })

  it('is not sent to an upstream that answers in time', async () => {
    const stage = hedged()
    stage.upstream.plays(reply(200, { afterMs: AFTER_MS - 1 }))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    expect([stage.upstream.sent.length, results(stage)]).toEqual([1, []])
  })

  it('that loses is ended at once and counted apart', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(70), slow())
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(stage.upstream.sent[1]?.aborted).toBe(true)
    expect(results(stage)).toEqual(['lost'])
    expect(attemptResults(stage)).toEqual(['1 response', '2 lost'])
  })

  it('ends the first attempt when it wins, which says nothing of the upstream', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(), fast())
    stage.get()
    await stage.run(60)
    expect(stage.upstream.sent[0]?.aborted).toBe(true)
    expect(attemptResults(stage)).toEqual(['2 response', '1 lost'])
    expect(stage.upstream.settled.map(({ failed }) => failed)).toEqual([false])
  })

  it('is told as attempt 1 upstream, as nobody may take it for a re-send', async () => {
    const stage = hedged({}, { propagate: true })
    stage.upstream.plays(slow(), reply(503), reply(200))
    stage.get()
    await stage.run(70)
    expect(stage.upstream.sent.map(sent => sent.fields['forbear-attempt'])).toEqual(['1', '1'])
    expect(stage.upstream.sent[1]?.fields['baggage']).toBeUndefined()
    await stage.finish()
  })

  it('never uses the connection of the attempt that it hedges', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(), fast())
    stage.get()
    await stage.finish()
    expect(stage.upstream.sent[1]?.request.avoid).toEqual([stage.upstream.sent[0]?.connection])
  })

  it('is in the access log, as an attempt', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(), fast())
    const call = stage.get('/x')
    await stage.finish()
    expect(stage.finishedOf(call)).toMatchObject({ attempts: 2, hedges: 1, outcome: 'hedge-won' })
  })

  it('follows the last one that was started, up to maxHedges', async () => {
    const stage = hedged({ maxHedges: 2 })
    stage.upstream.plays(slow(), slow(), fast())
    const call = stage.get()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, AFTER_MS, 2 * AFTER_MS])
    expect(call.summary).toBe('200 hedge-won after 3')
    expect(results(stage)).toEqual(['lost', 'won'])
  })

  it('is one of maxAttempts, which the app may tighten', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(200))
    const call = stage.get('/', { headers: { 'forbear-max-attempts': '1' } })
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    expect(stage.upstream.sent).toHaveLength(1)
  })

  it('may answer what is final, too', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(), reply(404))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('404 hedge-won after 2')
  })

  it('observed, is counted and not sent', async () => {
    const stage = hedged({ mode: 'observe' })
    stage.upstream.plays(slow(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    expect([stage.upstream.sent.length, results(stage)]).toEqual([1, ['observed']])
    expect(stage.balance).toBeCloseTo(5.2)
  })
})

describe('a failed attempt of a race', () => {
  it('brings the next hedge forward, without a back-off', async () => {
    const stage = hedged()
    stage.upstream.plays(reply(503), fast())
    const call = stage.get()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 10])
    expect(call.summary).toBe('200 hedge-won after 2')
  })

  it.each(['connect', 'reset'] as const)('brings it forward after %s', async kind => {
    const stage = hedged()
    stage.upstream.plays(fail(kind), fast())
    const call = stage.get()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 5])
    expect(call.summary).toBe('200 hedge-won after 2')
  })

  it('does not end the others', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(200), reply(503))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(results(stage)).toEqual(['failed'])
    expect(stage.of('retry-scheduled')).toEqual([])
  })

  it('is followed by the ordinary decision once none is running, whose back-off is that of the first retry', async () => {
    const stage = hedged()
    stage.upstream.plays(reply(503), reply(503), fast())
    const call = stage.get()
    await stage.finish()
    // 10 ms, the hedge 10 ms, the back-off of 200 ms
    expect(stage.upstream.times).toEqual([0, 10, 220])
    expect(stage.upstream.sent.map(sent => sent.fields['forbear-attempt'])).toEqual(['1', '1', '2'])
    expect(call.summary).toBe('200 delivered after 3')
  })

  it('leaves its answer to the app when all fail', async () => {
    const stage = hedged({}, { retry: { maxAttempts: 2 } })
    stage.upstream.plays(reply(503, { afterMs: 60, body: 'first' }), fail('reset', { afterMs: 100 }))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 2')
    expect(call.text).toBe('first')
  })

  it.each([
    ['Retry-After', { 'Retry-After': '1' }, 503],
    ['a pushback', { 'grpc-retry-pushback-ms': '-1' }, 503],
    ['the word that a layer below gave up', { 'forbear-exhausted': 'reset' }, 503],
    ['429', {}, 429],
  ])('that carries %s stops further hedges', async (_name, headers, status) => {
    const stage = hedged({ maxHedges: 2 }, { retry: { maxAttempts: 2 } })
    stage.upstream.plays(slow(150), reply(status as number, { headers: headers as Record<string, string> }), fast())
    const call = stage.get()
    await stage.finish()
    expect(stage.upstream.sent).toHaveLength(2)
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('has its Retry-After obeyed though another one failed later without any', async () => {
    const stage = hedged()
    stage.upstream.plays(reply(503, { afterMs: 70 }), reply(503, { headers: { 'Retry-After': '2' } }), fast())
    stage.get()
    await stage.finish()
    expect(stage.upstream.times[2]).toBe(70 + 2000 + 200)
  })

  it('that says a layer below gave up keeps the last of the race from being retried', async () => {
    const stage = hedged()
    stage.upstream.plays(reply(503, { afterMs: 70 }), reply(503, { headers: { 'forbear-exhausted': 'reset' } }), fast())
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 layer after 2')
  })

  it.each([
    ['no retry can mend', fail('connect', { permanent: true })],
    ['is no HTTP', fail('bad-response')],
    ['asks for a pause', reply(429)],
  ])('that %s ends the race, and no hedge comes after it', async (_name, play) => {
    const stage = hedged({}, { retry: { maxAttempts: 3, throttled: { baseMs: 5000 } } })
    stage.upstream.plays(play, fast())
    stage.get()
    await stage.run(4000)
    expect(stage.upstream.sent).toHaveLength(1)
    await stage.finish()
  })

  it('lets a fatal answer end the race', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(), reply(500))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('500 hedge-won after 2')
    expect(stage.upstream.sent[0]?.aborted).toBe(true)
  })
})

describe('no hedge is sent', () => {
  async function sendings(stage: Stage, act: () => unknown): Promise<number> {
    stage.upstream.plays(slow(300))
    act()
    await stage.finish()
    return stage.upstream.sent.length
  }

  it('where none was asked for', async () => {
    const stage = new Stage()
    expect(await sendings(stage, () => stage.get())).toBe(1)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE'])('for %s', async method => {
    const stage = hedged()
    expect(await sendings(stage, () => stage.call(method, '/'))).toBe(1)
  })

  it.each(['GET', 'HEAD', 'OPTIONS'])('but for %s', async method => {
    const stage = hedged()
    expect(await sendings(stage, () => stage.call(method, '/'))).toBe(2)
  })

  it('for a write with a key, but where keyedWrites allows it', async () => {
    const keyed = { headers: { 'idempotency-key': 'k' } }
    const [plain, allowed] = [hedged(), hedged({ keyedWrites: true })]
    expect(await sendings(plain, () => plain.post('/', keyed))).toBe(1)
    expect(await sendings(allowed, () => allowed.post('/', keyed))).toBe(2)
    const without = hedged({ keyedWrites: true })
    expect(await sendings(without, () => without.post('/'))).toBe(1)
  })

  it('for a long poll', async () => {
    const stage = hedged({}, { longPoll: true })
    expect(await sendings(stage, () => stage.get())).toBe(1)
  })

  it('for a request that is a re-send of the layer above', async () => {
    const stage = hedged()
    expect(await sendings(stage, () => stage.get('/', { headers: { 'forbear-attempt': '2' } }))).toBe(1)
  })

  it('before the body is complete, and then counts from there', async () => {
    const stage = hedged({ keyedWrites: true })
    stage.upstream.plays(slow(300))
    const call = stage.post('/', { headers: { 'idempotency-key': 'k' }, uploading: true })
    await stage.run(100)
    expect(stage.upstream.sent).toHaveLength(1)
    call.body?.end()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 100 + AFTER_MS])
  })

  it('with a body too large to be sent again', async () => {
    const stage = hedged({ keyedWrites: true })
    const options = { headers: { 'idempotency-key': 'k' }, bodyBytes: 1_000_000 }
    expect(await sendings(stage, () => stage.call('POST', '/', options))).toBe(1)
  })

  it('while retries are switched off', async () => {
    const stage = hedged()
    stage.pipeline.switches.turnRetriesOff(60_000)
    expect(await sendings(stage, () => stage.get())).toBe(1)
    expect(results(stage)).toEqual(['retries-off'])
  })

  it('while the sidecar is leaving', async () => {
    const stage = hedged()
    stage.pipeline.draining = true
    expect(await sendings(stage, () => stage.get())).toBe(1)
    expect(results(stage)).toEqual(['draining'])
  })

  it('without a free slot', async () => {
    const stage = hedged({}, { limits: { maxInFlight: 1 } })
    expect(await sendings(stage, () => stage.get())).toBe(1)
    expect(results(stage)).toEqual(['overloaded'])
  })

  it('when the attempt clock ends before it, nor after that has', async () => {
    const stage = hedged({ after: { kind: 'fixed', delayMs: 100 } }, { timeouts: { attemptMs: 100 } })
    stage.upstream.plays(hang(), fast())
    stage.get()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 300])
    expect(results(stage)).toEqual([])
  })

  it('when too little of the deadline is left', async () => {
    const stage = hedged({ after: { kind: 'fixed', delayMs: 200 } })
    expect(await sendings(stage, () => stage.get('/', { headers: { 'forbear-timeout-ms': '240' } }))).toBe(1)
    expect(results(stage)).toEqual(['deadline'])
  })

  it.each(['enforce', 'observe'] as const)('while the breaker is not closed, mode %s', async mode => {
    const stage = hedged({}, { breaker: { mode, consecutiveFailures: 3 } })
    stage.upstream.plays(reply(200, { afterMs: 200 }), fail('reset'))
    stage.get('/late')
    for (let n = 0; n < 5; n++) {
      stage.get(`/${n}`, { headers: { 'forbear-max-attempts': '1' } })
      await stage.run(40)
    }
    const late = stage.upstream.sent.filter(sent => sent.call.path === '/late')
    expect([stage.status().breaker.state, late.length]).toEqual(['open', 2])
    stage.upstream.plays(reply(200, { afterMs: 200 }))
    const before = stage.upstream.sent.length
    const call = stage.get('/next')
    await stage.run(150)
    expect(stage.upstream.sent.length - before).toBe(mode === 'observe' ? 1 : 0)
    expect(call.over).toBe(mode === 'enforce')
    await stage.finish()
  })

  it('to an upstream that an edit has turned it off for since', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(300))
    stage.get()
    await stage.run(20)
    stage.apply([{ policy: {} }])
    await stage.finish()
    expect([stage.upstream.sent.length, results(stage)]).toEqual([1, ['retries-off']])
  })

  it('to an upstream that an edit has removed', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(300))
    stage.get()
    await stage.run(20)
    stage.apply([])
    await stage.finish()
    expect(stage.upstream.sent).toHaveLength(1)
  })
})

describe('the budget of hedges', () => {
  it('is half of that of retries, and its end does not touch what is running', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(300))
    const calls = Array.from({ length: 10 }, (_, n) => stage.get(`/${n}`))
    await stage.finish()
    // Half of the floor of five.
    expect(stage.upstream.sent).toHaveLength(12)
    expect(results(stage).filter(result => result === 'budget-exhausted')).toHaveLength(8)
    expect(calls.every(call => call.status === 200)).toBe(true)
  })

  it('leaves the other half to retries', async () => {
    const stage = hedged()
    stage.upstream.playsByPath({ '/late': [slow(300)] }, reply(503))
    for (let n = 0; n < 10; n++) stage.get('/late')
    await stage.run(100)
    const before = stage.upstream.sent.length
    for (let n = 0; n < 10; n++) stage.get(`/${n}`)
    await stage.finish()
    expect(stage.upstream.sent.length - before - 10).toBe(3)
  })

  it('of a route is bounded by that of its upstream', async () => {
    const route = { name: 'r', path: '/r', own: { budget: true } }
    const hedge = { mode: 'enabled', after: { kind: 'fixed', delayMs: AFTER_MS } } as const
    const stage = new Stage({}, { upstreams: [{ policy: { hedge, budget: { minPerSecond: 0.2 } }, routes: [route] }] })
    stage.upstream.plays(slow(300))
    for (let n = 0; n < 5; n++) stage.get('/r')
    await stage.finish()
    expect(stage.upstream.sent).toHaveLength(6)
  })
})

describe('the delay by a quantile', () => {
  const byP95 = (part: Partial<HedgeSettings> = {}) =>
    hedged({ after: { kind: 'quantile', q: 0.95 }, minSamples: 20, floorMs: 5, ceilingMs: 10_000, ...part })

  async function warm(stage: Stage, count: number, afterMs: number): Promise<void> {
    stage.upstream.plays(reply(200, { afterMs }))
    for (let n = 0; n < count; n++) {
      stage.get(`/warm-${n}`)
      await stage.run(afterMs)
    }
  }

  it('is not known before minSamples answers, and none is sent', async () => {
    const stage = byP95()
    await warm(stage, 19, 40)
    expect(stage.status().hedge).toMatchObject({ mode: 'enabled', afterMs: null })
    stage.upstream.plays(slow(300))
    stage.get('/late')
    await stage.finish()
    expect(stage.upstream.paths.filter(path => path === '/late')).toHaveLength(1)
  })

  it('is not known before minSamples answers, and a failure brings none forward', async () => {
    const stage = byP95()
    await warm(stage, 10, 40)
    stage.upstream.plays(reply(503), fast())
    const call = stage.get('/fails')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(stage.of('retry-scheduled')).toHaveLength(1)
  })

  it('follows the answers', async () => {
    const stage = byP95()
    await warm(stage, 20, 40)
    const afterMs = stage.status().hedge.afterMs as number
    expect(afterMs).toBeGreaterThanOrEqual(40)
    expect(afterMs).toBeLessThan(44)
    const startMs = stage.clock.nowMs()
    stage.upstream.plays(slow(300), fast())
    stage.get('/late')
    await stage.finish()
    expect(stage.upstream.times.at(-1)).toBeCloseTo(startMs + afterMs, 6)
  })

  it('keeps to floor and ceiling', async () => {
    const [low, high] = [byP95({ floorMs: 80 }), byP95({ ceilingMs: 30 })]
    for (const stage of [low, high]) await warm(stage, 20, 40)
    expect([low.status().hedge.afterMs, high.status().hedge.afterMs]).toEqual([80, 30])
  })

  it('does not fall by its own hedges: who lost is known to have taken at least so long', async () => {
    const stage = byP95({ minSamples: 100 })
    // One of ten is slow, so p95 lies among those.
    stage.upstream.decides((_n, call) => reply(200, { afterMs: call.path.endsWith('0') ? 400 : 20 }))
    let n = 0
    const run = async (count: number) => {
      for (const end = n + count; n < end; n++) {
        stage.get(`/${n}`)
        await stage.run(50)
      }
    }
    await run(300)
    const before = stage.status().hedge.afterMs as number
    // Now those never answer in time, and a hedge wins each time.
    const late = (path: string) => stage.upstream.paths.filter(sent => sent === path).length === 0
    stage.upstream.decides((_n, call) =>
      reply(200, { afterMs: call.path.endsWith('0') && late(call.path) ? 5000 : 20 }),
    )
    await run(1500)
    expect(results(stage).filter(result => result === 'won').length).toBeGreaterThan(50)
    expect(stage.status().hedge.afterMs).toBeGreaterThanOrEqual(before)
  })

  it('of a route that writes its own hedging comes from its own answers', async () => {
    const hedge = { mode: 'enabled', after: { kind: 'quantile', q: 0.95 }, minSamples: 10 } as const
    const route = { name: 'r', path: '/r', policy: { hedge }, own: { hedge: true } }
    const stage = new Stage({}, { upstreams: [{ routes: [route] }] })
    stage.upstream.decides((_n, call) => reply(200, { afterMs: call.path === '/r' ? 100 : 10 }))
    for (let n = 0; n < 50; n++) {
      stage.get(n % 2 === 0 ? '/r' : `/${n}`)
      await stage.run(100)
    }
    expect(stage.status('r').hedge.afterMs).toBeGreaterThan(99)
    expect(stage.status().hedge).toMatchObject({ mode: 'disabled', afterMs: null })
    // The upstream's own times have seen them all.
    expect(stage.status().latencyMs.p50).toBeLessThan(12)
    expect(stage.status().latencyMs.p95).toBeGreaterThan(90)
  })
})

describe('the answer times of a route that writes its own hedging', () => {
  const hedge = { mode: 'enabled', after: { kind: 'quantile', q: 0.95 }, minSamples: 10 } as const
  const upstreamsWith = (policy: PolicyPart, host = 'a.example.com') => [
    { host, routes: [{ name: 'r', path: '/r', policy: { hedge, ...policy }, own: { hedge: true } }] },
  ]

  async function warmed(): Promise<Stage> {
    const stage = new Stage({}, { upstreams: upstreamsWith({}) })
    stage.upstream.decides((_n, call) => reply(200, { afterMs: call.path === '/r' ? 100 : 10 }))
    for (let n = 0; n < 40; n++) {
      stage.get(n % 2 === 0 ? '/r' : `/${n}`)
      await stage.run(100)
    }
    return stage
  }

  it('survive an edit', async () => {
    const stage = await warmed()
    const before = stage.status('r').hedge.afterMs
    stage.apply(upstreamsWith({ retry: { maxAttempts: 2 } }))
    expect(before).toBeGreaterThan(99)
    expect(stage.status('r').hedge.afterMs).toBe(before)
  })

  it('begin anew with another target', async () => {
    const stage = await warmed()
    stage.apply(upstreamsWith({}, 'b.example.com'))
    expect(stage.status('r').hedge.afterMs).toBeNull()
  })
})

describe('the end of a race', () => {
  it('when the app goes away ends every attempt of it', async () => {
    const stage = hedged()
    stage.upstream.plays(hang())
    const call = stage.get()
    await stage.run(100)
    expect(stage.upstream.open).toBe(2)
    call.hangUp()
    expect(stage.upstream.open).toBe(0)
    expect(results(stage)).toEqual(['aborted'])
  })

  it('when the app goes away before the hedge leaves no timer', async () => {
    const stage = hedged()
    stage.upstream.plays(hang())
    const call = stage.get()
    await stage.run(20)
    call.hangUp()
    await stage.run(100)
    expect(stage.upstream.sent).toHaveLength(1)
  })

  it('by the deadline ends every attempt of it, with one answer', async () => {
    const stage = hedged({}, { timeouts: { totalMs: 400, attemptMs: 400 }, retry: { maxAttempts: 2 } })
    stage.upstream.plays(hang())
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('504 attempt-timeout after 2')
    expect(call.answeredAtMs).toBe(400)
    expect(results(stage)).toEqual(['aborted'])
  })

  it('by the attempt clock of each leaves the other running', async () => {
    const stage = hedged({}, { timeouts: { attemptMs: 100 }, retry: { maxAttempts: 2 } })
    stage.upstream.plays(hang(), reply(200, { afterMs: 80 }))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 hedge-won after 2')
    expect(call.answeredAtMs).toBe(130)
  })

  it('by the drain period answers once', async () => {
    const stage = hedged()
    stage.upstream.plays(hang())
    const call = stage.get()
    await stage.run(100)
    stage.pipeline.drain()
    expect(call.summary).toBe('503 draining after 2')
  })

  it('is not yet when the winner still streams; the app that leaves ends that', async () => {
    const stage = hedged()
    stage.upstream.plays(slow(), reply(200, { bodyMs: 500 }))
    const call = stage.get()
    await stage.run(100)
    expect(call.summary).toBe('receiving')
    call.hangUp()
    expect(stage.upstream.open).toBe(0)
  })
})

describe('what a race leaves behind', () => {
  it('a hedge counts in no ratio of the breaker, only in the run of failures', async () => {
    const stage = hedged({}, { retry: { maxAttempts: 2 }, breaker: { consecutiveFailures: 0, minRequests: 4 } })
    stage.upstream.plays(slow(), fail('reset'))
    // Each first attempt succeeds, each hedge fails.
    stage.upstream.decides(n => (n % 2 === 0 ? reply(200, { afterMs: 100 }) : fail('reset')))
    for (let n = 0; n < 20; n++) {
      stage.get(`/${n}`)
      await stage.run(500)
    }
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('only a first attempt that succeeds itself earns for the budget', async () => {
    const stage = hedged({}, { budget: { minPerSecond: 0.5, ratio: 1 } })
    stage.upstream.plays(slow(100), slow(), slow(), fast())
    stage.get('/first-wins')
    await stage.run(500)
    // 5 + 1 earned − 1 hedge
    expect(stage.balance).toBeCloseTo(5)
    stage.get('/hedge-wins')
    await stage.run(500)
    expect(stage.balance).toBeCloseTo(4)
  })
})
