import type { AttemptFacts } from '../core/classify.js'
import type { DenialReason, HedgeResult, OwnReason, PollResult } from '../core/reasons.js'
import type { RequestTrace, Tracing } from '../core/request-trace.js'
import type { UpstreamSnapshot } from '../core/snapshot.js'
import { loggedTraceId } from '../core/trace-context.js'
import type { EventSink, FinishedTrace } from '../telemetry/events.js'
import { attemptsOf } from './answer-fields.js'
import { ownStatus } from './answers.js'
import type { Ending } from './endings.js'
import type { Exchange } from './exchange.js'
import { tellSuccess } from './parking.js'
import type { RawHeaders } from './ports.js'

export function reportFinished(exchange: Exchange, ending: Ending): void {
  const { deps, downstream, facts } = exchange
  if (facts.cancels !== null) tellSuccess(exchange, ending)
  deps.sink.emit({
    type: 'request-finished',
    upstream: exchange.upstream.name,
    route: exchange.route,
    method: downstream.method,
    path: withoutQuery(exchange.appPath),
    status: ending.status,
    outcome: ending.outcome,
    denied: exchange.memory?.denied ?? null,
    attempts: attemptsOf(exchange),
    hedges: exchange.hedges + (exchange.poll?.earlierHedges ?? 0),
    polls: exchange.poll?.count ?? 0,
    durationMs: deps.clock.nowMs() - exchange.arrivedMs,
    headMs: exchange.headMs,
    waitedMs: exchange.wait?.totalMs ?? 0,
    responseBytes: ending.bytes,
    generation: exchange.generation,
    traceId: facts.traceId,
    ...(facts.trace !== null && { trace: finishedTrace(facts.trace, exchange.upstream, downstream.path) }),
  })
}

/** `path`: as the attempts had it. */
export function finishedTrace(request: RequestTrace, { target }: UpstreamSnapshot, path: string): FinishedTrace {
  return { request, to: { target, path: withoutQuery(path) } }
}

/** No attempt was made, and none was waited for. */
export function reportRefused(
  { sink, tracing }: { readonly sink: EventSink; readonly tracing: Tracing | null },
  request: { readonly method: string; readonly path: string; readonly headers: RawHeaders },
  facts: {
    readonly reason: OwnReason
    readonly upstream: string | null
    readonly generation: number
    readonly bytes: number
  },
): void {
  const { reason, upstream, generation, bytes } = facts
  const trace = tracing?.begin(request.headers)
  sink.emit({
    type: 'request-finished',
    upstream,
    route: null,
    method: request.method,
    path: withoutQuery(request.path),
    status: ownStatus(reason),
    outcome: reason,
    denied: null,
    attempts: 0,
    hedges: 0,
    polls: 0,
    durationMs: 0,
    headMs: null,
    waitedMs: 0,
    responseBytes: bytes,
    generation,
    traceId: trace?.context.traceId ?? loggedTraceId(request.headers),
    ...(trace !== undefined && { trace: { request: trace, to: null } }),
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

/** The upstream, or a layer below, forbids what would be worth another attempt. */
export function reportStopped(exchange: Exchange, stop: 'exhausted' | 'pushback'): void {
  exchange.remember()
  reportDenied(exchange, stop === 'exhausted' ? 'layer' : stop)
}

export function reportHedge({ deps, upstream, route }: Exchange, result: HedgeResult): void {
  deps.sink.emit({ type: 'hedge-decided', upstream: upstream.name, route, result })
}

export function reportPoll({ deps, upstream, route }: Exchange, result: PollResult): void {
  deps.sink.emit({ type: 'poll-judged', upstream: upstream.name, route, result })
}

export function reportUnreadable({ deps, upstream, route, appPath }: Exchange): void {
  const detail = { upstream: upstream.name, route, path: withoutQuery(appPath) }
  const message = 'a poll passes an answer on that it cannot read: larger than 64 KiB, or in an unknown content coding'
  deps.sink.emit({ type: 'notice', level: 'warn', message, detail })
}

/** The query may hold secrets. */
export function withoutQuery(path: string): string {
  const mark = path.indexOf('?')
  return mark === -1 ? path : path.slice(0, mark)
}
