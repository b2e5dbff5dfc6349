import type { AttemptFacts } from '../core/classify.js'
import type { DenialReason, OwnReason } from '../core/reasons.js'
import type { RequestFinished } from '../telemetry/events.js'
import { ownStatus } from './answers.js'
import type { Ending } from './endings.js'
import type { Exchange } from './exchange.js'
import { tellSuccess } from './parking.js'
import type { Downstream } from './ports.js'

export function reportFinished(exchange: Exchange, ending: Ending): void {
  const { deps, downstream } = exchange
  if (exchange.facts.cancels !== null) tellSuccess(exchange, ending)
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
    durationMs: deps.clock.nowMs() - exchange.arrivedMs,
    headMs: exchange.headMs,
    waitedMs: exchange.wait?.totalMs ?? 0,
    responseBytes: ending.bytes,
    generation: exchange.generation,
    traceId: exchange.facts.traceId,
  })
}

/** A request that was answered before it became an exchange. */
export function refusedRequest(
  request: Pick<Downstream, 'method' | 'path'>,
  reason: OwnReason,
  upstream: string | null,
  responseBytes: number,
  generation: number,
): RequestFinished {
  return {
    type: 'request-finished',
    upstream,
    route: null,
    method: request.method,
    path: withoutQuery(request.path),
    status: ownStatus(reason),
    outcome: reason,
    denied: null,
    attempts: 0,
    durationMs: 0,
    headMs: null,
    waitedMs: 0,
    responseBytes,
    generation,
    traceId: null,
  }
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

/** The query may hold secrets. */
export function withoutQuery(path: string): string {
  const mark = path.indexOf('?')
  return mark === -1 ? path : path.slice(0, mark)
}
