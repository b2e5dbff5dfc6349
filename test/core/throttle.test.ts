import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AdaptiveThrottle, type ThrottleSettings } from '../../src/core/throttle.js'

const settings: ThrottleSettings = { mode: 'enabled', k: 2, windowMs: 30_000 }
const never = () => 0.999_999
const always = () => 0

/** One call that begins and ends at `nowMs`. */
function settled(throttle: AdaptiveThrottle, nowMs: number, good: boolean): void {
  if (throttle.admits(nowMs, never, true)) throttle.settle(nowMs, good ? 'success' : 'failure', nowMs)
}

describe('the refusal probability', () => {
  it('is 0 while the upstream accepts at least one of k calls', () => {
    const throttle = new AdaptiveThrottle(settings)
    for (let n = 0; n < 100; n++) settled(throttle, n * 10, n % 2 === 0)
    expect(throttle.refusalProbability(1000)).toBe(0)
  })

  it('follows the formula of the SRE book', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 0, max: 300 }),
        fc.double({ min: 1, max: 10, noNaN: true }),
        (accepted, failed, k) => {
          const throttle = new AdaptiveThrottle({ ...settings, k })
          for (let n = 0; n < accepted; n++) settled(throttle, 0, true)
          // Admitted whatever the probability.
          for (let n = 0; n < failed; n++) {
            throttle.admits(0, never, false)
            throttle.settle(0, 'failure', 0)
          }
          const requests = accepted + failed
          const formula = Math.min(0.95, Math.max(0, (requests - k * accepted) / (requests + 1)))
          expect(throttle.refusalProbability(0)).toBeCloseTo(requests < 20 ? 0 : formula, 10)
        },
      ),
    )
  })

  it('takes calls on their way for accepted, so that a burst on an idle upstream is not refused', () => {
    const throttle = new AdaptiveThrottle(settings)
    for (let n = 0; n < 1000; n++) expect(throttle.admits(n / 10, always, true)).toBe(true)
  })

  it('holds a failure against the moment at which its call began', () => {
    const throttle = new AdaptiveThrottle({ ...settings, windowMs: 10_000 })
    for (let n = 0; n < 20; n++) throttle.admits(100, never, true)
    for (let n = 0; n < 20; n++) throttle.admits(8_100, never, true)
    for (let n = 0; n < 20; n++) throttle.settle(100, 'failure', 9_000)
    expect(throttle.refusalProbability(9_000)).toBe(0)
    for (let n = 0; n < 16; n++) throttle.settle(8_100, 'failure', 9_000)
    expect(throttle.refusalProbability(9_000)).toBeCloseTo((40 - 2 * 4) / 41)
    // The first twenty are gone with their window.
    expect(throttle.refusalProbability(12_000)).toBeCloseTo((20 - 2 * 4) / 21)
  })

  it('counts a 429 as not accepted, a 500 and a 404 as accepted, and a call without an outcome as none', () => {
    const probabilityAfter = (outcome: 'throttled' | 'ratio-failure' | 'success' | 'none') => {
      const throttle = new AdaptiveThrottle(settings)
      for (let n = 0; n < 10; n++) throttle.admits(0, never, true)
      for (let n = 0; n < 20; n++) {
        throttle.admits(0, never, true)
        throttle.settle(0, outcome, 0)
      }
      return throttle.refusalProbability(0)
    }
    expect(probabilityAfter('throttled')).toBeCloseTo((30 - 20) / 31)
    expect(probabilityAfter('ratio-failure')).toBe(0)
    expect(probabilityAfter('success')).toBe(0)
    expect(probabilityAfter('none')).toBe(0)
  })

  it('is 0 below 20 calls, and never above 0.95', () => {
    const throttle = new AdaptiveThrottle(settings)
    for (let n = 0; n < 19; n++) settled(throttle, 0, false)
    expect(throttle.refusalProbability(0)).toBe(0)
    settled(throttle, 0, false)
    expect(throttle.refusalProbability(0)).toBe(0.95)
    for (let n = 0; n < 1000; n++) throttle.admits(0, always, true)
    expect(throttle.refusalProbability(0)).toBe(0.95)
  })

  it('begins anew after a reset', () => {
    const throttle = new AdaptiveThrottle(settings)
    for (let n = 0; n < 50; n++) settled(throttle, 0, false)
    throttle.reset()
    expect(throttle.refusalProbability(0)).toBe(0)
  })

  it('is forgotten with the window', () => {
    const throttle = new AdaptiveThrottle(settings)
    for (let n = 0; n < 50; n++) settled(throttle, 0, false)
    expect(throttle.refusalProbability(1000)).toBeGreaterThan(0.9)
    expect(throttle.refusalProbability(33_000)).toBe(0)
  })
})

it('an upstream that accepts a fixed number a second is sent about k times that, whatever is offered', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 4, max: 12 }), fc.nat(), (rate, times, seed) => {
      const throttle = new AdaptiveThrottle(settings)
      const random = uniform(seed)
      const offeredPerSecond = rate * times
      let sent = 0
      for (let second = 0; second < 150; second++) {
        let taken = 0
        for (let n = 0; n < offeredPerSecond; n++) {
          const nowMs = second * 1000 + (n * 1000) / offeredPerSecond
          if (!throttle.admits(nowMs, random, true)) continue
          if (second >= 60) sent++
          throttle.settle(nowMs, taken++ < rate ? 'success' : 'failure', nowMs)
        }
      }
      expect(sent / 90).toBeGreaterThan(rate * 1.2)
      expect(sent / 90).toBeLessThan(rate * 2.5)
    }),
    { numRuns: 30 },
  )
})

it('an edit keeps the counts and judges them by the new settings', () => {
  const throttle = new AdaptiveThrottle(settings)
  for (let n = 0; n < 20; n++) settled(throttle, 0, n < 10)
  throttle.reconfigure({ ...settings, k: 1 }, 0)
  expect(throttle.refusalProbability(0)).toBeCloseTo(10 / 21)
  throttle.reconfigure({ ...settings, k: 1, windowMs: 60_000 }, 100)
  expect(throttle.refusalProbability(45_000)).toBeCloseTo(10 / 21)
  throttle.reconfigure({ ...settings, mode: 'observe', k: 1 }, 100)
  expect(throttle.admits(100, always, true)).toBe(true)
})

/** U(0,1), the same for the same seed (a linear congruential generator). */
function uniform(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
