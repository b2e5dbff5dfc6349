import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BreakerSettings,
  failsProbe,
  NO_RUN,
  nextRun,
  openTimeMs,
  outageSinceMs,
  probeWaitMs,
  type SettledOutcome,
  tripReason,
} from '../../src/core/breaker-rules.js'
import { BUILT_IN_POLICY } from '../support/built-in.js'

const settings: BreakerSettings = BUILT_IN_POLICY.breaker
const unknown = () => null
const runOver = (spanMs: number, count = 10) => ({ count, sinceMs: 5, lastMs: 5 + spanMs })
const windowOver = (spanMs: number, calls = 20, failures = 20) => ({
  calls,
  failures,
  oldestFailureMs: 7,
  newestFailureMs: 7 + spanMs,
  slow: 0,
  slowSpanMs: 0,
})
const quiet = windowOver(0, 0, 0)

describe('the run of failures', () => {
  const after = (...outcomes: SettledOutcome[]) =>
    outcomes.reduce((run, outcome, index) => nextRun(run, outcome, 100 + index), NO_RUN)

  it('counts failures and remembers the first of them', () => {
    expect(after('failure', 'failure', 'failure')).toEqual({ count: 3, sinceMs: 100, lastMs: 102 })
  })

  it('ends at a success and at a 429', () => {
    expect(after('failure', 'success').count).toBe(0)
    expect(after('failure', 'throttled').count).toBe(0)
    expect(after('failure', 'success', 'failure')).toEqual({ count: 1, sinceMs: 102, lastMs: 102 })
  })

  it('is neither lengthened nor ended by a 500 or by a call that says nothing', () => {
    expect(after('failure', 'ratio-failure', 'none', 'failure')).toEqual({ count: 2, sinceMs: 100, lastMs: 103 })
  })
})

describe('the trip rule', () => {
  const trip = (over: Partial<BreakerSettings>, count: number, calls: number, failures: number, spanMs = 10_000) =>
    tripReason({ ...settings, ...over }, runOver(spanMs, count), windowOver(spanMs, calls, failures), unknown)

  it('opens at exactly the ratio, for every decimal ratio', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), percent => {
        const failureRatio = Number(`${percent / 100}`)
        expect(trip({ failureRatio }, 0, 100, percent)).toBe('failure-ratio')
        expect(trip({ failureRatio }, 0, 100, percent - 1)).toBe(null)
      }),
    )
  })

  it('means by a ratio of 1 that all failed', () => {
    expect(trip({ failureRatio: 1 }, 0, 20, 20)).toBe('failure-ratio')
    expect(trip({ failureRatio: 1 }, 0, 21, 20)).toBe(null)
  })

  it('asks for the minimum of requests', () => {
    expect(trip({}, 0, 19, 19)).toBe(null)
    expect(trip({}, 0, 20, 20)).toBe('failure-ratio')
  })

  it('opens at the run alone, and not when that is switched off', () => {
    expect(trip({}, 9, 0, 0)).toBe(null)
    expect(trip({}, 10, 0, 0)).toBe('consecutive-failures')
    expect(trip({ consecutiveFailures: 0 }, 1_000, 0, 0)).toBe(null)
  })

  it('waits until the failures span 100 ms', () => {
    expect(trip({}, 50, 50, 50, 99)).toBe(null)
    expect(trip({}, 50, 0, 0, 100)).toBe('consecutive-failures')
    expect(trip({}, 0, 50, 50, 100)).toBe('failure-ratio')
  })

  it('waits until the failures span 1.5 × p95, but for the ratio no longer than half the window', () => {
    expect(tripReason(settings, runOver(599), quiet, () => 400)).toBe(null)
    expect(tripReason(settings, runOver(600), quiet, () => 400)).toBe('consecutive-failures')
    expect(tripReason(settings, NO_RUN, windowOver(599), () => 400)).toBe(null)
    expect(tripReason(settings, NO_RUN, windowOver(600), () => 400)).toBe('failure-ratio')
    expect(tripReason(settings, NO_RUN, windowOver(4_999), () => 60_000)).toBe(null)
    expect(tripReason(settings, NO_RUN, windowOver(5_000), () => 60_000)).toBe('failure-ratio')
    expect(tripReason(settings, runOver(5_000), quiet, () => 60_000)).toBe(null)
  })

  it('opens at the share of slow calls by the rules of the ratio', () => {
    const slowOver = (spanMs: number, calls: number, slow: number) => ({
      ...windowOver(0, calls, 0),
      slow,
      slowSpanMs: spanMs,
    })
    expect(tripReason(settings, NO_RUN, slowOver(5_000, 20, 16), unknown)).toBe('slow-calls')
    expect(tripReason(settings, NO_RUN, slowOver(5_000, 20, 15), unknown)).toBe(null)
    expect(tripReason(settings, NO_RUN, slowOver(5_000, 19, 19), unknown)).toBe(null)
    expect(tripReason(settings, NO_RUN, slowOver(4_999, 20, 20), () => 60_000)).toBe(null)
    expect(tripReason(settings, NO_RUN, slowOver(5_000, 20, 20), () => 60_000)).toBe('slow-calls')
  })

  it('does not ask for the percentile before a count is reached', () => {
    const fail = () => {
      throw new Error('asked')
    }
    expect(tripReason(settings, runOver(1, 9), windowOver(1, 19, 19), fail)).toBe(null)
  })
})

describe('the open time', () => {
  it('lies between half of and the whole bound, at most a quarter of the outage above openFor', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60_000 }),
        fc.integer({ min: 1, max: 600_000 }),
        fc.integer({ min: 0, max: 86_400_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (openForMs, maxOpenForMs, ageMs, random) => {
          const ms = openTimeMs({ openForMs, maxOpenForMs }, ageMs, random)
          const full = Math.min(maxOpenForMs, Math.max(openForMs, ageMs / 4))
          expect(Number.isInteger(ms)).toBe(true)
          expect(ms).toBeGreaterThanOrEqual(full / 2)
          expect(ms).toBeLessThanOrEqual(Math.ceil(full))
          expect(ms).toBeLessThanOrEqual(maxOpenForMs)
        },
      ),
    )
  })

  it('spreads with the draw', () => {
    expect(openTimeMs(settings, 0, 0)).toBe(500)
    expect(openTimeMs(settings, 0, 0.5)).toBe(750)
    expect(openTimeMs(settings, 40_000, 0)).toBe(5_000)
    expect(openTimeMs(settings, 4_000_000, 0.5)).toBe(11_250)
  })

  it('forgets an outage only after the breaker stayed closed for the last open time', () => {
    const outage = { sinceMs: 100, lastOpenForMs: 1_000 }
    expect(outageSinceMs(null, null, 5_000)).toBe(5_000)
    expect(outageSinceMs(outage, null, 5_000)).toBe(100)
    expect(outageSinceMs(outage, 4_001, 5_000)).toBe(100)
    expect(outageSinceMs(outage, 4_000, 5_000)).toBe(5_000)
  })
})

describe('the probe', () => {
  it('fails by a failure, a 429 or slowness, and is passed by any other answer', () => {
    expect(failsProbe('failure', false)).toBe(true)
    expect(failsProbe('throttled', false)).toBe(true)
    expect(failsProbe('success', true)).toBe(true)
    expect(failsProbe('success', false)).toBe(false)
    expect(failsProbe('ratio-failure', false)).toBe(false)
  })

  const wait = (probeSinceMs: number | null, mayLead: boolean, nowMs: number, p95Ms: number | null = null) =>
    probeWaitMs({ quietSinceMs: 1_000, probeSinceMs }, mayLead, settings, nowMs, () => p95Ms)

  it('goes to a first attempt at once, to others after 200 ms without one', () => {
    expect(wait(null, true, 1_000)).toBe(0)
    expect(wait(null, false, 1_050)).toBe(150)
    expect(wait(null, false, 1_200)).toBe(0)
  })

  it('makes others wait no longer than a short openFor', () => {
    expect(probeWaitMs({ quietSinceMs: 0, probeSinceMs: null }, false, { openForMs: 50 }, 50, unknown)).toBe(0)
  })

  it('is one at a time, until it has been silent for max(1 s, 2 × p95)', () => {
    expect(wait(1_000, true, 1_400)).toBe(600)
    expect(wait(1_000, true, 2_000)).toBe(0)
    expect(wait(1_000, true, 2_000, 2_000)).toBe(3_000)
    expect(wait(1_000, true, 5_000, 2_000)).toBe(0)
  })
})
