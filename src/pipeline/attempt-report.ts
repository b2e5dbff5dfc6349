import type { BreakerPermit, SettledOutcome } from '../core/breaker-rules.js'
import type { AttemptFacts } from '../core/classify.js'
import type { OwnReason } from '../core/reasons.js'
import type { AttemptFinished } from '../telemetry/events.js'
import type { Exchange } from './exchange.js'
import type { AttemptFailure } from './ports.js'
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
  if (outcome === 'none') return
  const failed = outcome === 'failure'
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

/** What the budget, the latencies and the gate learn from an answer. `sentMs` = when the request had gone out. */
export function learnFromAnswer(exchange: Exchange, facts: AttemptFacts, sentMs: number, nowMs: number): void {
  const { lane, policy, attempts, gateProbe, downstream } = exchange
  const good = facts.breaker === 'success'
  if (good && !facts.retryable && attempts === 1 && !downstream.redelivery) lane.onFirstSuccess(nowMs)
  if (gateProbe) settleGateProbe(exchange, facts.retryAfterMs, facts.breaker !== 'failure')
  // That a connection stands says nothing of how the upstream answers.
  if (downstream.method === 'CONNECT') return
  if (good && !policy.longPoll) lane.latency.record(nowMs - sentMs, nowMs)
  const { capMs, scope } = policy.retry.retryAfter
  if (!gateProbe && scope === 'upstream') lane.guard.onAnswer(facts.retryAfterMs, capMs, nowMs)
}

export function settleGateProbe(exchange: Exchange, hintMs: number | null, good: boolean): void {
  const { guard } = exchange.lane
  exchange.gateProbe = false
  if (hintMs !== null && hintMs > 0) guard.onGateProbe({ kind: 'hinted', hintMs })
  else guard.onGateProbe({ kind: good ? 'good' : 'nothing' })
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
  exchange.freshUsed = lane.stale.tryTake(deps.clock.nowMs())
  return exchange.freshUsed
}
