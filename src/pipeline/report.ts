import type { AttemptFacts } from '../core/classify.js'
import type { DenialReason, HedgeResult } from '../core/reasons.js'
import type { Ending } from './endings.js'
import type { Exchange } from './exchange.js'

export function reportFinished(exchange: Exchange, ending: Ending): void {
  const { deps, downstream } = exchange
  deps.sink.emit({
    type: 'request-finished',
    upstream: exchange.upstream.name,
    route: exchange.route,
    method: downstream.method,
    path: withoutQuery(exchange.appPath),
    status: ending.status,
    outcome: ending.outcome,
    denied: exchange.memory?.denied ?? null,
    attempts: exchange.attempts,
    hedges: exchange.hedges,
    durationMs: deps.clock.nowMs() - exchange.arrivedMs,
    headMs: exchange.headMs,
    waitedMs: exchange.wait?.totalMs ?? 0,
    responseBytes: ending.bytes,
    generation: exchange.generation,
    traceId: exchange.facts.traceId,
  })
}

export function reportRetry(
  exchange: Exchange,
  facts: AttemptFacts,
  status: number | null,
  error: string | null,
  delayMs: number,
): void {
  exchange.deps.sink.emit({
    type: 'retry-scheduled',
    upstream: exchange.upstream.name,
    route: exchange.route,
    method: exchange.downstream.method,
    path: withoutQuery(exchange.appPath),
    attempt: exchange.attempts,
    status,
    error,
    delayMs,
    reason: facts.why ?? 'status',
    traceId: exchange.facts.traceId,
  })
}

export function reportDenied(exchange: Exchange, reason: DenialReason): void {
  if (exchange.memory !== null) exchange.memory.denied = reason
  exchange.deps.sink.emit({
    type: 'retry-denied',
    upstream: exchange.upstream.name,
    route: exchange.route,
    attempt: exchange.attempts,
    reason,
  })
}

export function reportHedge({ deps, upstream, route }: Exchange, result: HedgeResult): void {
  deps.sink.emit({ type: 'hedge-decided', upstream: upstream.name, route, result })
}

/** The query may hold secrets. */
export function withoutQuery(path: string): string {
  const mark = path.indexOf('?')
  return mark === -1 ? path : path.slice(0, mark)
}
