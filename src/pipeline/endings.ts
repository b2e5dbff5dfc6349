import type { DeliveredOutcome, Outcome, OwnReason } from '../core/reasons.js'
import { answerFields, ownAnswerFields } from './answer-fields.js'
import { ownAnswer } from './answers.js'
import type { Exchange } from './exchange.js'
import { FULL_ROOM_RETRY_MS } from './wait.js'

/** How a request ended, for the access log. */
export interface Ending {
  readonly status: number
  readonly outcome: Outcome
  readonly bytes: number
}

/** The last upstream answer, if it was kept; `outcome` says why no further attempt was made. */
export function answerHeld(exchange: Exchange, outcome: Outcome): Ending | null {
  const kept = exchange.memory?.held?.held() ?? null
  if (kept === null) return null
  const { downstream, attempts, facts } = exchange
  downstream.answer(kept.head, answerFields(attempts, outcome, facts.maxAttempts), kept.body)
  return { status: kept.head.status, outcome, bytes: kept.body.byteLength }
}

/** No further attempt: the last upstream answer, or else what went wrong with the last attempt. */
export function answerFailed(exchange: Exchange, outcome: DeliveredOutcome): Ending {
  return answerHeld(exchange, outcome) ?? answerUnheld(exchange, outcome)
}

/** The last attempt brought no answer, or one too large to keep. */
function answerUnheld(exchange: Exchange, outcome: DeliveredOutcome): Ending {
  const failed = exchange.memory?.lastFailure?.reason
  if (failed !== undefined) return answerOwn(exchange, failed, failed === 'overloaded' ? FULL_ROOM_RETRY_MS : null)
  if (outcome !== 'breaker-open') return answerOwn(exchange, 'bad-response', null)
  return answerOwn(exchange, outcome, exchange.lane.guard.breaker.openForMs)
}

/** An answer of our own, when there is no upstream response to pass on. */
export function answerOwn(exchange: Exchange, reason: OwnReason, retryAfterMs: number | null): Ending {
  const { downstream, attempts, upstream, memory } = exchange
  const lastFailure = memory?.lastFailure ?? null
  const extra = ownAnswerFields(attempts, reason, exchange.facts.maxAttempts, memory?.denied ?? null)
  const facts = { upstream: upstream.name, attempts, retryAfterMs }
  const detail = lastFailure === null ? {} : { detail: `Last attempt: ${lastFailure.text}.` }
  const { status, statusText, headers, body } = ownAnswer(reason, { ...facts, ...detail })
  downstream.answer({ status, statusText, headers }, extra, body)
  return { status, outcome: reason, bytes: body.length }
}
