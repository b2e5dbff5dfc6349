import type { AttemptFacts } from '../core/classify.js'
import { fallbackCause } from '../core/fallback.js'
import type { DeliveredOutcome, DenialReason, Outcome, OwnReason } from '../core/reasons.js'
import { answerFieldsOf, attemptsOf, ownAnswerFields } from './answer-fields.js'
import { ownAnswer } from './answers.js'
import type { AttemptRun } from './attempt-run.js'
import type { Exchange } from './exchange.js'
import { parkInstead } from './parking.js'
import type { HeldResponse, ResponseHead } from './ports.js'
import { reportPoll, reportStopped } from './report.js'
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

/** It is not worth another attempt, or must not have one. */
export function settleFinal(exchange: Exchange, run: AttemptRun, head: ResponseHead, facts: AttemptFacts): void {
  if (facts.stop !== null) reportStopped(exchange, facts.stop)
  settle(exchange, run, head, outcomeOf(facts, run.hedge), null)
}

/** No further attempt follows this answer: the call is parked, or the app gets the policy's fallback or the answer. */
export function settle(
  exchange: Exchange,
  run: AttemptRun,
  head: ResponseHead,
  outcome: DeliveredOutcome,
  denied: DenialReason | null,
): void {
  const fallback = (): Ending | null => (denied === null ? null : answerFallback(exchange, outcome))
  if (parkInstead(exchange, outcome, head, () => fallback() ?? answerFailed(exchange, outcome))) {
    return exchange.remember().hold(run, head)
  }
  const ending = fallback()
  if (ending === null) return exchange.commit(run, outcome)
  run.abandon()
  exchange.finish(ending)
}

/**
 * No further attempt is made: the call is parked, or the app gets the fallback, the last upstream answer, or else what went
 * wrong with the last attempt. An answer that said "not yet" is better than none.
 */
export function endStopped(exchange: Exchange, outcome: DeliveredOutcome): void {
  const failed = exchange.memory?.held?.held() ?? null
  const pending = failed === null ? answerPending(exchange) : null
  if (pending !== null) return exchange.finish(pending)
  end(exchange, outcome, () => answerFallback(exchange, outcome) ?? answerFailed(exchange, outcome))
}

/** It may not go on now, which is no failure of a poll; `retryAfterMs` is told when it is known. */
export function endGivenUp(exchange: Exchange, reason: OwnReason, retryAfterMs: number | null): void {
  const pending = answerPending(exchange)
  if (pending !== null) return exchange.finish(pending)
  const own = (): Ending => answerHeld(exchange, reason) ?? answerOwn(exchange, reason, retryAfterMs)
  end(exchange, reason, () => answerFallback(exchange, reason) ?? own())
}

function end(exchange: Exchange, outcome: Outcome, answer: () => Ending): void {
  if (!parkInstead(exchange, outcome, null, answer)) exchange.finish(answer())
}

/** The policy's own answer, if it has one for this end. */
function answerFallback(exchange: Exchange, outcome: Outcome): Ending | null {
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

/** No further attempt: the last upstream answer, or else what went wrong with the last attempt. */
function answerFailed(exchange: Exchange, outcome: DeliveredOutcome): Ending {
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
