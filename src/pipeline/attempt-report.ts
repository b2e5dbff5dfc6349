import type { BreakerPermit, SettledOutcome } from '../core/breaker-rules.js'
import type { AttemptFinished } from '../telemetry/events.js'
import type { RunFailure } from './attempt-run.js'
import type { Exchange } from './exchange.js'
import type { AttemptFailure } from './ports.js'
import { STALE_IDLE_MS } from './stale-allowance.js'

/** Tells the breaker, the line and the pool how an attempt went. `none` tells nobody, but gives the permit back. */
export function settleAttempt(
  exchange: Exchange,
  permit: BreakerPermit,
  connection: object | null,
  outcome: SettledOutcome,
  nowMs: number,
): void {
  const { lane, deps } = exchange
  lane.guard.breaker.record(permit, outcome)
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

export function runFailure({ kind, code }: AttemptFailure): RunFailure {
  if (kind === 'overloaded') return { reason: kind, text: `${code}, this host has none left`, nothingSent: true }
  return { reason: kind, text: `${kind} ${code}`, nothingSent: kind === 'connect' }
}

/** The connection died of old age, not of this request: one free attempt on a fresh one (RFC 9112 §9.3.1), one a request. */
export function mayStartFresh(exchange: Exchange, failure: AttemptFailure): boolean {
  const { repeatable, downstream, lane, deps } = exchange
  if (exchange.freshUsed || failure.kind !== 'reset' || (failure.idleBeforeMs ?? 0) < STALE_IDLE_MS) return false
  if (!repeatable || downstream.body?.replayable === false) return false
  exchange.freshUsed = lane.stale.tryTake(deps.clock.nowMs())
  return exchange.freshUsed
}
