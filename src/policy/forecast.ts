/** What is to be expected of one call, and of the budget that its retries are paid from. */
import type { BudgetSettings } from '../core/budget.js'
import { tightened } from '../core/deadline.js'
import { headerValue } from '../core/headers.js'
import { type Repeatability, repeatability } from '../core/idempotency.js'
import { mayPoll, pollTimeMs } from '../core/poll.js'
import type { EffectivePolicy } from '../core/snapshot.js'
import { type WaitRange, waitRanges } from './waits.js'
import { type WorstCase, worstCase } from './worst-case.js'

export interface Forecast {
  readonly repeatability: Repeatability
  /** The policy's, or fewer if the app asks for fewer. */
  readonly maxAttempts: number
  /** Likewise; no wait is longer. */
  readonly totalMs: number
  readonly waits: readonly WaitRange[]
  /** The call is repeated until its answer is the one that is waited for, at most so long; `null` = it is not. */
  readonly pollMs: number | null
  readonly worst: WorstCase
}

/** What a policy makes of one call when everything fails. `headers`: the app's, flat. */
export function forecast(policy: EffectivePolicy, method: string, headers: readonly string[]): Forecast {
  const repeat = repeatability(method, headers, policy.retry.idempotency)
  const totalMs = tightened(policy.timeouts.totalMs, headerValue(headers, 'forbear-timeout-ms'))
  const maxAttempts = tightened(policy.retry.maxAttempts, headerValue(headers, 'forbear-max-attempts'))
  const { poll } = policy
  const pollMs = poll !== null && mayPoll(poll, method, false) ? pollTimeMs(poll, headers) : null
  return {
    repeatability: repeat,
    maxAttempts,
    totalMs,
    waits: waitRanges(policy.retry, maxAttempts, totalMs),
    pollMs,
    worst: polledCase(worstCase(policy, { totalMs, maxAttempts, repeat: repeat.kind }), pollMs),
  }
}

/** A repeat is cut at the end of the polling, a first poll is not. */
function polledCase(worst: WorstCase, pollMs: number | null): WorstCase {
  if (pollMs === null || pollMs <= worst.ms) return worst
  return { ms: pollMs, because: 'poll', queuedMs: Math.max(pollMs, worst.queuedMs) }
}

/**
 * Retries that a budget grants in ten seconds, on an average of many, at a steady rate of calls, all of whose first
 * attempts succeed (`succeeding`) or none: a failing upstream earns no retries. Demand is taken to be without end. To one
 * decimal below ten, else whole.
 */
export function retriesInTenSeconds(budget: BudgetSettings, perSecond: number, succeeding: boolean): number {
  const windowSeconds = budget.windowMs / 1000
  const floor = budget.minPerSecond * windowSeconds
  const inWindow = whole(floor + (succeeding ? budget.ratio * perSecond * windowSeconds : 0))
  const inSecond = whole(Math.max(floor, budget.ratio * perSecond))
  const average = 10 * Math.min(inWindow / windowSeconds, inSecond / COUNTED_SECONDS)
  return average < 10 ? whole(10 * average) / 10 : whole(average)
}

/** The budget spreads sendings by tenths, of which it looks at eleven, so that no second has too many. */
const COUNTED_SECONDS = 1.1

/** Whole retries only; 0.29 · 100 is 28.999999999999996. */
function whole(retries: number): number {
  return Math.floor(retries + 1e-6)
}
