/**
 * Renders a finished request as spans, named after the semantic conventions of OpenTelemetry for HTTP: one SERVER span
 * for what the app asked, and below it one CLIENT span for each attempt.
 */
import type { AttemptTrace, WaitTrace } from '../core/request-trace.js'
import type { TraceParent } from '../core/trace-context.js'
import type { FinishedTrace, RequestFinished } from './events.js'

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** Times are Unix ms, fractional. */
export interface SpanData {
  readonly name: string
  readonly kind: 'server' | 'client'
  readonly context: TraceParent
  readonly parentSpanId: string | null
  readonly startMs: number
  readonly endMs: number
  readonly failed: boolean
  readonly attributes: SpanAttributes
  readonly events: readonly { readonly name: string; readonly atMs: number; readonly attributes: SpanAttributes }[]
  /** Spans of the same trace. */
  readonly links: readonly string[]
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])
const MAX_METHOD_CHARS = 32
const MAX_PATH_CHARS = 1024

/** Ended by us or by the app for reasons that are no failure of anybody. */
const NO_FAILURE: ReadonlySet<string> = new Set(['lost', 'aborted'])

/** `now`: the same moment on both clocks. */
export function spansOf(
  event: RequestFinished,
  trace: FinishedTrace,
  now: { readonly nowMs: number; readonly wallMs: number },
): SpanData[] {
  const offsetMs = now.wallMs - now.nowMs
  const place = placeOf(event)
  const attempts = trace.request.attempts.flatMap(attempt => attemptSpan(attempt, trace, event, place, offsetMs))
  return [requestSpan(event, trace, place, now, offsetMs), ...attempts]
}

function requestSpan(
  event: RequestFinished,
  { request }: FinishedTrace,
  place: SpanAttributes,
  { wallMs }: { readonly wallMs: number },
  offsetMs: number,
): SpanData {
  const { status, outcome, denied, path } = event
  // 499 is a word of logs: nothing was answered.
  const answered = outcome === 'aborted' ? {} : { 'http.response.status_code': status }
  const failed = status >= 500 || outcome === 'cut'
  return {
    ...named(event.method),
    kind: 'server',
    context: request.context,
    parentSpanId: request.parentSpanId,
    startMs: wallMs - event.durationMs,
    endMs: wallMs,
    failed,
    attributes: {
      ...method(event.method),
      'url.scheme': 'http',
      'url.path': shortened(path),
      ...answered,
      ...place,
      'forbear.outcome': outcome,
      'forbear.policy.generation': event.generation,
      'forbear.attempts': event.attempts,
      ...(denied !== null && { 'forbear.retry.denied': denied }),
      ...(request.left > 0 && { 'forbear.trace.left': request.left }),
      ...(failed && { 'error.type': outcome === 'delivered' ? String(status) : outcome }),
    },
    events: request.waits.map(wait => waitEvent(wait, offsetMs)),
    links: [],
  }
}

/** Nothing for one that was not made after all. */
function attemptSpan(
  attempt: AttemptTrace,
  { request, to }: FinishedTrace,
  event: RequestFinished,
  place: SpanAttributes,
  offsetMs: number,
): SpanData[] {
  const { end, number, hedge, startMs } = attempt
  if (end === null) return []
  const { status, result } = end
  const error = result === 'response' ? (status !== null && status >= 400 ? String(status) : null) : result
  const failed = error !== null && !NO_FAILURE.has(error)
  const attributes: SpanAttributes = {
    ...method(event.method),
    ...(to !== null && addressOf(to)),
    ...(status !== null && { 'http.response.status_code': status }),
    ...(number > 1 && { 'http.request.resend_count': number - 1 }),
    ...place,
    'forbear.attempt.result': result,
    'forbear.attempt.hedge': hedge,
    ...(failed && { 'error.type': error }),
  }
  const span: SpanData = {
    ...named(event.method),
    kind: 'client',
    context: { ...request.context, spanId: attempt.spanId },
    parentSpanId: request.context.spanId,
    startMs: startMs + offsetMs,
    endMs: end.atMs + offsetMs,
    failed,
    attributes,
    events: [],
    links: attempt.beside,
  }
  return [span]
}

function waitEvent({ place, startMs, endMs }: WaitTrace, offsetMs: number): SpanData['events'][number] {
  const attributes = { 'forbear.wait.place': place, 'forbear.wait.duration_ms': Math.round(endMs - startMs) }
  return { name: 'forbear.wait', atMs: startMs + offsetMs, attributes }
}

function placeOf({ upstream, route }: RequestFinished): SpanAttributes {
  return {
    ...(upstream !== null && { 'forbear.upstream': upstream }),
    ...(route !== null && { 'forbear.route': route }),
  }
}

/** A span is named by few words: a client may make up methods without end. */
function named(name: string): { readonly name: string } {
  return { name: KNOWN_METHODS.has(name) ? name : 'HTTP' }
}

function method(name: string): SpanAttributes {
  if (KNOWN_METHODS.has(name)) return { 'http.request.method': name }
  return { 'http.request.method': '_OTHER', 'http.request.method_original': name.slice(0, MAX_METHOD_CHARS) }
}

/** A socket file has no port; a CONNECT has no URL, its path is an authority. */
function addressOf({ target, path }: NonNullable<FinishedTrace['to']>): SpanAttributes {
  const { protocol, hostname, port, authority, basePath, socketPath } = target
  if (socketPath !== undefined) return { 'server.address': socketPath }
  const address = { 'server.address': hostname, 'server.port': port }
  if (!path.startsWith('/')) return address
  return { ...address, 'url.full': shortened(`${protocol}//${authority}${basePath}${path}`) }
}

function shortened(text: string): string {
  return text.length <= MAX_PATH_CHARS ? text : `${text.slice(0, MAX_PATH_CHARS)}…`
}
