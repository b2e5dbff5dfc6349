import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  atCeiling,
  CeilingWatch,
  HealthyRate,
  nextRamp,
  type Ramp,
  raiseCeiling,
  startRamp,
} from '../../src/core/ramp.js'

const healthy = fc.record({
  perSec: fc.double({ min: 0, max: 10_000, noNaN: true }),
  badRatio: fc.double({ min: 0, max: 0.5, noNaN: true }),
})
const verdicts = fc.array(fc.record({ good: fc.nat(60), bad: fc.nat(60) }), { maxLength: 200 })
/** Room for the rounding of sums. */
const EPSILON = 1e-9

const after = (ramp: Ramp, steps: number, good: number, bad: number) =>
  Array.from({ length: steps }).reduce<Ramp>(last => nextRamp(last, good, bad), ramp)

describe('the ramp', () => {
  it('starts at half the healthy rate, and at 2.5 a second at the least', () => {
    expect(startRamp({ perSec: 50, badRatio: 0 }).ratePerSec).toBe(25)
    expect(startRamp({ perSec: 0, badRatio: 0 }).ratePerSec).toBe(2.5)
  })

  it('stays within 0.5 and 1.3 times the healthy rate, whatever the answers', () => {
    fc.assert(
      fc.property(healthy, verdicts, (known, answers) => {
        let ramp = startRamp(known)
        for (const { good, bad } of answers) {
          ramp = nextRamp(ramp, good, bad)
          const share = ramp.ratePerSec / ramp.healthyPerSec
          expect(share).toBeGreaterThanOrEqual(0.5 - EPSILON)
          expect(share).toBeLessThanOrEqual(1.3 + EPSILON)
        }
      }),
    )
  })

  it('reaches the ceiling with any steady share of bad answers that was normal before, or up to 0.1 more', () => {
    fc.assert(
      fc.property(healthy, fc.integer({ min: 1, max: 100 }), fc.nat(), (known, answers, pick) => {
        const most = Math.floor((known.badRatio + 0.1) * answers)
        const bad = pick % (most + 1)
        expect(atCeiling(after(startRamp(known), 9, answers - bad, bad))).toBe(true)
      }),
    )
  })

  it('does not take a few bad answers that come together for overload', () => {
    const ramp = startRamp({ perSec: 50, badRatio: 0.02 })
    expect(nextRamp(ramp, 8, 2).ratePerSec).toBeGreaterThan(ramp.ratePerSec)
    expect(nextRamp(ramp, 7, 3).ratePerSec).toBe(ramp.ratePerSec)
  })

  it('halves when half of the answers of a healthy upstream are bad, down to where it started', () => {
    const full = after(startRamp({ perSec: 100, badRatio: 0 }), 20, 10, 0)
    expect(full.ratePerSec).toBeCloseTo(130)
    expect(nextRamp(full, 5, 5).ratePerSec).toBeCloseTo(65)
    expect(after(full, 5, 5, 5).ratePerSec).toBe(50)
  })

  it('takes what was served at the ceiling for healthy when the ceiling is raised', () => {
    const full = after(startRamp({ perSec: 100, badRatio: 0 }), 20, 10, 0)
    const raised = raiseCeiling(full)
    expect(raised.healthyPerSec).toBeCloseTo(130)
    expect(raised.ratePerSec).toBe(full.ratePerSec)
    expect(atCeiling(raised)).toBe(false)
  })
})

/** One list entry a second: how many answers were good and bad in it. The next second has begun when it is read. */
function rateAfter(seconds: readonly (readonly [good: number, bad: number])[]): HealthyRate {
  const rate = new HealthyRate()
  for (const [second, [good, bad]] of seconds.entries()) {
    for (let n = 0; n < good; n++) rate.onGood(second * 1000 + n)
    for (let n = 0; n < bad; n++) rate.onBad(second * 1000 + 500 + n)
  }
  return rate
}

describe('the healthy rate', () => {
  it('is unknown before the first whole second', () => {
    const rate = rateAfter([[10, 0]])
    expect(rate.now(999)).toBeNull()
    expect(rate.now(1000)).toEqual({ perSec: 10, badRatio: 0 })
  })

  it('is the second highest, so that neither one burst nor a slow start moves it', () => {
    expect(
      rateAfter([
        [50, 0],
        [50, 0],
        [3, 0],
        [400, 0],
        [51, 0],
      ]).now(5000)?.perSec,
    ).toBe(51)
  })

  it('counts the bad answers of a second with more good ones', () => {
    expect(
      rateAfter([
        [35, 15],
        [35, 15],
        [35, 15],
      ]).now(3000),
    ).toEqual({ perSec: 50, badRatio: 0.3 })
  })

  it('leaves seconds out in which no more answers were good than bad, however many they are', () => {
    const outage = Array.from({ length: 20 }, () => [5, 5] as const)
    expect(rateAfter([[49, 1], [49, 1], ...outage]).now(22_000)).toEqual({ perSec: 50, badRatio: 0.02 })
    expect(rateAfter(outage).now(20_000)).toBeNull()
  })

  it('keeps no second in which nothing was answered', () => {
    const rate = rateAfter([[30, 0]])
    expect(rate.now(3_600_000)).toEqual({ perSec: 30, badRatio: 0 })
  })

  it('keeps the last five', () => {
    const seconds = [
      [100, 0],
      [100, 0],
      [100, 0],
      [10, 0],
      [10, 0],
      [20, 0],
      [20, 0],
      [20, 0],
    ] as const
    expect(rateAfter(seconds).now(8000)?.perSec).toBe(20)
  })
})

describe('the ceiling of a line that is let go at it', () => {
  const full = after(startRamp({ perSec: 100, badRatio: 0 }), 20, 10, 0)
  /** The ramp after so many seconds at whose ends the line has these lengths. */
  const watched = (lengths: readonly number[], cautious = false) => {
    const watch = new CeilingWatch(lengths[0] ?? 0)
    return lengths.reduce((ramp, length) => {
      let next = ramp
      for (let step = 0; step < 10; step++) next = watch.step(length, next, cautious)
      return next
    }, full)
  }
  const constant = (seconds: number) => Array.from({ length: seconds }, () => 500)

  it('rises while the line grows', () => {
    expect(watched([500, 500, 530]).healthyPerSec).toBeCloseTo(130)
    expect(watched([500, 500, 530], true)).toEqual(full)
  })

  it('stays while the line shrinks, and for half a minute while it stands, give or take', () => {
    expect(watched([500, 480, 460, 440])).toEqual(full)
    expect(watched(constant(30).map((length, n) => length + (n % 3)))).toEqual(full)
    expect(watched(constant(32)).healthyPerSec).toBeCloseTo(130)
  })
})
