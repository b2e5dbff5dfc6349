import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Pacer, type PaceSettings } from '../../src/core/pacer.js'

const auto: PaceSettings = { mode: 'auto', ratePerSec: 10, burst: 1 }
const fixed = (ratePerSec: number, burst = 1): PaceSettings => ({ mode: 'fixed', ratePerSec, burst })

/** Calls as fast as the pace allows; gives how many went. */
function sendAll(pacer: Pacer, fromMs: number, toMs: number): number {
  let sent = 0
  for (let nowMs = fromMs; nowMs < toMs; nowMs++) while (sent < 1e6 && pacer.tryTake(nowMs)) sent++
  return sent
}

describe('a fixed pace', () => {
  it('never lets more go than burst + rate × time, and wastes nothing of it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 20_000 }),
        (rate, burst, forMs) => {
          const sent = sendAll(new Pacer(fixed(rate, burst), 0), 0, forMs + 1)
          // A late timer is made up for, as far as 20 ms.
          expect(sent).toBeLessThanOrEqual(burst + (rate * (forMs + 20)) / 1000 + 1e-6)
          expect(sent).toBeGreaterThanOrEqual(burst + Math.floor((rate * forMs) / 1000) - 1)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('tells how long the next has to wait', () => {
    const pacer = new Pacer(fixed(10), 0)
    expect(pacer.waitMs(0)).toBe(0)
    expect(pacer.tryTake(0)).toBe(true)
    expect(pacer.waitMs(0)).toBe(100)
    expect(pacer.waitMs(40)).toBe(60)
    expect(pacer.tryTake(99)).toBe(false)
    expect(pacer.tryTake(100)).toBe(true)
  })

  it('is paid back for a call that was not sent, and lends to one that must go', () => {
    const pacer = new Pacer(fixed(10), 0)
    pacer.tryTake(0)
    pacer.giveBack(0)
    expect(pacer.tryTake(0)).toBe(true)
    pacer.take(0)
    expect(pacer.waitMs(0)).toBe(200)
  })

  it('learns nothing from a 429', () => {
    const pacer = new Pacer(fixed(10), 0)
    pacer.onThrottled(0, 5)
    expect(pacer.ratePerSec(5)).toBe(10)
  })
})

describe('a pace that learns', () => {
  /** 40 calls in a second, then a 429. */
  function cut(): Pacer {
    const pacer = new Pacer(auto, 0)
    for (let n = 0; n < 40; n++) pacer.tryTake(n * 25)
    pacer.onThrottled(990, 999)
    return pacer
  }

  /** A second 429 at 40 a second, now under the pace. */
  function cutTwice(): Pacer {
    const pacer = cut()
    const atMs = 999 + 2000 * Math.log2(1 / 0.7)
    pacer.onThrottled(atMs, atMs)
    pacer.onPause(10_000)
    return pacer
  }

  it('has no limit until a 429', () => {
    const pacer = new Pacer(auto, 0)
    expect(pacer.ratePerSec(0)).toBe(Number.POSITIVE_INFINITY)
    for (let n = 0; n < 10_000; n++) expect(pacer.tryTake(0)).toBe(true)
  })

  it('sends 0.7 of what was sent, and doubles that every two seconds until the next 429', () => {
    const pacer = cut()
    expect(pacer.ratePerSec(999)).toBeCloseTo(28)
    expect(pacer.ratePerSec(2999)).toBeCloseTo(56)
    expect(pacer.ratePerSec(4999)).toBeCloseTo(112)
  })

  it('after a 429 under the pace is back at that rate after 10 s, slowly there, and fast beyond it', () => {
    const pacer = cutTwice()
    expect(pacer.ratePerSec(10_000)).toBeCloseTo(28)
    expect(pacer.ratePerSec(15_000)).toBeCloseTo(38.5)
    expect(pacer.ratePerSec(20_000)).toBeCloseTo(40)
    expect(pacer.ratePerSec(25_000)).toBeCloseTo(52)
    expect(pacer.ratePerSec(40_000)).toBeCloseTo(40 * (1 + 0.3 * 64))
  })

  it.each([
    ['first', cut],
    ['second', cutTwice],
  ])('never falls as time goes on after the %s', (_name, make) => {
    const pacer = make()
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 200_000 }), fc.integer({ min: 0, max: 200_000 }), (atMs, laterMs) => {
        expect(pacer.ratePerSec(atMs + laterMs)).toBeGreaterThanOrEqual(pacer.ratePerSec(atMs))
      }),
    )
  })

  it('takes the 429s of calls that were sent before the last cut for the same news', () => {
    const pacer = cut()
    pacer.onThrottled(998, 1010)
    expect(pacer.ratePerSec(1010)).toBeGreaterThan(27.9)
    pacer.take(1020)
    pacer.onThrottled(1020, 1030)
    expect(pacer.ratePerSec(1030)).toBeLessThan(28)
  })

  it('does not grow during a pause', () => {
    const pacer = cutTwice()
    pacer.onPause(60_000)
    expect(pacer.ratePerSec(60_000)).toBeCloseTo(28)
    expect(pacer.ratePerSec(70_000)).toBeCloseTo(40)
  })

  it('goes by its own rate at a 429 soon after a pause, when little was sent yet', () => {
    const pacer = cutTwice()
    pacer.take(10_000)
    pacer.onThrottled(10_000, 10_000)
    expect(pacer.ratePerSec(10_000)).toBeCloseTo(28 * 0.7)
  })

  it('never stands still', () => {
    const pacer = new Pacer(auto, 0)
    for (let n = 0; n < 100; n++) pacer.onThrottled(n * 1000, n * 1000)
    expect(pacer.ratePerSec(100_000)).toBeGreaterThanOrEqual(0.35)
    expect(pacer.waitMs(100_000)).toBeLessThan(3000)
  })

  it('begins anew when its mode was turned off and on', () => {
    const pacer = cut()
    pacer.reconfigure({ ...auto, mode: 'disabled' }, 1100)
    expect(pacer.tryTake(1100)).toBe(true)
    pacer.reconfigure(auto, 1200)
    expect(pacer.ratePerSec(1200)).toBe(Number.POSITIVE_INFINITY)
  })
})

it('under a limit that it must find, it is refused seldom and uses most of it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 200 }), fc.integer({ min: 1, max: 4 }), (limit, burstSeconds) => {
      const pacer = new Pacer(auto, 0)
      const burst = limit * burstSeconds
      let [tokens, filledAtMs, good, refused, blockedUntilMs] = [burst, 0, 0, 0, 0]
      for (let nowMs = 0; nowMs < 120_000; nowMs += 2) {
        if (nowMs < blockedUntilMs || !pacer.tryTake(nowMs)) continue
        tokens = Math.min(burst, tokens + ((nowMs - filledAtMs) * limit) / 1000)
        filledAtMs = nowMs
        if (tokens >= 1) {
          tokens -= 1
          good += 1
        } else {
          refused += 1
          pacer.onThrottled(nowMs, nowMs)
          blockedUntilMs = nowMs + 1000
        }
      }
      expect(good).toBeGreaterThan(0.7 * 120 * limit)
      expect(refused).toBeLessThan(40)
    }),
    { numRuns: 25 },
  )
})
