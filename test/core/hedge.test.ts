import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptFacts } from '../../src/core/classify.js'
import {
  asksForPatience,
  bringsForward,
  type HedgeSettings,
  hedgeDelayMs,
  lostSampleMs,
  mayRunTwice,
  mergedFacts,
} from '../../src/core/hedge.js'
import { LatencyWindow } from '../../src/core/latency.js'

const P95: HedgeSettings = {
  mode: 'enabled',
  after: { kind: 'quantile', q: 0.95 },
  maxHedges: 1,
  minSamples: 100,
  floorMs: 5,
  ceilingMs: 10_000,
  keyedWrites: false,
}

const FACTS: AttemptFacts = {
  retryable: true,
  why: 'status',
  breaker: 'failure',
  retryAfterMs: null,
  throttled: false,
  stop: null,
}

/** What the upstream forbids to repeat is not retryable. */
const facts: fc.Arbitrary<Omit<AttemptFacts, 'retryable'>> = fc.record({
  why: fc.constantFrom('status', 'reset', null),
  breaker: fc.constantFrom('success', 'failure', 'none'),
  retryAfterMs: fc.option(fc.integer({ min: 0, max: 100_000 })),
  throttled: fc.boolean(),
  stop: fc.constantFrom(null, null, 'exhausted', 'pushback'),
})

function consistent(part: Omit<AttemptFacts, 'retryable'>): AttemptFacts {
  const why = part.stop === null ? part.why : null
  return { ...part, why, retryable: why !== null }
}

function windowOf(durations: readonly number[], nowMs = 0): LatencyWindow {
  const window = new LatencyWindow()
  for (const ms of durations) window.record(ms, nowMs)
  return window
}

describe('the delay of a hedge', () => {
  it('that is fixed asks no sample', () => {
    const fixed: HedgeSettings = { ...P95, after: { kind: 'fixed', delayMs: 3 } }
    expect(hedgeDelayMs(fixed, new LatencyWindow(), 0)).toBe(3)
  })

  it('by a quantile is not known before minSamples', () => {
    expect(hedgeDelayMs(P95, windowOf(new Array(99).fill(20)), 0)).toBeNull()
    expect(hedgeDelayMs(P95, windowOf(new Array(100).fill(20)), 0)).not.toBeNull()
  })

  it('is unknown again when the samples have grown old', () => {
    expect(hedgeDelayMs(P95, windowOf(new Array(100).fill(20), 0), 90_000)).toBeNull()
  })

  it('by a quantile is between floor and ceiling, and such that not more than 1 - q of the samples are above', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.1, max: 100_000, noNaN: true }), { minLength: 100, maxLength: 400 }),
        fc.constantFrom(0.5, 0.9, 0.95, 0.99, 0.999),
        fc.integer({ min: 0, max: 1000 }),
        fc.integer({ min: 1, max: 100_000 }),
        (durations, q, floorMs, ceilingMs) => {
          const settings: HedgeSettings = { ...P95, after: { kind: 'quantile', q }, floorMs, ceilingMs }
          const delayMs = hedgeDelayMs(settings, windowOf(durations), 0) as number
          expect(delayMs).toBeLessThanOrEqual(ceilingMs)
          expect(delayMs).toBeGreaterThanOrEqual(Math.min(floorMs, ceilingMs))
          if (delayMs === ceilingMs) return
          const above = durations.filter(ms => ms > delayMs).length
          expect(above).toBeLessThanOrEqual((1 - q) * durations.length + 1e-9)
        },
      ),
    )
  })
})

/** One request after the other in virtual time; returns the share that was hedged and the last delay. */
function hedgedFor(draw: () => number, requests: number, lostCounts: boolean) {
  const window = new LatencyWindow()
  let hedges = 0
  let delayMs: number | null = null
  for (let n = 0; n < requests; n++) {
    const nowMs = n * 5
    delayMs = hedgeDelayMs(P95, window, nowMs)
    const first = draw()
    if (delayMs === null || first <= delayMs) {
      window.record(first, nowMs)
      continue
    }
    hedges++
    const second = draw()
    const firstWins = first <= delayMs + second
    window.record(firstWins ? first : second, nowMs)
    const lostMs = firstWins ? first - delayMs : delayMs + second
    const sampleMs = lostCounts ? lostSampleMs(lostMs, delayMs) : null
    if (sampleMs !== null) window.record(sampleMs, nowMs)
  }
  return { share: hedges / requests, delayMs: delayMs as number }
}

/** Two of a hundred are 50 times slower, the rest spread over 5 to 20 ms. */
function slowNowAndThen(seed: number, slowShare: number): () => number {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return () => (random() < slowShare ? 500 : 5 + 15 * random())
}

describe('the sample of an attempt that lost', () => {
  it('keeps hedges at the share that the quantile means, whatever share is slow', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.double({ min: 0, max: 0.04, noNaN: true }), (seed, slowShare) => {
        const { share } = hedgedFor(slowNowAndThen(seed, slowShare), 12_000, true)
        expect(share).toBeLessThanOrEqual(0.055)
      }),
      { numRuns: 30 },
    )
  })

  it('keeps the quantile where it is when nearly as many are slow as it leaves out', () => {
    // Six of a hundred are slow: p95 is theirs, and stays theirs though each of them is cut by a hedge.
    const draw = slowNowAndThen(7, 0.06)
    expect(hedgedFor(draw, 20_000, true).delayMs).toBeGreaterThan(400)
    expect(hedgedFor(draw, 20_000, false).delayMs).toBeLessThan(100)
  })

  it('is left out when it ran for less than the delay, which says nothing new', () => {
    expect([lostSampleMs(49, 50), lostSampleMs(50, 50), lostSampleMs(70, 50)]).toEqual([null, 50, 70])
  })
})

describe('what may run twice at once', () => {
  it.each([
    ['GET', 'idempotent', false, true],
    ['HEAD', 'idempotent', false, true],
    ['OPTIONS', 'idempotent', false, true],
    ['TRACE', 'idempotent', true, false],
    ['PUT', 'idempotent', true, false],
    ['DELETE', 'idempotent', true, false],
    ['get', 'none', true, false],
    ['POST', 'none', true, false],
    ['POST', 'keyed', false, false],
    ['POST', 'keyed', true, true],
    ['PUT', 'keyed', true, true],
    ['POST', 'generate', false, false],
    ['POST', 'generate', true, true],
  ] as const)('%s that is %s, keyedWrites %s: %s', (method, repeat, keyedWrites, expected) => {
    expect(mayRunTwice(method, repeat, keyedWrites)).toBe(expected)
  })
})

describe('a failed attempt', () => {
  it('brings the next hedge forward unless the upstream asks for patience', () => {
    expect(bringsForward(FACTS)).toBe(true)
    const patient: Partial<AttemptFacts>[] = [{ throttled: true }, { retryAfterMs: 1 }, { stop: 'pushback' }]
    for (const part of patient) expect(bringsForward({ ...FACTS, ...part })).toBe(false)
    expect(bringsForward({ ...FACTS, retryable: false, why: null })).toBe(false)
    expect(bringsForward({ ...FACTS, retryAfterMs: 0 })).toBe(true)
  })

  it('loses no wish for a pause to another one that failed after it', () => {
    fc.assert(
      fc.property(fc.array(facts.map(consistent), { minLength: 1, maxLength: 5 }), list => {
        const all = list.reduce<AttemptFacts | null>(
          (earlier, next) => mergedFacts(earlier, next),
          null,
        ) as AttemptFacts
        const longest = Math.max(0, ...list.map(one => one.retryAfterMs ?? 0))
        expect(all.retryAfterMs ?? 0).toBe(longest)
        expect(all.throttled).toBe(list.some(one => one.throttled))
        expect(all.stop === null).toBe(list.every(one => one.stop === null))
        expect(all.retryable).toBe(list.at(-1)?.retryable === true && all.stop === null)
        expect(asksForPatience(all)).toBe(list.some(asksForPatience))
      }),
    )
  })
})
