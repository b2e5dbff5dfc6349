import type { BreakerPermit, SettledOutcome } from '../core/breaker-rules.js'
import { type AttemptFacts, classifyResponse } from '../core/classify.js'
import type { OwnReason } from '../core/reasons.js'
import type { AttemptFinished } from '../telemetry/events.js'
import { returnPace } from './admission.js'
import type { Exchange } from './exchange.js'
import type { AttemptFailure, ResponseHead } from './ports.js'
import { STALE_IDLE_MS } from './stale-allowance.js'

/** Tells the breaker, the line and the pool how an attempt went. `none` tells nobody, but gives the permit back. */
export function settleAttempt(
  exchange: Exchange,
  permit: BreakerPermit,
  connection: object | null,
  outcome: SettledOutcome,
  tookMs: number,
  nowMs: number,
): void {
  const { lane, deps, policy, downstream } = exchange
  // How long a poll is held, or how soon a connection stands, says nothing of how the upstream answers.
  const timed = !policy.longPoll && downstream.method !== 'CONNECT'
  lane.guard.breaker.record(permit, outcome, timed ? tookMs : 0)
  lane.throttle.settle(nowMs - tookMs, outcome, nowMs)
  if (outcome === 'none') return
  const failed = outcome === 'failure'
  if (timed) lane.limiter.onSettled(tookMs, failed || outcome === 'throttled', nowMs)
  if (failed) lane.guard.line.onBad(nowMs)
  else if (outcome === 'success') lane.guard.line.onGood(nowMs)
  deps.transport.settle(connection, failed)
}

export function reportAttempt(
  exchange: Exchange,
  attempt: number,
  status: number,
  result: AttemptFinished['result'],
  durationMs: number,
): void {
  exchange.deps.sink.emit({
    type: 'attempt-finished',
    upstream: exchange.upstream.name,
    route: exchange.route,
    attempt,
    status: status === 0 ? null : status,
    result,
    durationMs,
  })
}

export function classifyHead({ deps, policy, facts, attempts }: Exchange, head: ResponseHead): AttemptFacts {
  return classifyResponse(head.status, head.headers, {
    retry: policy.retry,
    wallNowMs: deps.clock.wallMs(),
    keyed: facts.repeat.kind === 'keyed' || facts.repeat.kind === 'generate',
    resend: attempts > 1,
  })
}

/** What the budget, the latencies and the gate learn from an answer. `sentMs` = when the request had gone out. */
export function learnFromAnswer(
  exchange: Exchange,
  attempt: number,
  facts: AttemptFacts,
  sentMs: number,
  nowMs: number,
): void {
  const { lane, policy, gateProbe, downstream } = exchange
  const good = facts.breaker === 'success'
  if (good && !facts.retryable && attempt === 1 && !downstream.redelivery) lane.onFirstSuccess(nowMs)
  if (facts.throttled) lane.guard.pacer.onThrottled(sentMs, nowMs)
  if (gateProbe) settleGateProbe(exchange, facts.retryAfterMs, facts.breaker !== 'failure')
  // That a connection stands says nothing of how the upstream answers.
  if (downstream.method === 'CONNECT') return
  if (good && !policy.longPoll) lane.recordLatency(nowMs - sentMs, nowMs)
  const { capMs, scope } = policy.retry.retryAfter
  if (!gateProbe && scope === 'upstream') lane.guard.onAnswer(facts.retryAfterMs, capMs, facts.throttled, nowMs)
}

/** A deadline that cut an attempt sooner than this says nothing about the upstream, only about the app's patience. */
const SHORT_DEADLINE_MS = 1000
/** Timers may fire this much early. */
const TIMER_SLACK_MS = 2

/** What the deadline of the request says of an upstream that had so long for its answer. */
export function deadlineOutcome({ lane, policy }: Exchange, ranMs: number, nowMs: number): SettledOutcome {
  const patienceMs = Math.max(SHORT_DEADLINE_MS, 2 * (lane.latency.quantile(0.95, nowMs) ?? 0))
  return ranMs + TIMER_SLACK_MS >= patienceMs && !policy.longPoll ? 'failure' : 'none'
}

export function settleGateProbe(exchange: Exchange, hintMs: number | null, good: boolean): void {
  const { guard } = exchange.lane
  exchange.gateProbe = false
  if (hintMs !== null && hintMs > 0) guard.onGateProbe({ kind: 'hinted', hintMs })
  else guard.onGateProbe({ kind: good ? 'good' : 'nothing' })
}

/** The request will not be sent now: another may in its place, by the pace or as the one call that a gate lets through. */
export function returnTurn(exchange: Exchange): void {
  returnPace(exchange, exchange.deps.clock.nowMs())
  if (exchange.gateProbe) settleGateProbe(exchange, null, false)
}

/** Why an attempt brought no response head. */
export interface RunFailure {
  readonly reason: OwnReason
  /** For people: `connect ECONNREFUSED`, `no answer within 1000 ms` … */
  readonly text: string
  /** Nothing was sent, so it may be repeated whatever the method. */
  readonly nothingSent: boolean
}

export function runFailure({ kind, code, where }: AttemptFailure): RunFailure {
  if (kind === 'overloaded') return { reason: kind, text: `${code}, this host has none left`, nothingSent: true }
  const text = `${kind} ${code}${where === undefined ? '' : ` ${where}`}`
  return { reason: kind, text, nothingSent: kind === 'connect' }
}

/** The connection died of old age, not of this request: one free attempt on a fresh one (RFC 9112 §9.3.1), one a request. */
export function mayStartFresh(exchange: Exchange, failure: AttemptFailure): boolean {
  const { repeatable, downstream, lane, deps } = exchange
  if (exchange.freshUsed || failure.kind !== 'reset' || (failure.idleBeforeMs ?? 0) < STALE_IDLE_MS) return false
  if (!repeatable || downstream.body?.replayable === false) return false
  // The body has one reader at a time, and a hedge may be reading it.
  if (exchange.hedges > 0 && downstream.body !== null) return false
  exchange.freshUsed = lane.stale.tryTake(deps.clock.nowMs())
  return exchange.freshUsed
}
