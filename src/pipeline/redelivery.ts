import type { RouteSnapshot, UpstreamSnapshot } from '../core/snapshot.js'
import type { ForbearEvent } from '../telemetry/events.js'
import { Exchange } from './exchange.js'
import type { ExchangeDeps } from './exchange-deps.js'
import type { Lane } from './lane.js'
import type { Downstream } from './ports.js'
import { RetryMemory } from './retry-memory.js'

/** Why a redelivery was not even tried. */
export type NotTried = 'no-route' | 'retries-off' | 'draining' | 'budget-exhausted'

/**
 * A parked call once more: a single attempt that the retry budget pays for, since no app's first attempt earns it, and
 * that the breaker takes for a retry. `null` = the budget has nothing left.
 */
export function redeliveryOf(
  deps: ExchangeDeps,
  generation: number,
  upstream: UpstreamSnapshot,
  route: RouteSnapshot | null,
  lane: Lane,
  downstream: Downstream,
): Exchange | null {
  const { retry, fallback, ...rest } = route?.policy ?? upstream.policy
  const once = {
    retry: { ...retry, maxAttempts: 1 },
    fallback: { ...fallback, when: new Set<never>() },
    poll: null,
    park: null,
  }
  const policy = { ...rest, ...once }
  const memory = new RetryMemory(lane)
  const nowMs = deps.clock.nowMs()
  if (!memory.tryWithdraw(nowMs, nowMs)) return null
  const sink = { emit: (event: ForbearEvent) => emitAttempts(deps, event) }
  // A rehearsal must not make a dead one of a call that was acknowledged.
  // The trace that it belongs to ended long ago; what the app sent of it is passed on as it was.
  const ownDeps = { ...deps, sink, nextFault: () => null, tracing: null }
  const exchange = new Exchange(
    ownDeps,
    generation,
    upstream,
    route?.name ?? null,
    policy,
    lane,
    downstream,
    downstream.path,
  )
  exchange.memory = memory
  return exchange
}

/** It is no request of the app: what became of it is told by whoever redelivers. */
function emitAttempts({ sink }: ExchangeDeps, event: ForbearEvent): void {
  if (event.type === 'attempt-finished') sink.emit(event)
}
