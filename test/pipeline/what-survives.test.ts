/** The table "What survives a reload" of ARCHITECTURE.md, row by row; connections and listeners are in test/e2e/reload-state.test.ts. */
import { describe, expect, it } from 'vitest'
import type { PolicyPart, UpstreamPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }
const observe = { breaker: { mode: 'observe' } } as const
/** The two edits that make it another upstream. */
const MOVES: [string, UpstreamPart][] = [
  ['target', { host: 'elsewhere.example.com' }],
  ['tls', { serverName: 'elsewhere.example.com' }],
]

/** So many GETs that succeed at once. */
async function succeed(stage: Stage, calls: number): Promise<void> {
  stage.upstream.plays(reply(200))
  for (let n = 0; n < calls; n++) stage.get(`/good-${n}`)
  await stage.run(20)
}

/** GETs that fail, until retries were spent and the balance is under one. */
async function spendBudget(stage: Stage): Promise<void> {
  stage.upstream.plays(reply(503))
  for (let n = 0; stage.balance >= 1 && n < 100; n++) {
    stage.get(`/spend-${n}`)
    await stage.run(50)
  }
  expect(stage.balance).toBeLessThan(1)
  await stage.finish()
}

/** Retries that a burst of failing GETs gets now. */
async function retriesOf(stage: Stage, calls: number): Promise<number> {
  stage.upstream.plays(reply(503))
  const before = stage.upstream.sent.length
  for (let n = 0; n < calls; n++) stage.get(`/burst-${n}`)
  await stage.run(300)
  return stage.upstream.sent.length - before - calls
}

describe('budget', () => {
  it.each([0.2, 0.4, 1])('an edit of ratio to %d while it is nearly empty gives no fresh allowance', async ratio => {
    const stage = new Stage({ ...observe, budget: { windowMs: 60_000 } })
    await succeed(stage, 10)
    await spendBudget(stage)
    const left = stage.balance
    stage.apply([{ policy: { ...observe, budget: { ratio, windowMs: 60_000 } } }])
    // What the ten good calls earn more, and nothing else: the spent retries stay counted.
    expect(stage.balance).toBeCloseTo(left + 10 * (ratio - 0.2), 3)
  })

  it('an edit that lowers ratio leaves a debt that must be earned first', async () => {
    const stage = new Stage({ ...observe, budget: { ratio: 1, windowMs: 60_000, minPerSecond: 0.05 } })
    await succeed(stage, 20)
    await spendBudget(stage)
    stage.apply([{ policy: { ...observe, budget: { ratio: 0.1, windowMs: 60_000, minPerSecond: 0.05 } } }])
    expect(stage.balance).toBe(0)
    await succeed(stage, 50)
    expect(await retriesOf(stage, 20)).toBe(0)
  })

  it('an edit of window keeps what was spent in it', async () => {
    const stage = new Stage({ ...observe, budget: { windowMs: 60_000 } })
    await spendBudget(stage)
    stage.apply([{ policy: { ...observe, budget: { windowMs: 120_000 } } }])
    // The floor of the longer window is 60, of which 30 are spent.
    expect(stage.balance).toBeLessThan(31)
  })

  it('an edit again and again gives nothing away', async () => {
    const stage = new Stage(observe)
    await spendBudget(stage)
    const before = stage.balance
    for (let n = 0; n < 50; n++) stage.apply([{ policy: { ...observe, limits: { maxInFlight: 100 + n } } }])
    expect(stage.balance).toBeCloseTo(before, 6)
    expect(await retriesOf(stage, 20)).toBe(0)
  })

  it.each(MOVES)('another %s keeps it', async (_what, moved) => {
    const stage = new Stage(observe)
    await spendBudget(stage)
    const left = stage.balance
    stage.apply([{ ...moved, policy: observe }])
    expect(stage.balance).toBeCloseTo(left, 6)
  })

  it('another target begins that of a route anew, which the upstream’s still bounds', async () => {
    const routes = [{ name: 'r', path: '/r', policy: { budget: { minPerSecond: 0.2 } }, own: { budget: true } }]
    const part = { routes, policy: observe }
    const stage = new Stage({}, { upstreams: [part] })
    await spendBudget(stage)
    stage.upstream.plays(reply(503))
    stage.apply([{ ...part, host: 'elsewhere.example.com' }])
    expect(stage.status('r').budget.balance).toBeCloseTo(2)
    for (let n = 0; n < 5; n++) stage.get('/r')
    const before = stage.upstream.sent.length
    await stage.run(300)
    expect(stage.upstream.sent.length).toBe(before)
  })

  it('removed, it is gone: the upstream that is added again has the first allowance', async () => {
    const stage = new Stage(observe)
    await spendBudget(stage)
    stage.apply([])
    stage.apply([{ policy: observe }])
    expect(stage.balance).toBeCloseTo(5)
  })
})

describe('breaker', () => {
  /** When it turns half-open, counted from now. */
  async function reopensAfter(stage: Stage): Promise<number> {
    const from = stage.clock.nowMs()
    while (stage.status().breaker.state === 'open') await stage.run(10)
    return stage.clock.nowMs() - from
  }

  const opening = (openForMs: number): PolicyPart => ({ breaker: { openForMs, maxOpenForMs: 60_000 } })

  it.each([100, 40_000])(
    'an edit of openFor to %d ms while it is open holds from the next opening on',
    async openForMs => {
      const stage = new Stage(opening(4000))
      stage.upstream.plays(reply(503))
      await stage.openBreaker()
      const drawn = stage.status().breaker.openForMs
      stage.apply([{ policy: opening(openForMs) }])
      expect(stage.status().breaker).toMatchObject({ state: 'open', openForMs: drawn })
      expect(Math.abs((await reopensAfter(stage)) - drawn)).toBeLessThanOrEqual(10)
      stage.get('/probe', once)
      await stage.run(20)
      expect(stage.status().breaker.state).toBe('open')
      const next = stage.status().breaker.openForMs
      if (openForMs > 4000) expect(next).toBeGreaterThan(20_000)
      else expect(next).toBeLessThan(2000)
    },
  )

  it.each<[string, PolicyPart['breaker'], PolicyPart['breaker']]>([
    ['minRequests', { minRequests: 100, failureRatio: 0.4 }, { minRequests: 10, failureRatio: 0.4 }],
    ['failureRatio', { minRequests: 10, failureRatio: 1 }, { minRequests: 10, failureRatio: 0.3 }],
    ['consecutiveFailures', { minRequests: 100 }, { minRequests: 100, consecutiveFailures: 7 }],
  ])('an edit of %s judges the failures of before too, at the next one', async (_what, before, after) => {
    const stage = new Stage({ breaker: { consecutiveFailures: 0, ...before } })
    await succeed(stage, 12)
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 8; n++) {
      stage.get(`/bad-${n}`, once)
      await stage.run(50)
    }
    stage.apply([{ policy: { breaker: { consecutiveFailures: 0, ...after } } }])
    expect(stage.status().breaker.state).toBe('closed')
    stage.get('/last', once)
    await stage.run(20)
    expect(stage.status().breaker.state).toBe('open')
  })

  it('an edit that loosens it keeps it open until its time is over', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply([{ policy: { breaker: { consecutiveFailures: 0, minRequests: 1000 } } }])
    expect(stage.get('/early', once).summary).toBe('503 breaker-open after 0')
  })

  it('an edit of window drops what is older and keeps the rest', async () => {
    const settings = { consecutiveFailures: 0, minRequests: 10, failureRatio: 0.5 }
    const stage = new Stage({ breaker: { ...settings, windowMs: 60_000 } })
    await succeed(stage, 30)
    await stage.run(15_000)
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 11; n++) {
      stage.get(`/bad-${n}`, once)
      await stage.run(50)
    }
    expect(stage.status().breaker.state).toBe('closed')
    stage.apply([{ policy: { breaker: { ...settings, windowMs: 10_000 } } }])
    stage.get('/last', once)
    await stage.run(20)
    expect(stage.status().breaker.state).toBe('open')
  })

  it('an edit of mode to observe lets calls through and keeps the state, and back again refuses', async () => {
    const stage = new Stage({ breaker: { openForMs: 10_000, maxOpenForMs: 60_000 } })
    const open = { openForMs: 10_000, maxOpenForMs: 60_000 }
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply([{ policy: { breaker: { ...open, mode: 'observe' } } }])
    const seen = stage.get('/seen', once)
    await stage.run(20)
    expect([seen.attempts, stage.status().breaker.state]).toEqual([1, 'open'])
    stage.apply([{ policy: { breaker: open } }])
    expect(stage.get('/refused', once).summary).toBe('503 breaker-open after 0')
  })

  it('an edit of mode to disabled closes it, and back again begins closed and empty', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply([{ policy: { breaker: { mode: 'disabled' } } }])
    for (let n = 0; n < 30; n++) {
      stage.get(`/unwatched-${n}`, once)
      await stage.run(20)
    }
    stage.apply([{}])
    const next = stage.get('/next', once)
    await stage.run(20)
    expect([next.attempts, stage.status().breaker]).toEqual([1, expect.objectContaining({ failuresInARow: 1 })])
  })

  it.each(['open', 'closed'] as const)('an edit leaves it to the hand that holds it %s', async state => {
    const stage = new Stage()
    stage.pipeline.forceBreaker('api', state)
    stage.apply([{ policy: { breaker: { consecutiveFailures: 2, windowMs: 5000 } } }])
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 10; n++) {
      stage.get(`/${n}`, once)
      await stage.run(100)
    }
    expect(stage.status().breaker.state).toBe(state)
  })

  it.each(MOVES)('another %s leaves it to the hand that holds it, until that lets go', async (_what, moved) => {
    const stage = new Stage()
    stage.pipeline.forceBreaker('api', 'open')
    stage.apply([moved])
    expect(stage.status().breaker).toMatchObject({ state: 'open', held: 'open' })
    const held = stage.get('/held', once)
    await stage.run(60_000)
    expect([held.attempts, held.outcome]).toEqual([0, 'breaker-open'])
    stage.pipeline.forceBreaker('api', 'auto')
    expect(stage.status().breaker.held).toBeNull()
    stage.apply([{}])
    expect(stage.status().breaker).toMatchObject({ state: 'closed', held: null })
  })

  it('a mode that was disabled for a while leaves it to the hand that holds it', () => {
    const stage = new Stage()
    stage.pipeline.forceBreaker('api', 'open')
    stage.apply([{ policy: { breaker: { mode: 'disabled' } } }])
    expect(stage.status().breaker.state).toBe('closed')
    stage.apply([{}])
    expect(stage.status().breaker).toMatchObject({ state: 'open', held: 'open' })
  })

  it('of a route that is added is in the hand that holds those of the upstream', () => {
    const stage = new Stage()
    stage.pipeline.forceBreaker('api', 'open')
    stage.apply([{ routes: [{ name: 'r', path: '/r', own: { breaker: true } }] }])
    expect(stage.pipeline.statuses().map(({ breaker }) => breaker.state)).toEqual(['open', 'open'])
  })

  it.each(MOVES)('another %s begins closed and empty', async (_what, moved) => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply([moved])
    expect(stage.status().breaker).toMatchObject({ state: 'closed', failuresInARow: 0 })
    stage.get('/next', once)
    await stage.run(20)
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('of a route that is added begins closed, and is gone with the route', async () => {
    const routes = [{ name: 'r', path: '/r', own: { breaker: true } }]
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply([{ routes }])
    expect([stage.status().breaker.state, stage.status('r').breaker.state]).toEqual(['open', 'closed'])
    const own = stage.get('/r', once)
    await stage.run(20)
    expect(own.attempts).toBe(1)
    stage.apply([{}])
    expect(stage.get('/r', once).summary).toBe('503 breaker-open after 0')
  })

  it.each([
    ['removed', []],
    ['renamed', [{ name: 'renamed' }]],
  ])('%s, it is gone', async (_what, next) => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply(next)
    stage.apply([{}])
    expect(stage.status().breaker).toMatchObject({ state: 'closed', failuresInARow: 0 })
  })
})

describe('gate', () => {
  const scoped: PolicyPart = { retry: { retryAfter: { scope: 'upstream' } }, breaker: { mode: 'disabled' } }

  async function closedGate(): Promise<Stage> {
    const stage = new Stage(scoped)
    stage.upstream.plays(reply(429, { headers: { 'Retry-After': '10' } }))
    for (let n = 0; n < 3; n++) stage.get(`/${n}`, once)
    await stage.run(20)
    expect(stage.status().gate.closed).toBe(true)
    stage.upstream.plays(reply(200))
    return stage
  }

  it('an edit keeps it closed for as long as was asked, and those in line', async () => {
    const stage = await closedGate()
    const waits = stage.get('/waits')
    const { closedForMs } = stage.status().gate
    stage.apply([{ policy: { ...scoped, limits: { maxInFlight: 50 } } }])
    expect(stage.status().gate.closedForMs).toBe(closedForMs)
    await stage.run(closedForMs - 1)
    expect(waits.summary).toBe('waiting')
    await stage.run(100)
    expect(waits.summary).toBe('200 delivered after 1')
  })

  it('an edit of scope opens it', async () => {
    const stage = await closedGate()
    stage.apply([{ policy: { breaker: { mode: 'disabled' } } }])
    expect(stage.status().gate.closed).toBe(false)
  })

  it.each(MOVES)('another %s opens it', async (_what, moved) => {
    const stage = await closedGate()
    stage.apply([{ ...moved, policy: scoped }])
    const call = stage.get('/next')
    await stage.run(20)
    expect([stage.status().gate.closed, call.status]).toEqual([false, 200])
  })

  it('removed, it is gone', async () => {
    const stage = await closedGate()
    stage.apply([])
    stage.apply([{ policy: scoped }])
    expect(stage.status().gate.closed).toBe(false)
  })
})

describe('latencies', () => {
  it('an edit keeps them', async () => {
    const stage = new Stage()
    await succeed(stage, 20)
    const { latencyMs } = stage.status()
    stage.apply([{ policy: { timeouts: { totalMs: 5000 } } }])
    expect([stage.status().latencyMs, latencyMs.p50]).toEqual([latencyMs, expect.any(Number)])
  })

  it.each(MOVES)('another %s begins anew', async (_what, moved) => {
    const stage = new Stage()
    await succeed(stage, 20)
    stage.apply([moved])
    expect(stage.status().latencyMs).toEqual({ p50: null, p95: null, p99: null })
  })

  it('removed, they are gone', async () => {
    const stage = new Stage()
    await succeed(stage, 20)
    stage.apply([])
    stage.apply([{}])
    expect(stage.status().latencyMs.p50).toBeNull()
  })
})

describe('calls held by breaker or gate', () => {
  const wait: PolicyPart = { breaker: { whenOpen: 'wait', openForMs: 4000 } }

  async function held(): Promise<{ stage: Stage; calls: ReturnType<Stage['post']>[] }> {
    const stage = new Stage(wait)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    return { stage, calls: ['/w1', '/w2', '/w3'].map(path => stage.post(path)) }
  }

  it('an edit that concerns them not leaves them in line, in their order', async () => {
    const { stage, calls } = await held()
    stage.apply([{ policy: { ...wait, retry: { maxAttempts: 2 } } }])
    expect(calls.map(call => call.summary)).toEqual(Array(3).fill('waiting'))
    await stage.finish()
    expect(calls.map(call => call.summary)).toEqual(Array(3).fill('200 delivered after 1'))
    expect(stage.upstream.paths.filter(path => path.startsWith('/w'))).toEqual(['/w1', '/w2', '/w3'])
  })

  it('an edit that disables the breaker lets them go', async () => {
    const { stage, calls } = await held()
    stage.apply([{ policy: { breaker: { mode: 'disabled' } } }])
    await stage.run(2000)
    expect(calls.map(call => call.status)).toEqual([200, 200, 200])
  })

  it.each<[string, UpstreamPart[]]>([
    ...MOVES.map(([what, moved]): [string, UpstreamPart[]] => [`another ${what}`, [{ ...moved, policy: wait }]]),
    ['removed', []],
  ])('%s: are answered 503 with Retry-After', async (_what, next) => {
    const { stage, calls } = await held()
    const sent = stage.upstream.sent.length
    stage.apply(next)
    await stage.run(1000)
    expect(calls.map(call => call.summary)).toEqual(Array(3).fill('503 breaker-open after 0'))
    expect(calls.map(call => call.header('retry-after'))).toEqual(['1', '1', '1'])
    expect(stage.upstream.sent.length).toBe(sent)
  })
})

describe('calls that wait for a slot', () => {
  const one: PolicyPart = { limits: { maxInFlight: 1 } }

  async function queued(policy: PolicyPart = one): Promise<{ stage: Stage; calls: ReturnType<Stage['get']>[] }> {
    const stage = new Stage(policy)
    stage.upstream.plays(reply(200, { afterMs: 1000 }))
    const calls = ['/1', '/2', '/3'].map(path => stage.get(path))
    await stage.run(100)
    return { stage, calls }
  }

  it('an edit of maxWaiting below those who wait sends none away, and takes no more in', async () => {
    const { stage, calls } = await queued()
    stage.apply([{ policy: { limits: { maxInFlight: 1, maxWaiting: 1 } } }])
    expect(stage.get('/late').summary).toBe('503 overloaded after 0')
    await stage.finish()
    expect(calls.map(call => call.status)).toEqual([200, 200, 200])
  })

  it('an edit of maxInFlight below those in flight lets none follow until they are below it again', async () => {
    const { stage } = await queued({ limits: { maxInFlight: 3 } })
    stage.apply([{ policy: { limits: { maxInFlight: 2 } } }])
    for (const path of ['/4', '/5', '/6']) stage.get(path)
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 0, 0, 1000, 1000, 2000])
  })

  it('an edit of pool.maxConnections below those in flight does the same', async () => {
    const { stage } = await queued({})
    stage.apply([{ maxConnections: 2 }])
    for (const path of ['/4', '/5', '/6']) stage.get(path)
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 0, 0, 1000, 1000, 2000])
    expect(stage.calls.every(call => call.status === 200)).toBe(true)
  })

  it.each(MOVES)(
    'another %s: they go to the old one, new ones to the new one, under one limit',
    async (what, moved) => {
      const { stage, calls } = await queued()
      stage.apply([{ ...moved, policy: one }])
      stage.get('/new')
      await stage.finish()
      expect(calls.map(call => call.status)).toEqual([200, 200, 200])
      expect(stage.upstream.times).toEqual([0, 1000, 2000, 3000])
      const whom = stage.upstream.sent.map(({ request: { upstream } }) =>
        what === 'tls' ? upstream.tls.serverName : upstream.target.hostname,
      )
      expect([new Set(whom.slice(0, 3)).size, whom[3]]).toEqual([1, 'elsewhere.example.com'])
    },
  )

  it('removed: first attempts are made', async () => {
    const { stage, calls } = await queued()
    stage.apply([])
    await stage.finish()
    expect(calls.map(call => call.summary)).toEqual(Array(3).fill('200 delivered after 1'))
  })

  it('removed and added again: those of before and the new ones are both served', async () => {
    const { stage, calls } = await queued()
    stage.apply([])
    stage.apply([{ policy: one }])
    const fresh = stage.get('/fresh')
    await stage.finish()
    expect([...calls, fresh].map(call => call.status)).toEqual([200, 200, 200, 200])
  })
})

describe('calls in back-off', () => {
  async function backingOff(): Promise<{ stage: Stage; call: ReturnType<Stage['get']> }> {
    const stage = new Stage()
    stage.upstream.plays(reply(503, { body: 'held' }), reply(200))
    const call = stage.get('/waits')
    await stage.run(100)
    expect(call.summary).toBe('waiting')
    return { stage, call }
  }

  it('an edit lets them wait as long as they were to, under the old back-off', async () => {
    const { stage, call } = await backingOff()
    stage.apply([{ policy: { retry: { backoff: { baseMs: 9000 } } } }])
    await stage.finish()
    expect([call.summary, stage.upstream.times]).toEqual(['200 delivered after 2', [0, 210]])
  })

  it.each(MOVES)('another %s: the retry goes to the old one', async (_what, moved) => {
    const { stage, call } = await backingOff()
    stage.apply([moved])
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(stage.upstream.sent[1]?.request.upstream).toBe(stage.upstream.sent[0]?.request.upstream)
  })

  it.each<[string, UpstreamPart[]]>([
    ['removed', []],
    ['renamed', [{ name: 'renamed' }]],
  ])('%s: the app gets the failed answer', async (_what, next) => {
    const { stage, call } = await backingOff()
    stage.apply(next)
    await stage.finish()
    expect([call.summary, call.text]).toEqual(['503 retries-exhausted after 1', 'held'])
  })

  it('removed and added again: the retry is made', async () => {
    const { stage, call } = await backingOff()
    stage.apply([])
    stage.apply([{}])
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('the route with a breaker of its own removed: the retry is made', async () => {
    const routes = [{ name: 'r', path: '/r', own: { breaker: true, limits: true, budget: true } }]
    const stage = new Stage({}, { upstreams: [{ routes }] })
    stage.upstream.plays(reply(503), reply(200))
    const call = stage.get('/r')
    await stage.run(100)
    stage.apply([{}])
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })
})

const POLLED = {
  name: 'job',
  policy: {
    poll: {
      until: { statuses: new Set([200]), json: null },
      backoff: { kind: 'fixed', baseMs: 1000, factor: 2, capMs: 1000, jitter: { kind: 'none' } },
      maxWaitMs: 60_000,
    },
  },
} as const

describe('calls under way', () => {
  it.each<[string, UpstreamPart[]]>([
    ['an edit', [{ policy: { timeouts: { totalMs: 500, attemptMs: 500 } } }]],
    ...MOVES.map(([what, moved]): [string, UpstreamPart[]] => [`another ${what}`, [moved]]),
    ['removed', []],
    ['renamed', [{ name: 'renamed' }]],
  ])('%s: finish as they began', async (_what, next) => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { afterMs: 2000, bodyMs: 3000 }))
    const call = stage.post('/long')
    await stage.run(100)
    stage.apply(next)
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
  })

  it.each<[string, UpstreamPart[], string]>([
    ['an edit to one attempt', [{ policy: { retry: { maxAttempts: 1 } } }], '502 reset after 1'],
    ['another target', [{ host: 'elsewhere.example.com' }], '200 delivered after 2'],
    ['removed', [], '502 reset after 1'],
  ])('%s: decides about the attempt after the one that fails', async (_what, next, summary) => {
    const stage = new Stage()
    stage.upstream.plays(fail('reset', { afterMs: 500 }), reply(200))
    const call = stage.get('/long')
    await stage.run(100)
    stage.apply(next)
    await stage.finish()
    expect(call.summary).toBe(summary)
  })

  it.each<[string, UpstreamPart[], string]>([
    ['an edit that takes the poll away', [{ routes: [{ name: 'job' }] }], '202 poll-pending after 1'],
    ['another target', [{ host: 'elsewhere.example.com', routes: [POLLED] }], '200 delivered after 2'],
    ['removed', [], '202 poll-pending after 1'],
  ])('%s: decides about the poll after the one that was answered', async (_what, next, summary) => {
    const stage = new Stage({}, { upstreams: [{ routes: [POLLED] }] })
    stage.upstream.plays(reply(202), reply(200))
    const call = stage.get('/job')
    await stage.run(100)
    stage.apply(next)
    await stage.finish()
    expect(call.summary).toBe(summary)
    const called = stage.upstream.sent.map(({ request }) => request.upstream.target.hostname)
    expect(new Set(called)).toEqual(new Set(['api.example.com']))
  })

  it('removed: their own clocks still end them', async () => {
    const stage = new Stage({ timeouts: { totalMs: 3000 } })
    stage.upstream.plays(hang())
    const call = stage.get('/hangs')
    await stage.run(100)
    stage.apply([])
    await stage.finish()
    expect([call.status, call.answeredAtMs]).toEqual([504, 3000])
  })
})

describe('the kill switch', () => {
  it.each<[string, UpstreamPart]>([['an edit', { policy: observe }], ...MOVES])('survives %s', async (_what, next) => {
    const stage = new Stage()
    stage.pipeline.switches.turnRetriesOff(60_000)
    stage.apply([next])
    stage.upstream.plays(reply(503))
    const call = stage.get()
    await stage.finish()
    expect([call.attempts, stage.denials]).toEqual([1, ['retries-off']])
  })
})
