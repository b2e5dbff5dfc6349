/** The longest that an app may wait for an answer. */
import { type Repeatability, repeatable } from '../core/idempotency.js'
import type { EffectivePolicy, RetrySettings } from '../core/snapshot.js'
import { waitsBefore } from './waits.js'

export interface WorstCase {
  /** From the end of the request body to a response head or our own answer; `Infinity` = nothing ends it. */
  readonly ms: number
  /**
   * `total`, `app`: that clock ends it · `attempts`: all at their longest · `held`: gate or breaker may keep it for ever ·
   * `poll`: it is repeated so long.
   */
  readonly because: 'total' | 'app' | 'attempts' | 'held' | 'no-clock' | 'poll'
  /** With a wait for a free slot, on which only the total clock has a limit. */
  readonly queuedMs: number
}

export interface CallLimits {
  /** The policy's, or what the app's `forbear-timeout-ms` makes of it. */
  readonly totalMs: number
  /** Likewise, `forbear-max-attempts`. */
  readonly maxAttempts: number
  readonly repeat: Repeatability['kind']
}

/** How often a retry lets others go before it while the breaker is half-open. */
const DEFERRALS = 3
/** A probe is given at least this long before the next may go. */
const PROBE_MS = 1000

export function worstCase(policy: EffectivePolicy, limits: CallLimits): WorstCase {
  const { totalMs } = limits
  const attemptsMs = attemptsAtLongestMs(policy, limits)
  const held = mayBeHeld(policy)
  if (attemptsMs < totalMs && !held) return { ms: attemptsMs, because: 'attempts', queuedMs: totalMs }
  const byClock = totalMs < policy.timeouts.totalMs ? 'app' : 'total'
  const because = Number.isFinite(totalMs) ? byClock : held ? 'held' : 'no-clock'
  return { ms: totalMs, because, queuedMs: totalMs }
}

function mayBeHeld({ breaker, retry }: EffectivePolicy): boolean {
  return (breaker.mode === 'enforce' && breaker.whenOpen === 'wait') || retry.retryAfter.scope === 'upstream'
}

/** Every attempt takes as long as it may, every wait is the longest, a `Retry-After` at its cap included. */
function attemptsAtLongestMs(policy: EffectivePolicy, { maxAttempts, repeat }: CallLimits): number {
  const { retry, breaker } = policy
  const { connectMs } = policy.timeouts
  const attemptMs = policy.longPoll ? Number.POSITIVE_INFINITY : policy.timeouts.attemptMs
  const resent = repeatable(repeat) && isResent(retry)
  const attempts = resent || retry.retryOn.connect ? maxAttempts : 1
  // A call that may be sent twice is sent anew, free, when an old connection dies under it.
  const sendings = (resent ? attempts : 1) * (repeatable(repeat) ? 2 : 1)
  const hintMs = resent && isHinted(retry, repeat) ? retry.retryAfter.capMs : 0
  const waitedMs = waitsBefore(retry, attempts, hintMs).reduce((sum, { longestMs }) => sum + longestMs, 0)
  const deferredMs = breaker.mode === 'enforce' && attempts > 1 ? DEFERRALS * Math.max(PROBE_MS, 2 * attemptMs) : 0
  return attempts * connectMs + sendings * attemptMs + waitedMs + deferredMs
}

/** Something that happens after the sending is worth a retry. */
function isResent({ retryOn, onHeaders }: RetrySettings): boolean {
  return retryOn.reset || retryOn.timeout || retryOn.statuses.size > 0 || onHeaders.length > 0
}

/** Some answer is worth a retry, and so its `Retry-After` counts; to a re-send with a key, 409 is one. */
function isHinted({ retryOn, onHeaders }: RetrySettings, repeat: Repeatability['kind']): boolean {
  return retryOn.statuses.size > 0 || onHeaders.length > 0 || repeat === 'keyed' || repeat === 'generate'
}
