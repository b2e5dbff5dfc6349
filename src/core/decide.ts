import { MAX_DELAY_MS } from './backoff.js'
import type { AttemptFacts, RetryCause } from './classify.js'
import { fits } from './deadline.js'
import type { DenialReason } from './reasons.js'

export type RetryDecision =
  | { readonly retry: true; readonly delayMs: number; readonly reason: RetryCause }
  | { readonly retry: false; readonly reason: DenialReason | 'not-retryable' }

/** All times are on one monotonic clock. What costs something to know is a function, asked at most once and only if needed. */
export interface RetryQuestion {
  /** Of the attempt that has just failed. */
  readonly facts: AttemptFacts
  /** It failed before anything was sent: it may be repeated whatever the method, and whatever mark the request arrived with. */
  readonly connectOnly: boolean
  /** The method, a key or the route allows to send it again. */
  readonly repeatable: boolean
  /** Every byte of the body can be sent (again): captured whole, none yet handed on, or no body. */
  readonly bodyReplayable: boolean
  /** Number of the failed attempt, 1-based. */
  readonly attempt: number
  readonly maxAttempts: number
  /** The request arrived marked as another layer's re-send. */
  readonly layered: boolean
  /** The kill switch is on. */
  readonly retriesOff: boolean
  readonly retryAfterCapMs: number
  /** Own back-off, jitter included, before the next attempt. */
  readonly computeDelayMs: () => number
  readonly nowMs: number
  /** `Infinity` = none. */
  readonly deadlineMs: number
  /** Of successes; `null` = not known. */
  readonly medianMs: () => number | null
  /** The breaker would refuse it, and it could not wait for that to change. */
  readonly breakerOpen: () => boolean
  /** Takes one retry, to be sent at that time, from the budget; `false` when it has none. */
  readonly withdraw: (sendAtMs: number) => boolean
}

/**
 * Whether to wait and try again, or the first reason not to. Only a `retry: true` has taken from the budget.
 * The order is fixed: what can never be repeated, then what may not be now, then what would be too late or too much.
 */
export function decideRetry(q: RetryQuestion): RetryDecision {
  const cause = q.facts.why
  if (q.facts.stop === 'exhausted') return no('layer')
  if (cause === null) return no('not-retryable')
  const forbidden = whyForbidden(q)
  if (forbidden !== null) return no(forbidden)

  const hintMs = q.facts.retryAfterMs ?? 0
  const medianMs = q.medianMs()
  if (hintMs > 0 && (hintMs > q.retryAfterCapMs || !fits(hintMs, q.nowMs, q.deadlineMs, medianMs))) {
    return no('retry-after-too-long')
  }
  // The hint comes first and the jitter on top of it: never earlier than told.
  const delayMs = Math.min(MAX_DELAY_MS, hintMs + q.computeDelayMs())
  if (!fits(delayMs, q.nowMs, q.deadlineMs, medianMs)) return no('deadline')

  if (q.breakerOpen()) return no('breaker-open')
  if (!q.withdraw(q.nowMs + delayMs)) return no('budget-exhausted')
  return { retry: true, delayMs, reason: cause }
}

/** Reasons that no waiting would change. */
function whyForbidden(q: RetryQuestion): DenialReason | null {
  if (!q.repeatable && !q.connectOnly) return 'not-repeatable'
  if (!q.bodyReplayable) return 'body-too-large'
  if (q.retriesOff) return 'retries-off'
  if (q.layered && !q.connectOnly) return 'layer'
  if (q.attempt >= q.maxAttempts) return 'retries-exhausted'
  return null
}

function no(reason: DenialReason | 'not-retryable'): RetryDecision {
  return { retry: false, reason }
}
