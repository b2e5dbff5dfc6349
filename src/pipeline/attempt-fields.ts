import { outgoingBaggage } from '../core/layers.js'
import type { AttemptTrace } from '../core/request-trace.js'
import type { Exchange } from './exchange.js'
import type { AttemptRequest } from './ports.js'
import { baggageOf } from './request-facts.js'

/** The call that starts at `startMs`; `avoid`: connections that it must not use. */
export function attemptRequest(
  exchange: Exchange,
  startMs: number,
  trace: AttemptTrace | null,
  avoid: readonly object[],
  fresh: boolean,
): AttemptRequest {
  const { deps, upstream, downstream, policy } = exchange
  return {
    upstream,
    downstream,
    set: attemptFields(exchange, startMs, trace),
    avoid,
    fresh,
    connectTimeoutMs: policy.timeouts.connectMs,
    idleTimeoutMs: policy.timeouts.idleMs,
    fault: deps.nextFault(exchange),
  }
}

/** Fields that forbear adds to it. */
function attemptFields(exchange: Exchange, startMs: number, trace: AttemptTrace | null): string[] {
  const { facts, policy, mintedKey, deadlineMs, attempts, hedges, downstream, deps } = exchange
  // Only a first attempt is hedged, and a hedge is no re-send. Of a re-send every attempt is one: a layer below that took
  // our first for a first would multiply what this layer does not.
  const attempt = Math.max(attempts - hedges, facts.incomingAttempt ?? 0)
  const fields = ['forbear-attempt', String(attempt)]
  // While the body still comes in, the whole that runs from its end.
  const remainingMs = Math.min(deadlineMs - startMs, facts.totalMs)
  if (remainingMs !== Number.POSITIVE_INFINITY) {
    fields.push('forbear-timeout-ms', String(Math.max(1, Math.floor(remainingMs))))
  }
  if (mintedKey !== null) fields.push(policy.retry.idempotency.keyHeaders[0] ?? '', mintedKey)
  if (policy.propagate && attempt > 1) {
    const resend = Math.max(attempt, facts.incomingResend ?? 0)
    fields.push('baggage', outgoingBaggage(baggageOf(downstream.headers), resend, deps.clock.wallMs()))
  }
  if (facts.trace !== null && trace !== null) fields.push(...facts.trace.fields(trace))
  return fields
}
