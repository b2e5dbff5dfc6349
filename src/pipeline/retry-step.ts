import { backoffDelayMs } from '../core/backoff.js'
import type { AttemptFacts } from '../core/classify.js'
import { decideRetry } from '../core/decide.js'
import { type IdempotencySettings, stillRepeatable } from '../core/idempotency.js'
import type { DeliveredOutcome, DenialReason } from '../core/reasons.js'
import type { RunFailure } from './attempt-report.js'
import type { Exchange } from './exchange.js'
import type { RetryMemory } from './retry-memory.js'

/** What follows a failed attempt. */
export type Step =
  | { readonly retry: true; readonly delayMs: number }
  /** `denied: null` = there was nothing to repeat. */
  | { readonly retry: false; readonly denied: DenialReason | null; readonly outcome: DeliveredOutcome }

/** Words that mean something to an operator but are not outcomes of their own. */
const OUTCOME_OF: Readonly<Partial<Record<DenialReason | 'not-retryable', DeliveredOutcome>>> = {
  'retries-off': 'retries-exhausted',
  'not-retryable': 'delivered',
}

/** Lays the facts before `decideRetry` and withdraws the ticket when it says yes. */
export function nextStep(
  exchange: Exchange,
  memory: RetryMemory,
  facts: AttemptFacts,
  failure: RunFailure | null,
): Step {
  const { lane, policy, downstream, deps } = exchange
  const { body } = downstream
  const nothingSent = failure?.nothingSent ?? false
  const nowMs = deps.clock.nowMs()
  const decision = decideRetry({
    facts,
    connectOnly: nothingSent,
    repeatable: exchange.repeatable,
    bodyReplayable: body === null || body.replayable || (nothingSent && body.untouched),
    attempt: exchange.attempts,
    maxAttempts: exchange.facts.maxAttempts,
    layered: exchange.facts.layered,
    retriesOff: deps.retriesOff(),
    retryAfterCapMs: policy.retry.retryAfter.capMs,
    computeDelayMs: () => {
      const settings = facts.throttled ? policy.retry.throttled : policy.retry.backoff
      return backoffDelayMs(settings, exchange.attempts - exchange.hedges, memory.previousDelayMs, deps.random)
    },
    nowMs,
    deadlineMs: exchange.deadlineMs,
    medianMs: () => lane.latency.median(nowMs),
    breakerOpen: () =>
      lane.guard.breaker.refusing &&
      lane.guard.breaker.state === 'open' &&
      !(lane.guard.ridesOut && exchange.mayRideOut),
    withdraw: sendAtMs => memory.tryWithdraw(nowMs, sendAtMs),
  })
  if (decision.retry) return { retry: true, delayMs: decision.delayMs }
  const { reason } = decision
  const slowerMs = reason === 'budget-exhausted' ? exchange.poll?.slowerMs(facts.retryAfterMs ?? 0, nowMs) : null
  if (slowerMs != null) return { retry: true, delayMs: slowerMs }
  const denied = reason === 'not-retryable' ? null : reason
  return { retry: false, denied, outcome: OUTCOME_OF[reason] ?? (reason as DeliveredOutcome) }
}

/** Under the policy of now: nothing of the request has reached the upstream, or the upstream knows it again. */
export function mayRepeat(exchange: Exchange, now: IdempotencySettings): boolean {
  const { memory, freshUsed, downstream, mintedKey, policy } = exchange
  if (!memory?.reached && !freshUsed) return true
  const header = mintedKey === null ? null : (policy.retry.idempotency.keyHeaders[0] ?? null)
  return stillRepeatable(downstream.method, downstream.headers, header, now)
}

/** Ends a request whose granted attempt may not be sent after all. */
export function stoppedBeforeSending(exchange: Exchange, nowMs: number): boolean {
  if (exchange.poll?.holdsBack(nowMs)) return true
  const { deps, memory, lane, hasTurn, attempts, poll } = exchange
  if (attempts === 0) return false
  // The line paces what it lets go, and whoever comes back to it is not being sent yet.
  const fits = hasTurn || lane.guard.line.busy || memory === null || memory.stillFits(nowMs)
  const denied = deps.whyNoRetry(exchange) ?? (fits ? null : 'budget-exhausted')
  if (denied === null) return false
  if (denied === 'budget-exhausted' && poll !== null) return poll.slowsDown(nowMs)
  exchange.stop(denied === 'not-retryable' ? null : denied, OUTCOME_OF[denied] ?? (denied as DeliveredOutcome))
  return true
}
