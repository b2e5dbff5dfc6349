import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RetryBudget } from '../../src/core/budget.js'
import { parseDurationMs } from '../../src/policy/duration.js'
import { durationText } from '../../src/policy/duration-text.js'
import { forecast, retriesInTenSeconds } from '../../src/policy/forecast.js'
import { effectivePolicy } from './support/effective-policy.js'

const { retry, timeouts } = effectivePolicy()

describe('the waits', () => {
  test('grow before each retry, and are longer after a 429', () => {
    expect(forecast(effectivePolicy(), 'GET', []).waits).toEqual([
      { from: 1, to: 1, minMs: 0, maxMs: 100, throttled: { minMs: 0, maxMs: 500 } },
      { from: 2, to: 2, minMs: 0, maxMs: 200, throttled: { minMs: 0, maxMs: 1000 } },
    ])
  })

  test('are one line where they are the same', () => {
    const policy = effectivePolicy({ retry: { ...retry, maxAttempts: 50 } })
    const last = forecast(policy, 'GET', []).waits.at(-1)
    expect(last).toEqual({ from: 4, to: 49, minMs: 0, maxMs: 400, throttled: { minMs: 0, maxMs: 4000 } })
  })

  test('of a policy without retries are none', () => {
    expect(forecast(effectivePolicy({ retry: { ...retry, maxAttempts: 1 } }), 'GET', []).waits).toEqual([])
  })
})

describe('the worst case', () => {
  const unlimited = { ...timeouts, totalMs: Number.POSITIVE_INFINITY }

  test('is the total clock where that ends first', () => {
    expect(forecast(effectivePolicy(), 'GET', [])).toMatchObject({ worstCaseMs: 10_000, endedByTotal: true })
  })

  test('is the sum of all attempts and waits, hints included, where it does not', () => {
    const result = forecast(effectivePolicy({ timeouts: unlimited }), 'GET', [])
    expect(result).toMatchObject({ worstCaseMs: 3 * 4000 + (5000 + 500) + (5000 + 1000), endedByTotal: false })
  })

  test('of a call that may not be repeated sends once', () => {
    const result = forecast(effectivePolicy({ timeouts: unlimited }), 'POST', [])
    expect(result).toMatchObject({ repeatability: { kind: 'none' }, worstCaseMs: 3 * 1000 + 3000 + 100 + 200 })
  })

  test('has no end without a clock', () => {
    const none = { ...unlimited, attemptMs: Number.POSITIVE_INFINITY }
    expect(forecast(effectivePolicy({ timeouts: none }), 'GET', []).worstCaseMs).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the budget', () => {
  test('grants a share of what went well and a floor, within the cap per second', () => {
    const { budget } = effectivePolicy()
    expect([1, 10, 100].map(rate => retriesInTenSeconds(budget, rate, true))).toEqual([7, 25, 200])
    expect([1, 10, 100].map(rate => retriesInTenSeconds(budget, rate, false))).toEqual([5, 5, 5])
  })

  test('grants no part of a retry', () => {
    expect(retriesInTenSeconds({ ratio: 0.2, windowMs: 10_000, minPerSecond: 0 }, 1, true)).toBe(0)
    expect(retriesInTenSeconds({ ratio: 0, windowMs: 1000, minPerSecond: 0.5 }, 100, true)).toBe(0)
  })

  test('comes within two of what the real one grants under steady calls', () => {
    const settings = fc.record({
      ratio: fc.constantFrom(0, 0.1, 0.2, 0.5, 1),
      windowMs: fc.constantFrom(1000, 10_000, 30_000),
      minPerSecond: fc.constantFrom(0, 0.5, 1, 5),
    })
    fc.assert(
      fc.property(settings, fc.constantFrom(1, 10, 40), (budget, rate) => {
        const said = retriesInTenSeconds(budget, rate, true)
        const granted = grantedInTenSeconds(new RetryBudget(budget, 0), rate, budget.windowMs)
        expect(Math.abs(granted - said)).toBeLessThanOrEqual(2 + 0.15 * said)
      }),
      { numRuns: 40 },
    )
  })
})

/** Average over ten windows after two to warm up; a retry is asked for ten times as often as a call comes. */
function grantedInTenSeconds(budget: RetryBudget, rate: number, windowMs: number): number {
  const [fromMs, toMs] = [2 * windowMs, 12 * windowMs]
  let granted = 0
  for (let n = 0; n * 10 < rate * (toMs / 100); n++) {
    const nowMs = (n * 1000) / rate
    budget.onFirstAttempt(nowMs)
    budget.onFirstSuccess(nowMs)
    for (let ask = 0; ask < 10; ask++) {
      const askMs = nowMs + (ask * 100) / rate
      if (budget.tryWithdraw(askMs, askMs) !== null && nowMs >= fromMs) granted++
    }
  }
  return (granted * 10_000) / (toMs - fromMs)
}

describe('a duration in words', () => {
  test('is what a policy would say', () => {
    expect([0, 250, 90_000, 3_600_000, 5_430_001].map(durationText)).toEqual([
      '0ms',
      '250ms',
      '1m30s',
      '1h',
      '1h30m30s1ms',
    ])
    expect(durationText(Number.POSITIVE_INFINITY)).toBe('none')
  })

  test('is read back as the same', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31 - 1), ms => {
        expect(parseDurationMs(durationText(ms))).toBe(ms)
      }),
    )
  })
})
