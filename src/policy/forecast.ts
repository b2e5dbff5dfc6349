import { backoffRangeMs } from '../core/backoff.js'
import type { BudgetSettings } from '../core/budget.js'
import { type Repeatability, repeatability, repeatable } from '../core/idempotency.js'
import type { EffectivePolicy } from '../core/snapshot.js'

/** Waits before retries `from` to `to` (1-based), which share their ranges; ms. */
export interface WaitRange {
  readonly from: number
  readonly to: number
  readonly minMs: number
  readonly maxMs: number
  /** After a 429. */
  readonly throttled: { readonly minMs: number; readonly maxMs: number }
}

export interface Forecast {
  readonly repeatability: Repeatability
  readonly waits: readonly WaitRange[]
  /** From the end of the request body to a response head or our own answer; `Infinity` = no clock ends it. */
  readonly worstCaseMs: number
  /** The total clock is what ends it. */
  readonly endedByTotal: boolean
}

/** What a policy makes of one call when everything fails. `headers`: the app's, flat. */
export function forecast(policy: EffectivePolicy, method: string, headers: readonly string[]): Forecast {
  const kind = repeatability(method, headers, policy.retry.idempotency)
  const waits = waitRanges(policy)
  const unboundedMs = slowestMs(policy, repeatable(kind.kind), waits)
  const { totalMs } = policy.timeouts
  return {
    repeatability: kind,
    waits,
    worstCaseMs: Math.min(totalMs, unboundedMs),
    endedByTotal: totalMs <= unboundedMs,
  }
}

/**
 * Retries that a budget grants in ten seconds at a steady rate of calls, all of whose first attempts succeed
 * (`succeeding`) or none: a failing upstream earns no retries.
 */
export function retriesInTenSeconds(budget: BudgetSettings, perSecond: number, succeeding: boolean): number {
  const earned = succeeding ? budget.ratio * perSecond : 0
  const inWindow = (earned + budget.minPerSecond) * (budget.windowMs / 1000)
  const inSecond = Math.max((budget.minPerSecond * budget.windowMs) / 1000, budget.ratio * perSecond)
  // Whole retries only.
  if (inWindow + ROUNDING < 1 || inSecond + ROUNDING < 1) return 0
  return Math.floor(10 * Math.min(earned + budget.minPerSecond, inSecond) + ROUNDING)
}

/** 0.29 · 100 is 28.999999999999996. */
const ROUNDING = 1e-6

function waitRanges({ retry }: EffectivePolicy): WaitRange[] {
  const ranges: WaitRange[] = []
  for (let n = 1; n < retry.maxAttempts; n++) {
    const wait = { ...backoffRangeMs(retry.backoff, n), throttled: backoffRangeMs(retry.throttled, n) }
    const last = ranges.at(-1)
    if (last !== undefined && sameRange(last, wait)) ranges[ranges.length - 1] = { ...last, to: n }
    else ranges.push({ from: n, to: n, ...wait })
  }
  return ranges
}

function sameRange(a: Omit<WaitRange, 'from' | 'to'>, b: Omit<WaitRange, 'from' | 'to'>): boolean {
  return (
    a.minMs === b.minMs &&
    a.maxMs === b.maxMs &&
    a.throttled.minMs === b.throttled.minMs &&
    a.throttled.maxMs === b.throttled.maxMs
  )
}

/** Every attempt takes as long as it may and every wait is the longest, a `Retry-After` at its cap included. */
function slowestMs({ timeouts, retry }: EffectivePolicy, mayRepeat: boolean, waits: readonly WaitRange[]): number {
  const hintMs = mayRepeat ? retry.retryAfter.capMs : 0
  let waitedMs = 0
  for (const { from, to, maxMs, throttled } of waits) {
    waitedMs += (to - from + 1) * (hintMs + (mayRepeat ? Math.max(maxMs, throttled.maxMs) : maxMs))
  }
  // A call that may not be repeated is sent again only after it could not connect.
  const sent = mayRepeat ? retry.maxAttempts : 1
  return retry.maxAttempts * timeouts.connectMs + sent * timeouts.attemptMs + waitedMs
}
