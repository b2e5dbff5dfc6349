import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BudgetSettings, RetryBudget } from '../../src/core/budget.js'
import { parseDurationMs } from '../../src/policy/duration.js'
import { durationText } from '../../src/policy/duration-text.js'
import { forecast, retriesInTenSeconds } from '../../src/policy/forecast.js'
import { effectivePolicy } from './support/effective-policy.js'

const { retry, timeouts, breaker } = effectivePolicy()

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

  const worstOf = (changes: Parameters<typeof effectivePolicy>[0], method = 'GET', headers: string[] = []) =>
    forecast(effectivePolicy({ breaker: { ...breaker, mode: 'disabled' }, ...changes }), method, headers).worst

  test('is the total clock where that ends first', () => {
    expect(worstOf({})).toEqual({ ms: 10_000, because: 'total', queuedMs: 10_000 })
    expect(worstOf({}, 'GET', ['Forbear-Timeout-Ms', '2000'])).toMatchObject({ ms: 2000, because: 'app' })
  })

  test('is the sum of all attempts and waits where it does not: hints, and sendings that an old connection costs, included', () => {
    expect(worstOf({ timeouts: unlimited })).toEqual({
      ms: 3 * (1000 + 2 * 3000) + (5000 + 500) + (5000 + 1000),
      because: 'attempts',
      queuedMs: Number.POSITIVE_INFINITY,
    })
  })

  test('of a call that may not be repeated sends once', () => {
    expect(worstOf({ timeouts: unlimited }, 'POST').ms).toBe(3 * 1000 + 3000 + 500 + 1000)
  })

  test('has only the attempts that the app or the policy allows', () => {
    expect(worstOf({ timeouts: unlimited }, 'POST', ['forbear-max-attempts', '1']).ms).toBe(1000 + 3000)
    const never = { connect: false, reset: false, timeout: false, statuses: new Set<number>() }
    expect(worstOf({ timeouts: unlimited, retry: { ...retry, retryOn: never } }, 'POST').ms).toBe(1000 + 3000)
  })

  test('lets decorrelated waits grow from what a hint has added', () => {
    const jittered = { ...retry.backoff, jitter: { kind: 'decorrelated' }, capMs: 60_000 } as const
    const changes = { timeouts: unlimited, retry: { ...retry, backoff: jittered, throttled: jittered } }
    const first = 5000 + 3 * 100
    expect(worstOf(changes).ms).toBe(3 * (1000 + 2 * 3000) + first + (5000 + 3 * first))
  })

  test('has room for the turns that a retry gives up to others while the breaker is half-open', () => {
    const enforced = worstOf({ timeouts: unlimited, breaker }).ms
    expect(enforced - worstOf({ timeouts: unlimited }).ms).toBe(3 * 2 * 3000)
  })

  test('has no end without a clock', () => {
    const none = { ...unlimited, attemptMs: Number.POSITIVE_INFINITY }
    expect(worstOf({ timeouts: none })).toMatchObject({ ms: Number.POSITIVE_INFINITY, because: 'no-clock' })
    expect(worstOf({ timeouts: unlimited, longPoll: true }).because).toBe('no-clock')
  })

  test('is for the total clock to end where breaker or gate may hold the call', () => {
    const waiting = { breaker: { ...breaker, whenOpen: 'wait' } } as const
    const gated = { retry: { ...retry, retryAfter: { capMs: 5000, scope: 'upstream' } } } as const
    for (const changes of [waiting, gated]) {
      expect(worstOf({ timeouts: unlimited, ...changes }).because).toBe('held')
      expect(worstOf({ timeouts: { ...timeouts, totalMs: 90_000 }, ...changes })).toMatchObject({
        ms: 90_000,
        because: 'total',
      })
    }
  })
})

describe('the budget', () => {
  test('grants a share of what went well and a floor, within the cap per second', () => {
    const { budget } = effectivePolicy()
    expect([1, 10, 100].map(rate => retriesInTenSeconds(budget, rate, true))).toEqual([7, 25, 181])
    expect([1, 10, 100].map(rate => retriesInTenSeconds(budget, rate, false))).toEqual([5, 5, 5])
  })

  test('grants no part of a retry', () => {
    expect(retriesInTenSeconds({ ratio: 0.2, windowMs: 10_000, minPerSecond: 0 }, 1, true)).toBe(0)
    expect(retriesInTenSeconds({ ratio: 0, windowMs: 1000, minPerSecond: 0.5 }, 100, true)).toBe(0)
  })

  const rates = [1, 10, 100]
  test.each([
    [0.2, 10_000, 0.5],
    [0.1, 10_000, 0],
    [0, 10_000, 0.5],
    [0, 10_000, 0],
    [0.2, 1000, 0.5],
    [0.5, 1000, 0],
    [0.3, 2000, 1],
    [0.2, 30_000, 0.5],
    [0.07, 60_000, 0.1],
    [0.2, 600_000, 0.5],
    [0, 600_000, 0.01],
    [1, 10_000, 100],
    [10, 10_000, 0],
    [10, 1000, 1000],
  ])(
    'of ratio %d in %d ms with at least %d a second grants what the real one does',
    (ratio, windowMs, minPerSecond) => {
      const budget = { ratio, windowMs, minPerSecond }
      for (const succeeding of [true, false]) {
        const said = rates.map(rate => retriesInTenSeconds(budget, rate, succeeding))
        const granted = rates.map(rate => grantedInTenSeconds(budget, rate, succeeding))
        said.forEach((figure, index) => {
          const real = granted[index] ?? Number.NaN
          expect(Math.abs(figure - real), `${figure} said, ${real} granted`).toBeLessThanOrEqual(
            (real < 10 ? 0.1 : 1) + 0.03 * real,
          )
        })
      }
    },
  )
})

/** Of a real budget, asked again whenever it might grant one more; an average after one window to warm up. */
function grantedInTenSeconds(settings: BudgetSettings, rate: number, succeeding: boolean): number {
  const budget = new RetryBudget(settings, 0)
  const { windowMs } = settings
  const fromMs = windowMs
  const toMs = fromMs + Math.max(windowMs, 30_000)
  let granted = 0
  for (let n = 0; (n * 1000) / rate < toMs; n++) {
    const callMs = (n * 1000) / rate
    budget.onFirstAttempt(callMs)
    if (succeeding) budget.onFirstSuccess(callMs)
    for (let askMs = callMs; askMs < callMs + 1000 / rate; askMs += 20) {
      while (budget.tryWithdraw(askMs, askMs) !== null) if (askMs >= fromMs) granted++
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
