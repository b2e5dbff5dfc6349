import type { BreakerPermit } from '../core/breaker-rules.js'
import { fits } from '../core/deadline.js'
import { mayRunTwice } from '../core/hedge.js'
import type { HedgeDenial } from '../core/reasons.js'
import type { Exchange } from './exchange.js'

/** Whether a hedge may ever be sent beside the first attempt of this request. */
export function mayHedge({ policy, facts, downstream, attempts }: Exchange): boolean {
  const { mode, keyedWrites } = policy.hedge
  if (mode === 'disabled' || attempts > 1 || policy.longPoll || facts.layered || facts.maxAttempts === 1) return false
  return mayRunTwice(downstream.method, facts.repeat.kind, keyedWrites)
}

/**
 * The permit of one more attempt now, paid from the budget; or why it is not sent, which is told; or `null` where its body
 * cannot be sent beside that of another. It never waits, for it would come too late anyway.
 */
export function claimHedge(exchange: Exchange): BreakerPermit | HedgeDenial | 'observed' | null {
  const { lane, policy, downstream, deps } = exchange
  const { body } = downstream
  if (body !== null && !(body.complete && body.replayable)) return null
  const nowMs = deps.clock.nowMs()
  const denied = whyNotNow(exchange, nowMs)
  if (denied !== null) return denied
  const paid = lane.tryWithdrawHedge(nowMs)
  if (paid === null) return 'budget-exhausted'
  if (policy.hedge.mode === 'observe') {
    lane.giveHedgeBack(paid, nowMs)
    return 'observed'
  }
  // Not `first`: of one request only one attempt counts in the breaker's ratio.
  const permit = lane.guard.breaker.acquire('retry')
  if (permit.granted) {
    lane.guard.pacer.take(nowMs)
    if (lane.throttle.counts) lane.throttle.admits(nowMs, deps.random, false)
    return permit
  }
  lane.giveHedgeBack(paid, nowMs)
  return 'breaker-open'
}

function whyNotNow(exchange: Exchange, nowMs: number): HedgeDenial | null {
  const { lane, facts, deps, attempts, deadlineMs, gateProbe } = exchange
  const { breaker, gate, line, pacer } = lane.guard
  const forbidden = deps.whyNoHedge(exchange)
  if (forbidden !== null) return forbidden
  if (attempts >= facts.maxAttempts) return 'retries-exhausted'
  if (!fits(0, nowMs, deadlineMs, lane.hedgeLatency.median(nowMs))) return 'deadline'
  if (breaker.state !== 'closed') return 'breaker-open'
  if (!gate.isOpen || gateProbe || line.busy || pacer.waitMs(nowMs) > 0) return 'gate-closed'
  // Never beside calls that are kept from the upstream.
  const throttled = lane.throttle.mode === 'enabled' && lane.throttle.refusalProbability(nowMs) > 0
  return lane.limiter.free && !throttled ? null : 'overloaded'
}
