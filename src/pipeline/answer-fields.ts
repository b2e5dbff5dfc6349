import type { DenialReason, Outcome } from '../core/reasons.js'
import type { Exchange } from './exchange.js'
import type { RawHeaders } from './ports.js'

/**
 * Outcomes with which this layer gave up: the layer above must not multiply them again. Not `layer` and
 * `not-repeatable`: there the layer above (or nobody) is the one to repeat.
 */
const GAVE_UP: ReadonlySet<Outcome> = new Set<Outcome>([
  'retries-exhausted',
  'budget-exhausted',
  'breaker-open',
  'deadline',
  'retry-after-too-long',
  'body-too-large',
  'overloaded',
  'gate-closed',
  'connect',
  'reset',
  'attempt-timeout',
])

const FIRST_ATTEMPT_DELIVERED: RawHeaders = Object.freeze(['forbear-attempts', '1', 'forbear-outcome', 'delivered'])

/** Fields that every passed-on answer carries. A policy without retries gave up on nothing. */
function answerFields(attempts: number, outcome: Outcome, maxAttempts: number): RawHeaders {
  if (attempts === 1 && outcome === 'delivered') return FIRST_ATTEMPT_DELIVERED
  const fields = ['forbear-attempts', String(attempts), 'forbear-outcome', outcome]
  return maxAttempts > 1 ? [...fields, ...exhaustedField(outcome)] : fields
}

/** The same with what a polled request tells. */
export function answerFieldsOf(exchange: Exchange, outcome: Outcome): RawHeaders {
  const fields = answerFields(attemptsOf(exchange), outcome, exchange.facts.maxAttempts)
  return exchange.poll === null ? fields : [...fields, ...exchange.poll.fields]
}

/** Of all polls. */
export function attemptsOf({ attempts, poll }: Exchange): number {
  return attempts + (poll?.earlierAttempts ?? 0)
}

/** `denied`: what kept a failed attempt from being repeated. Without an attempt, refusing was all there was to do. */
export function ownAnswerFields(
  attempts: number,
  outcome: Outcome,
  maxAttempts: number,
  denied: DenialReason | null,
): RawHeaders {
  const left = attempts > 0 && (maxAttempts === 1 || denied === 'layer' || denied === 'not-repeatable')
  return left ? [] : exhaustedField(outcome)
}

function exhaustedField(outcome: Outcome): RawHeaders {
  return GAVE_UP.has(outcome) ? ['forbear-exhausted', outcome] : []
}
