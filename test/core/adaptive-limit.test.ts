import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AdaptiveLimit } from '../../src/core/adaptive-limit.js'

/**
 * An upstream that serves `workers` calls at once in `serviceMs` each and queues the rest, under an app that always has more
 * to send. Gives the limit after `seconds` and the mean latency of the last of them.
 */
function saturate(limit: AdaptiveLimit, workers: number, serviceMs: number, fromMs: number, seconds: number) {
  const ends: { atMs: number; tookMs: number }[] = []
  const freeAtMs = new Array<number>(workers).fill(fromMs)
  let [sumMs, answers] = [0, 0]
  const toMs = fromMs + seconds * 1000
  for (let nowMs = fromMs; nowMs < toMs; ) {
    while (ends.length < limit.limit) {
      const worker = freeAtMs.indexOf(Math.min(...freeAtMs))
      const endMs = Math.max(nowMs, freeAtMs[worker] as number) + serviceMs
      freeAtMs[worker] = endMs
      ends.push({ atMs: endMs, tookMs: endMs - nowMs })
    }
    ends.sort((a, b) => a.atMs - b.atMs)
    const next = ends.shift() as { atMs: number; tookMs: number }
    nowMs = next.atMs
    limit.onSettled(next.tookMs, false, ends.length + 1, nowMs)
    if (nowMs < toMs - 1000) continue
    sumMs += next.tookMs
    answers += 1
  }
  return { limit: limit.limit, meanMs: sumMs / answers, endMs: toMs }
}

describe('a limit that learns', () => {
  it.each([
    [5, 20],
    [50, 10],
    [200, 50],
  ])('finds about what an upstream of %i workers serves at once', (workers, serviceMs) => {
    const found = saturate(new AdaptiveLimit(0), workers, serviceMs, 0, 100)
    expect(found.limit).toBeGreaterThanOrEqual(workers * 0.8)
    expect(found.limit).toBeLessThanOrEqual(workers * 2.5 + 10)
    expect(found.meanMs).toBeLessThan(serviceMs * 3)
  })

  it('shrinks when the upstream loses most of its workers, and grows when it has them again', () => {
    const limit = new AdaptiveLimit(0)
    const whole = saturate(limit, 100, 20, 0, 100)
    const half = saturate(limit, 20, 20, whole.endMs, 20)
    expect(half.limit).toBeLessThan(whole.limit * 0.7)
    const again = saturate(limit, 100, 20, half.endMs, 100)
    expect(again.limit).toBeGreaterThanOrEqual(80)
  })

  it('does not grow while the app uses less than half of it', () => {
    const limit = new AdaptiveLimit(0)
    for (let nowMs = 0; nowMs < 60_000; nowMs += 10) limit.onSettled(5, false, 3, nowMs)
    expect(limit.limit).toBe(20)
  })

  it('shrinks while most calls fail, and not for a few', () => {
    const many = new AdaptiveLimit(0)
    const few = new AdaptiveLimit(0)
    for (let n = 0; n < 200; n++) {
      many.onSettled(5, n % 4 !== 0, 20, n * 10)
      few.onSettled(5, n % 10 === 0, 20, n * 10)
    }
    expect(many.limit).toBeLessThan(20)
    expect(few.limit).toBeGreaterThan(20)
  })

  it('answers within no time at all leave it a number', () => {
    const limit = new AdaptiveLimit(0)
    for (let n = 0; n < 200; n++) limit.onSettled(0, false, 20, n * 20)
    expect(limit.limit).toBeGreaterThanOrEqual(20)
  })

  it('whatever it is told, it stays a number of at least three', () => {
    const settled = fc.record({
      tookMs: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e7, noNaN: true })),
      failed: fc.boolean(),
      inFlight: fc.integer({ min: 1, max: 10_000 }),
      gapMs: fc.integer({ min: 0, max: 500 }),
    })
    fc.assert(
      fc.property(fc.array(settled, { maxLength: 400 }), calls => {
        const limit = new AdaptiveLimit(0)
        let nowMs = 0
        for (const { tookMs, failed, inFlight, gapMs } of calls) {
          nowMs += gapMs
          limit.onSettled(tookMs, failed, inFlight, nowMs)
          expect(Number.isInteger(limit.limit)).toBe(true)
          expect(limit.limit).toBeGreaterThanOrEqual(3)
        }
      }),
    )
  })
})
