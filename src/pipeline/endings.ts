import type { AttemptFacts } from '../core/classify.js'
import { fallbackCause } from '../core/fallback.js'
import type { DeliveredOutcome, Outcome, OwnReason } from '../core/reasons.js'
import { answerFieldsOf, attemptsOf, ownAnswerFields } from './answer-fields.js'
import { ownAnswer } from './answers.js'
import type { Exchange } from './exchange.js'
import type { HeldResponse } from './ports.js'
import { reportPoll } from './report.js'
import { FULL_ROOM_RETRY_MS } from './wait.js'

const UTF_8 = new TextEncoder()

/** How a request ended, for the access log. */
export interface Ending {
  readonly status: number
  readonly outcome: Outcome
  readonly bytes: number
}

/** Of an answer that is passed on because it is not worth another attempt. */
export function outcomeOf(facts: Pick<AttemptFacts, 'stop'>, hedge: boolean): DeliveredOutcome {
  if (facts.stop === 'exhausted') return 'layer'
  return hedge && facts.stop === null ? 'hedge-won' : 'delivered'
}

/**
 * No further attempt is made: the fallback, the last upstream answer, or else what went wrong with the last attempt. An
 * answer that said "not yet" is better than none.
 */
export function answerStopped(exchange: Exchange, outcome: DeliveredOutcome): Ending {
  const failed = exchange.memory?.held?.held() ?? null
  const pending = failed === null ? answerPending(exchange) : null
  return (
    pending ?? answerFallback(exchange, outcome) ?? answerHeld(exchange, outcome) ?? answerUnheld(exchange, outcome)
  )
}

/** It may not go on now, which is no failure of a poll; `retryAfterMs` is told when it is known. */
export function answerGivenUp(exchange: Exchange, reason: OwnReason, retryAfterMs: number | null): Ending {
  return (
    answerPending(exchange) ??
    answerFallback(exchange, reason) ??
    answerHeld(exchange, reason) ??
    answerOwn(exchange, reason, retryAfterMs)
  )
}

/** The policy's own answer, if it has one for this end. */
export function answerFallback(exchange: Exchange, outcome: Outcome): Ending | null {
  const { policy, downstream, memory, deps, upstream, route, facts } = exchange
  const { fallback } = policy
  const denied = memory?.denied ?? null
  const end = memory?.lastFailure?.reason ?? outcome
  const cause =
    fallbackCause(fallback, downstream.method, outcome, denied) ?? fallbackCause(fallback, downstream.method, end, null)
  if (cause === null) return null
  const body = fallback.file === null ? UTF_8.encode(fallback.body) : deps.fallbackFile(fallback.file)
  if (body === null) return null
  const { status, headers } = fallback
  downstream.answer({ status, statusText: '', headers }, answerFieldsOf(exchange, 'fallback'), body)
  deps.sink.emit({ type: 'fallback-given', upstream: upstream.name, route, cause, traceId: facts.traceId })
  return { status, outcome: 'fallback', bytes: body.byteLength }
}

/** The last upstream answer, if it was kept; `outcome` says why no further attempt was made. */
function answerHeld(exchange: Exchange, outcome: Outcome): Ending | null {
  const kept = exchange.memory?.held?.held() ?? null
  return kept === null ? null : answerKept(exchange, kept, outcome)
}

/** The last answer to a poll that said "not yet". */
function answerPending(exchange: Exchange): Ending | null {
  const kept = exchange.poll?.pending ?? null
  if (kept === null) return null
  reportPoll(exchange, 'pending')
  return answerKept(exchange, kept, 'poll-pending')
}

export function answerKept(exchange: Exchange, { head, body }: HeldResponse, outcome: Outcome): Ending {
  exchange.downstream.answer(head, answerFieldsOf(exchange, outcome), body)
  return { status: head.status, outcome, bytes: body.byteLength }
}

/** The last attempt brought no answer, or one too large to keep. */
function answerUnheld(exchange: Exchange, outcome: DeliveredOutcome): Ending {
  const failed = exchange.memory?.lastFailure?.reason
  if (failed !== undefined) return answerOwn(exchange, failed, failed === 'overloaded' ? FULL_ROOM_RETRY_MS : null)
  if (outcome !== 'breaker-open') return answerOwn(exchange, 'bad-response', null)
  return answerOwn(exchange, outcome, exchange.lane.guard.breaker.openForMs)
}

/** An answer of our own, when there is no upstream response to pass on. */
function answerOwn(exchange: Exchange, reason: OwnReason, retryAfterMs: number | null): Ending {
  const { downstream, upstream, memory, poll } = exchange
  const attempts = attemptsOf(exchange)
  const lastFailure = memory?.lastFailure ?? null
  const extra = ownAnswerFields(attempts, reason, exchange.facts.maxAttempts, memory?.denied ?? null)
  const polls = poll?.fields ?? []
  const facts = { upstream: upstream.name, attempts, retryAfterMs }
  const what = attempts === 0 ? lastFailure?.text : `Last attempt: ${lastFailure?.text}`
  const detail = lastFailure === null ? {} : { detail: `${what}.` }
  const { status, statusText, headers, body } = ownAnswer(reason, { ...facts, ...detail })
  downstream.answer({ status, statusText, headers }, [...extra, ...polls], body)
  return { status, outcome: reason, bytes: body.length }
}
