import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULTS, type Rig, rig } from './breaker-harness.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const pass = (ms: number) => void vi.advanceTimersByTime(ms)

/** Trips by the run: ten failures over 180 ms when none came before. */
function trip(r: Rig): void {
  for (let i = 0; i < 10 && r.breaker.state === 'closed'; i++) {
    if (i > 0) pass(20)
    r.call('failure', 'retry')
  }
  expect(r.breaker.state).toBe('open')
}

/** Trips and waits until half-open. */
function tripAndWait(r: Rig): void {
  trip(r)
  pass(Math.ceil(r.breaker.openForMs))
  expect(r.breaker.state).toBe('half-open')
}

describe('a closed breaker', () => {
  it('lets calls through and keeps state and counts right within the tick', () => {
    const r = rig()
    expect(r.breaker.state).toBe('closed')
    expect([r.breaker.openForMs, r.breaker.refusing, r.breaker.failuresInARow]).toEqual([0, false, 0])
    r.call('failure')
    expect(r.breaker.failuresInARow).toBe(1)
    trip(r)
    expect(r.breaker.refusing).toBe(true)
    expect(r.breaker.acquire('first')).toEqual({ granted: false, retryAfterMs: 750 })
  })

  it('does not open at a single failure after a quiet period (F053)', () => {
    const r = rig()
    pass(60_000)
    r.call('failure')
    pass(60_000)
    r.call('failure')
    expect(r.changes).toEqual([])
  })

  it('opens by the ratio at exactly the threshold, once the minimum of requests is there (F057)', () => {
    const r = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 4; i++) r.call('success')
    for (let i = 0; i < 15; i++) {
      pass(20)
      r.call('failure')
    }
    expect(r.breaker.state).toBe('closed')
    pass(20)
    r.call('failure')
    expect(r.changes).toEqual([{ from: 'closed', to: 'open', reason: 'failure-ratio', openForMs: 750 }])
  })

  it('takes a ratio of 1 as all failed (F057)', () => {
    const r = rig({ failureRatio: 1, consecutiveFailures: 0 })
    for (let i = 0; i < 20; i++) {
      pass(20)
      r.call('failure')
    }
    expect(r.steps()).toEqual(['closed → open: failure-ratio'])
  })

  it('is not opened by a constant half of failures', () => {
    const r = rig()
    for (let i = 0; i < 2_000; i++) {
      pass(10)
      r.call(i % 2 === 0 ? 'failure' : 'success')
    }
    expect(r.changes).toEqual([])
  })

  it('is not opened by calls in flight, by 429 or by 404, however many (F056)', () => {
    const r = rig({ minRequests: 2, consecutiveFailures: 2 })
    for (let i = 0; i < 50; i++) r.permit()
    for (let i = 0; i < 500; i++) {
      pass(10)
      // 90 % of 404s: the classifier calls them successes.
      r.call(i % 10 === 0 ? 'throttled' : 'success')
    }
    expect(r.changes).toEqual([])
  })

  it('is not kept closed by calls in flight', () => {
    const r = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 500; i++) r.permit()
    for (let i = 0; i < 20; i++) {
      pass(20)
      r.call('failure')
    }
    expect(r.breaker.state).toBe('open')
  })

  it('is not opened by outcomes that say nothing about the upstream', () => {
    const r = rig({ minRequests: 1, consecutiveFailures: 1 })
    for (let i = 0; i < 50; i++) {
      pass(50)
      r.call('none')
    }
    expect(r.changes).toEqual([])
  })

  it('counts retries in the run but not in the ratio', () => {
    const r = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 200; i++) {
      pass(20)
      r.call('failure', 'retry')
    }
    expect(r.changes).toEqual([])
    const other = rig({ failureRatio: 1, minRequests: 1_000 })
    trip(other)
    expect(other.steps()).toEqual(['closed → open: consecutive-failures'])
  })

  it('counts each attempt, so ten failed attempts open it whatever requests they belong to (F058)', () => {
    const r = rig()
    let sent = 0
    for (let request = 0; request < 10; request++) {
      for (let attempt = 1; attempt <= 3; attempt++) {
        pass(20)
        if (!r.call('failure', attempt === 1 ? 'first' : 'retry')) break
        sent++
      }
    }
    expect(sent).toBe(10)
  })

  it('counts a 500 in the ratio only, and lets it neither lengthen nor end a run', () => {
    const r = rig({ failureRatio: 1, minRequests: 30 })
    for (let i = 0; i < 9; i++) {
      pass(20)
      r.call('failure')
      r.call('ratio-failure')
    }
    expect([r.breaker.state, r.breaker.failuresInARow]).toEqual(['closed', 9])
    r.call('failure')
    expect(r.steps()).toEqual(['closed → open: consecutive-failures'])
    const only500 = rig({ consecutiveFailures: 1 })
    for (let i = 0; i < 20; i++) {
      pass(20)
      only500.call('ratio-failure')
    }
    expect(only500.steps()).toEqual(['closed → open: failure-ratio'])
  })

  it('counts a response that is cut later as one more failure', () => {
    const r = rig({ consecutiveFailures: 2 })
    const first = r.permit()
    const second = r.permit()
    r.breaker.record(first, 'success')
    r.breaker.record(second, 'success')
    r.breaker.record(first, 'failure')
    pass(200)
    r.breaker.record(second, 'failure')
    expect(r.steps()).toEqual(['closed → open: consecutive-failures'])
  })

  it('stays closed when one dead replica of ten resets dozens of calls within a millisecond', () => {
    const r = rig()
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 40; i++) r.call('failure')
      pass(1)
      for (let i = 0; i < 360; i++) r.call('success')
      pass(50)
    }
    expect(r.changes).toEqual([])
  })

  it('stays closed at a burst of failures and opens when they go on for 100 ms', () => {
    const r = rig()
    for (let i = 0; i < 50; i++) r.call('failure')
    pass(99)
    r.call('failure')
    expect(r.breaker.state).toBe('closed')
    pass(1)
    r.call('failure')
    expect(r.breaker.state).toBe('open')
  })

  it('does not take a failure that a trigger does not count for a sign that its burst went on', () => {
    const byRun = rig({ failureRatio: 1, minRequests: 1_000 })
    for (let i = 0; i < 10; i++) byRun.call('failure')
    pass(500)
    byRun.call('ratio-failure')
    expect(byRun.breaker.state).toBe('closed')
    const byRatio = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 20; i++) byRatio.call('failure')
    pass(500)
    byRatio.call('failure', 'retry')
    expect(byRatio.breaker.state).toBe('closed')
  })

  it('gives a slow upstream 1.5 × p95 before it opens', () => {
    const r = rig()
    r.told.p95Ms = 1_000
    for (let i = 0; i < 50; i++) r.call('failure')
    pass(1_499)
    r.call('failure')
    expect(r.breaker.state).toBe('closed')
    pass(1)
    r.call('failure')
    expect(r.breaker.state).toBe('open')
  })

  it('forgets what is older than the window', () => {
    const r = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 19; i++) {
      pass(20)
      r.call('failure')
    }
    pass(10_000)
    r.call('failure')
    expect(r.changes).toEqual([])
  })

  it('remembers what is younger than nine tenths of the window', () => {
    const r = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 19; i++) r.call('failure')
    pass(8_990)
    r.call('failure')
    expect(r.breaker.state).toBe('open')
  })
})

describe('an open breaker', () => {
  it('refuses with the time left', () => {
    const r = rig()
    trip(r)
    pass(250)
    expect(r.breaker.acquire('first')).toEqual({ granted: false, retryAfterMs: 500 })
    expect(r.breaker.acquire('retry')).toEqual({ granted: false, retryAfterMs: 500 })
    expect(r.breaker.openForMs).toBe(500)
  })

  it('reaches half-open even when many failures landed at once (F050)', () => {
    const r = rig({ consecutiveFailures: 5 })
    r.call('failure')
    const late = Array.from({ length: 6 }, () => r.permit())
    pass(150)
    for (const permit of late) r.breaker.record(permit, 'failure')
    expect(r.breaker.state).toBe('open')
    pass(1_500)
    expect(r.breaker.state).toBe('half-open')
    r.call('success')
    expect(r.steps()).toEqual([
      'closed → open: consecutive-failures',
      'open → half-open: time',
      'half-open → closed: probe-succeeded',
    ])
  })

  it('ignores answers of calls that began before it opened, in every later state', () => {
    const r = rig()
    const early = Array.from({ length: 30 }, () => r.permit())
    trip(r)
    r.breaker.record(early[0] ?? r.permit(), 'success')
    expect(r.breaker.state).toBe('open')
    pass(750)
    r.breaker.record(early[1] ?? r.permit(), 'success')
    expect(r.breaker.state).toBe('half-open')
    const probe = r.permit()
    r.breaker.record(early[2] ?? r.permit(), 'failure')
    expect(r.breaker.state).toBe('half-open')
    r.breaker.record(probe, 'success')
    pass(200)
    for (const permit of early.slice(3)) r.breaker.record(permit, 'failure')
    expect([r.breaker.state, r.breaker.failuresInARow]).toEqual(['closed', 0])
  })

  it('stays open for openFor × U(0.5, 1) the first time', () => {
    for (const [random, ms] of [
      [0, 500],
      [0.999_999, 1_000],
    ] as const) {
      const r = rig({}, () => random)
      trip(r)
      expect(r.changes[0]?.openForMs).toBe(ms)
      pass(ms - 1)
      expect(r.breaker.state).toBe('open')
      pass(1)
      expect(r.breaker.state).toBe('half-open')
    }
  })

  it('stays open for a quarter of the age of the outage, at most maxOpenFor', () => {
    const r = rig({}, () => 0.999_999)
    trip(r)
    const openedMs = performance.now()
    for (let i = 0; i < 40; i++) {
      pass(Math.ceil(r.breaker.openForMs))
      const ageMs = performance.now() - openedMs
      r.call('failure')
      const last = r.changes.at(-1)
      expect(last?.reason).toBe('probe-failed')
      const full = Math.min(15_000, Math.max(1_000, ageMs / 4))
      expect(last?.openForMs).toBeGreaterThanOrEqual(full - 1)
      expect(last?.openForMs).toBeLessThanOrEqual(Math.ceil(full))
    }
    expect(r.breaker.openForMs).toBe(15_000)
  })

  it('remembers the age of an outage that comes back soon, and forgets it after a healthy open time', () => {
    const outageOf = (closedForMs: number) => {
      const r = rig({}, () => 0)
      trip(r)
      while (performance.now() < 100_000) {
        pass(Math.ceil(r.breaker.openForMs))
        r.call('failure')
      }
      const lastMs = r.breaker.openForMs
      pass(lastMs)
      r.call('success')
      expect(lastMs).toBe(7_500)
      // Tripping takes 180 ms.
      pass(closedForMs - 180)
      trip(r)
      return r.breaker.openForMs
    }
    expect(outageOf(7_400)).toBe(7_500)
    vi.useRealTimers()
    vi.useFakeTimers()
    expect(outageOf(7_500)).toBe(500)
  })
})

describe('a second outage', () => {
  it('has an age of its own, which its failed probes do not reset', () => {
    const r = rig({}, () => 0.999_999)
    tripAndWait(r)
    r.call('success')
    pass(60_000)
    trip(r)
    const openedMs = performance.now()
    expect(r.breaker.openForMs).toBe(1_000)
    while (performance.now() < openedMs + 20_000) {
      pass(Math.ceil(r.breaker.openForMs))
      r.call('failure')
    }
    expect(r.breaker.openForMs).toBeGreaterThanOrEqual(5_000)
  })
})

describe('a half-open breaker', () => {
  it('lets exactly one of twenty calls through and refuses the rest at once (F049)', () => {
    const r = rig()
    tripAndWait(r)
    const answers = Array.from({ length: 20 }, () => r.breaker.acquire('first'))
    expect(answers.filter(answer => answer.granted)).toHaveLength(1)
    expect(answers[0]).toMatchObject({ granted: true, probe: true, first: true })
    expect(answers[1]).toEqual({ granted: false, retryAfterMs: 1_000 })
    expect(r.breaker.refusing).toBe(true)
  })

  it('closes at a good answer with an empty window', () => {
    const r = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 20; i++) {
      pass(20)
      r.call('failure')
    }
    pass(750)
    for (let i = 0; i < 1_000; i++) r.breaker.acquire('retry')
    r.call('success')
    expect(r.steps().at(-1)).toBe('half-open → closed: probe-succeeded')
    for (let i = 0; i < 19; i++) {
      pass(20)
      r.call('failure')
    }
    expect(r.breaker.state).toBe('closed')
    pass(20)
    r.call('failure')
    expect(r.breaker.state).toBe('open')
  })

  it('closes at a 500 and at a 404, opens again at a failure and at a 429', () => {
    for (const outcome of ['success', 'ratio-failure'] as const) {
      const r = rig()
      tripAndWait(r)
      r.call(outcome)
      expect(r.breaker.state).toBe('closed')
    }
    for (const outcome of ['failure', 'throttled'] as const) {
      const r = rig()
      tripAndWait(r)
      r.call(outcome)
      expect(r.steps().at(-1)).toBe('half-open → open: probe-failed')
      expect(r.breaker.acquire('first').granted).toBe(false)
    }
  })

  it('hands the probe on when its outcome says nothing', () => {
    const r = rig()
    tripAndWait(r)
    r.call('none')
    expect(r.breaker.state).toBe('half-open')
    expect(r.permit().probe).toBe(true)
  })

  it('keeps the probe for a first attempt and gives it to a retry only after 200 ms without one', () => {
    for (const kind of ['retry', 'long-poll'] as const) {
      const r = rig()
      tripAndWait(r)
      expect(r.breaker.acquire(kind)).toEqual({ granted: false, retryAfterMs: 200 })
      pass(150)
      expect(r.breaker.acquire(kind)).toEqual({ granted: false, retryAfterMs: 50 })
      r.call('none')
      pass(150)
      expect(r.breaker.acquire(kind)).toEqual({ granted: false, retryAfterMs: 50 })
      pass(50)
      expect(r.permit(kind)).toMatchObject({ probe: true, first: kind === 'long-poll' })
      expect(r.breaker.acquire('first').granted).toBe(false)
    }
  })

  it('is not wedged by a probe that never ends: another starts after max(1 s, 2 × p95)', () => {
    const r = rig()
    tripAndWait(r)
    const hung = r.permit()
    pass(400)
    expect(r.breaker.acquire('first')).toEqual({ granted: false, retryAfterMs: 600 })
    pass(600)
    const second = r.permit()
    expect(second).not.toBe(hung)
    expect(r.breaker.acquire('first').granted).toBe(false)
    r.breaker.record(hung, 'none')
    expect(r.breaker.acquire('first').granted).toBe(false)
    r.told.p95Ms = 2_000
    pass(3_999)
    expect(r.breaker.acquire('first')).toEqual({ granted: false, retryAfterMs: 1 })
    pass(1)
    r.call('success')
    expect(r.breaker.state).toBe('closed')
  })

  it('lets a slow probe decide even when another has started since', () => {
    const good = rig()
    tripAndWait(good)
    const slow = good.permit()
    pass(1_000)
    const next = good.permit()
    good.breaker.record(slow, 'success')
    expect(good.breaker.state).toBe('closed')
    good.breaker.record(next, 'failure')
    expect([good.breaker.state, good.breaker.failuresInARow]).toEqual(['closed', 0])
    const bad = rig()
    tripAndWait(bad)
    const timedOut = bad.permit()
    pass(1_000)
    bad.permit()
    bad.breaker.record(timedOut, 'failure')
    expect(bad.breaker.state).toBe('open')
  })

  it('ignores the probe of an earlier half-open phase', () => {
    const r = rig()
    tripAndWait(r)
    const old = r.permit()
    pass(1_000)
    r.call('failure')
    pass(750)
    expect(r.breaker.state).toBe('half-open')
    r.breaker.record(old, 'success')
    expect(r.breaker.state).toBe('half-open')
  })
})

describe('modes', () => {
  it('observes: counts and tells the same transitions but refuses nothing', () => {
    const r = rig({ mode: 'observe' })
    trip(r)
    expect(r.breaker.refusing).toBe(false)
    for (let i = 0; i < 20; i++) expect(r.call('success')).toBe(true)
    expect(r.breaker.state).toBe('open')
    pass(750)
    const probe = r.permit()
    expect(probe.probe).toBe(true)
    expect(r.permit().probe).toBe(false)
    r.call('failure')
    expect(r.breaker.state).toBe('half-open')
    r.breaker.record(probe, 'success')
    expect(r.steps()).toEqual([
      'closed → open: consecutive-failures',
      'open → half-open: time',
      'half-open → closed: probe-succeeded',
    ])
  })

  it('is nothing at all when disabled', () => {
    const r = rig({ mode: 'disabled', minRequests: 1, consecutiveFailures: 1 })
    for (let i = 0; i < 100; i++) {
      pass(50)
      expect(r.call('failure')).toBe(true)
    }
    r.breaker.force('open')
    expect([r.breaker.state, r.breaker.failuresInARow, r.breaker.refusing]).toEqual(['closed', 0, false])
    expect(r.changes).toEqual([])
  })
})

describe('an edit', () => {
  it('does not close an open breaker, and new open times apply from the next opening', () => {
    const r = rig()
    trip(r)
    r.breaker.reconfigure({ ...DEFAULTS, windowMs: 1_000, openForMs: 4_000, failureRatio: 1, consecutiveFailures: 0 })
    expect([r.breaker.state, r.breaker.openForMs]).toEqual(['open', 750])
    pass(750)
    r.call('failure')
    expect(r.changes.at(-1)?.openForMs).toBe(3_000)
  })

  it('closes it when it disables it, and a re-enabled one starts afresh', () => {
    const r = rig()
    const early = r.permit()
    trip(r)
    r.breaker.reconfigure({ ...DEFAULTS, mode: 'disabled' })
    expect(r.steps().at(-1)).toBe('open → closed: manual')
    const unwatched = r.permit()
    r.breaker.reconfigure({ ...DEFAULTS, consecutiveFailures: 1, minRequests: 1 })
    pass(5_000)
    for (let i = 0; i < 20; i++) {
      pass(20)
      r.breaker.record(early, 'failure')
      r.breaker.record(unwatched, 'failure')
    }
    expect(r.changes).toHaveLength(2)
    expect(r.breaker.failuresInARow).toBe(0)
  })

  it('starts and stops refusing with the mode, in the state it has', () => {
    const r = rig({ mode: 'observe' })
    trip(r)
    r.breaker.reconfigure(DEFAULTS)
    expect([r.breaker.refusing, r.breaker.acquire('first').granted]).toEqual([true, false])
    r.breaker.reconfigure({ ...DEFAULTS, mode: 'observe' })
    expect([r.breaker.refusing, r.breaker.state, r.call('success')]).toEqual([false, 'open', true])
  })

  it('keeps what the window counted, as far as the new window reaches back', () => {
    const grown = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 19; i++) {
      pass(20)
      grown.call('failure')
    }
    grown.breaker.reconfigure({ ...DEFAULTS, consecutiveFailures: 0, windowMs: 60_000 })
    grown.call('failure')
    expect(grown.steps()).toEqual(['closed → open: failure-ratio'])

    const shrunk = rig({ consecutiveFailures: 0 })
    for (let i = 0; i < 19; i++) shrunk.call('failure')
    pass(5_000)
    shrunk.breaker.reconfigure({ ...DEFAULTS, consecutiveFailures: 0, windowMs: 2_000 })
    shrunk.call('failure')
    expect(shrunk.changes).toEqual([])
  })

  it('applies to the window even while the breaker is disabled', () => {
    const r = rig()
    const shorter = { ...DEFAULTS, consecutiveFailures: 0, windowMs: 1_000 }
    r.breaker.reconfigure({ ...shorter, mode: 'disabled' })
    r.breaker.reconfigure({ ...shorter, windowMs: 60_000, mode: 'disabled' })
    r.breaker.reconfigure({ ...shorter, windowMs: 60_000 })
    for (let i = 0; i < 20; i++) {
      pass(2_000)
      r.call('failure')
    }
    expect(r.breaker.state).toBe('open')
  })

  it('keeps calls in flight and the run of failures', () => {
    const r = rig()
    const flying = r.permit()
    for (let i = 0; i < 9; i++) r.call('failure')
    r.breaker.reconfigure({ ...DEFAULTS, windowMs: 5_000 })
    pass(200)
    r.breaker.record(flying, 'failure')
    expect(r.steps()).toEqual(['closed → open: consecutive-failures'])
  })
})

describe('by hand', () => {
  it('stays open until auto, then probes after the usual time', () => {
    const r = rig()
    r.breaker.force('open')
    expect(r.changes).toEqual([{ from: 'closed', to: 'open', reason: 'manual', openForMs: null }])
    pass(30 * 86_400_000)
    expect(r.breaker.acquire('first')).toEqual({ granted: false, retryAfterMs: 1_000 })
    r.breaker.force('auto')
    expect([r.breaker.state, r.breaker.openForMs]).toEqual(['open', 750])
    pass(750)
    r.call('success')
    expect(r.breaker.state).toBe('closed')
    expect(r.steps()).toHaveLength(3)
  })

  it('holds an opening that was running, and does not count the time held as an outage', () => {
    const r = rig()
    trip(r)
    r.breaker.force('open')
    pass(60_000)
    expect(r.breaker.state).toBe('open')
    expect(r.changes).toHaveLength(1)
    r.breaker.force('auto')
    expect(r.breaker.openForMs).toBe(750)
  })

  it('opens a half-open breaker and ignores its probe', () => {
    const r = rig()
    tripAndWait(r)
    const probe = r.permit()
    r.breaker.force('open')
    r.breaker.record(probe, 'success')
    expect(r.breaker.state).toBe('open')
    expect(r.steps().at(-1)).toBe('half-open → open: manual')
  })

  it('stays closed until auto, whatever fails', () => {
    const r = rig()
    trip(r)
    r.breaker.force('closed')
    expect(r.steps().at(-1)).toBe('open → closed: manual')
    for (let i = 0; i < 100; i++) {
      pass(20)
      expect(r.call('failure')).toBe(true)
    }
    r.breaker.force('auto')
    expect(r.breaker.state).toBe('closed')
    r.call('failure')
    expect(r.breaker.state).toBe('open')
  })
})

describe('instances', () => {
  it('share nothing: two of one frozen settings object open and time out apart (F052, F060)', () => {
    const draws = [0, 0.5]
    const one = rig(DEFAULTS, () => draws[0] ?? 0)
    const two = rig(DEFAULTS, () => draws[1] ?? 0)
    trip(one)
    expect(two.breaker.state).toBe('closed')
    trip(two)
    expect([one.changes[0]?.openForMs, two.changes[0]?.openForMs]).toEqual([500, 750])
    expect(DEFAULTS.openForMs).toBe(1_000)
  })

  it('cost no timer while closed, and one each while open', () => {
    const before = vi.getTimerCount()
    const rigs = Array.from({ length: 200 }, () => rig())
    for (const r of rigs) r.call('success')
    expect(vi.getTimerCount()).toBe(before)
    const [first] = rigs
    if (first !== undefined) trip(first)
    expect(vi.getTimerCount()).toBe(before + 1)
  })

  it('tell nothing and hold no timer once retired, and let late calls pass', () => {
    const r = rig()
    const flying = r.permit()
    trip(r)
    r.breaker.retire()
    expect(vi.getTimerCount()).toBe(0)
    pass(60_000)
    expect(r.call('failure')).toBe(true)
    r.breaker.record(flying, 'failure')
    expect(r.changes).toHaveLength(1)
  })

  it('let no failure become an unhandled rejection', async () => {
    vi.useRealTimers()
    const seen = vi.fn()
    process.on('unhandledRejection', seen)
    const r = rig()
    for (let i = 0; i < 50; i++) r.call('ratio-failure')
    await new Promise(resolve => setTimeout(resolve, 5))
    process.off('unhandledRejection', seen)
    expect(seen).not.toHaveBeenCalled()
  })
})
