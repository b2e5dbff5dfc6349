/**
 * The one closed list of words that say why a request ended as it did. Header, log, metric and JSON use these and no others.
 */

/** Outcomes with an upstream response: it was passed on, and this is why no further attempt was made. */
export const DELIVERED_OUTCOMES = [
  'delivered',
  'breaker-open',
  'deadline',
  'layer',
  'retries-exhausted',
  'budget-exhausted',
  'not-repeatable',
  'body-too-large',
  'retry-after-too-long',
  'hedge-won',
  'fallback',
  'poll-pending',
  'parked',
] as const

/** Reasons of our own answers: there was no upstream response to pass on. */
export const OWN_REASONS = [
  'no-route',
  'bad-request',
  'loop',
  'connect',
  'reset',
  'bad-response',
  'attempt-timeout',
  'deadline',
  'breaker-open',
  'overloaded',
  'gate-closed',
  'draining',
  'no-policy',
  'throttled',
  'headers-too-large',
] as const

/** How a request ended without an answer: the app left, or the upstream broke a body that had begun. */
export const UNANSWERED_OUTCOMES = ['aborted', 'cut'] as const

export type DeliveredOutcome = (typeof DELIVERED_OUTCOMES)[number]
export type OwnReason = (typeof OWN_REASONS)[number]
export type UnansweredOutcome = (typeof UNANSWERED_OUTCOMES)[number]
/** Value of `forbear-outcome`, of the log's `outcome` and of the metric label. */
export type Outcome = DeliveredOutcome | OwnReason | UnansweredOutcome

/** Why a further attempt was not made; `forbear_retries_denied_total{reason}`. */
export const DENIAL_REASONS = [
  'not-repeatable',
  'body-too-large',
  'retries-exhausted',
  'retry-after-too-long',
  'deadline',
  'breaker-open',
  'budget-exhausted',
  'layer',
  // The upstream forbids it (`x-envoy-overloaded`, `grpc-retry-pushback-ms`); the answer is delivered as it is.
  'pushback',
  'retries-off',
] as const

export type DenialReason = (typeof DENIAL_REASONS)[number]

/**
 * What became of a hedge; `forbear_hedges_total{result}`. It was sent, and its answer was the first good one
 * (`won`), another one's was, it failed, or the request ended before; `observed`: it would have been sent.
 */
export const HEDGE_RESULTS = ['won', 'lost', 'failed', 'aborted', 'observed'] as const

/** Why one that was due was not sent. */
export const HEDGE_DENIALS = [
  'retries-exhausted',
  'deadline',
  'breaker-open',
  'gate-closed',
  'overloaded',
  'budget-exhausted',
  'retries-off',
  'draining',
] as const

export type HedgeDenial = (typeof HEDGE_DENIALS)[number]

export type HedgeResult = (typeof HEDGE_RESULTS)[number] | HedgeDenial

/**
 * What became of an answer to a poll; `forbear_polls_total{result}`. It was the one waited for (`done`), one that ends the
 * polling (`final`), or said "not yet": another poll followed (`repeated`), or the app got it (`pending`).
 */
export const POLL_RESULTS = ['done', 'final', 'repeated', 'pending'] as const

export type PollResult = (typeof POLL_RESULTS)[number]
