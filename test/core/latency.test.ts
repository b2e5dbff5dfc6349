import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LatencyWindow } from '../../src/core/latency.js'

function windowOf(durations: readonly number[], nowMs = 0): LatencyWindow {
  const window = new LatencyWindow()
  for (const ms of durations) window.record(ms, nowMs)
  return window
}

function within5Percent(actual: number | null, expected: number): void {
  expect(actual).not.toBeNull()
  expect(Math.abs((actual as number) - expected)).toBeLessThanOrEqual(expected * 0.05)
}

const duration = fc
  .double({ min: Math.log(0.05), max: Math.log(600_000), noNaN: true })
  .map(log => Math.min(600_000, Math.max(0.05, Math.exp(log))))

describe('latency window', () => {
  it('knows nothing without a sample', () => {
    const window = new LatencyWindow()
    expect(window.quantile(0.95, 0)).toBeNull()
    expect(window.median(0)).toBeNull()
  })

  it('finds a quantile within 5 %', () => {
    fc.assert(
      fc.property(
        fc.array(duration, { minLength: 1, maxLength: 400 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (durations, q) => {
          const sorted = [...durations].sort((a, b) => a - b)
          const exact = sorted[Math.max(1, Math.ceil(q * sorted.length)) - 1]!
          within5Percent(windowOf(durations).quantile(q, 0), exact)
        },
      ),
    )
  })

  it('takes what lies outside its range as the nearest bound', () => {
    within5Percent(windowOf([0]).median(0), 0.05)
    within5Percent(windowOf([-3]).median(0), 0.05)
    within5Percent(windowOf([NaN]).median(0), 0.05)
    within5Percent(windowOf([1e9]).median(0), 600_000)
    within5Percent(windowOf([Infinity]).median(0), 600_000)
  })

  it('remembers a value for at least 30 s and forgets it within 60 s', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200_000 }), at => {
        const window = windowOf([10], at)
        within5Percent(window.median(at + 29_999), 10)
        expect(window.median(at + 60_000)).toBeNull()
      }),
    )
  })

  it('forgets everything after a long silence', () => {
    const window = windowOf([10], 1000)
    window.record(500, 1_000_000)
    within5Percent(window.quantile(0, 1_000_000), 500)
  })

  it('follows each new sample while there are few', () => {
    const window = windowOf([10])
    within5Percent(window.quantile(1, 0), 10)
    window.record(100, 1)
    within5Percent(window.quantile(1, 1), 100)
    window.record(1000, 2)
    within5Percent(window.quantile(1, 2), 1000)
  })

  it('follows a change within a second however many samples there are', () => {
    const window = windowOf(new Array(10_000).fill(10))
    within5Percent(window.quantile(1, 0), 10)
    window.record(1000, 10)
    within5Percent(window.quantile(1, 1011), 1000)
  })

  it('keeps several quantiles apart', () => {
    const window = windowOf([1, 2, 3, 4, 100])
    within5Percent(window.median(0), 3)
    within5Percent(window.quantile(0.95, 0), 100)
    within5Percent(window.median(0), 3)
  })
})
