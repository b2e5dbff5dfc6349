/** Before a further attempt, a request also obeys what the policy in force by then tightens. */
import type { PollSettings } from '../core/poll.js'
import type { DenialReason, HedgeDenial } from '../core/reasons.js'
import type { EffectivePolicy, Snapshot } from '../core/snapshot.js'
import type { Exchange } from './exchange.js'
import { mayRepeat } from './retry-step.js'

export function whyNoRetryNow(exchange: Exchange, snapshot: Snapshot): DenialReason | 'not-retryable' | null {
  if (exchange.generation === snapshot.generation) return null
  const retry = policyNow(exchange, snapshot)?.retry
  if (retry === undefined || exchange.attempts >= retry.maxAttempts) return 'retries-exhausted'
  if (exchange.memory?.stillWorthIt(retry) === false) return 'not-retryable'
  return mayRepeat(exchange, retry.idempotency) ? null : 'not-repeatable'
}

export function whyNoHedgeNow(exchange: Exchange, snapshot: Snapshot): HedgeDenial | null {
  if (exchange.generation === snapshot.generation) return null
  const now = policyNow(exchange, snapshot)
  if (now === null || now.longPoll) return 'retries-off'
  if (now.hedge.mode !== 'enabled' && exchange.policy.hedge.mode === 'enabled') return 'retries-off'
  const spent = exchange.hedges >= now.hedge.maxHedges || exchange.attempts >= now.retry.maxAttempts
  return spent ? 'retries-exhausted' : null
}

/** What is in force of its poll; `null` = it is to end. */
export function pollNow(exchange: Exchange, snapshot: Snapshot): PollSettings | null {
  if (exchange.generation === snapshot.generation) return exchange.policy.poll
  return policyNow(exchange, snapshot)?.poll ?? null
}

/** What is in force for its route; `null` = its upstream is gone. */
function policyNow({ upstream, route }: Exchange, { upstreams }: Snapshot): EffectivePolicy | null {
  const now = upstreams.get(upstream.name)
  return now?.routes.find(({ name }) => name === route)?.policy ?? now?.policy ?? null
}
