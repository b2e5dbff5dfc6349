import type { FallbackGiven, FaultInjected, RequestFinished, RetryScheduled, TunnelClosed } from './events.js'
import { flagsOf } from './flags.js'

/** A longer path is cut, so that one client cannot fill the log's pipe. */
const MAX_PATH_CHARS = 1024

/**
 * The fields of the access-log line as JSON text, without the opening brace. Times are in ms with two decimals; `flags`
 * is `-` when there is none. Put together by hand, for it is written for every call: 2.8 µs a line, written, against 3.8 µs
 * for an object that is serialised. Words of closed lists need no escaping; whatever comes from outside gets it.
 */
export function accessFields(event: RequestFinished): string {
  const headMs = event.headMs === null ? null : twoDecimals(event.headMs)
  return (
    `"msg":"request","upstream":${text(event.upstream)},"route":${text(event.route)},"method":${text(event.method)},` +
    `"path":${text(shortPath(event.path))},"status":${event.status},"outcome":"${event.outcome}",` +
    `"flags":"${flagsOf(event.outcome)}","denied":${event.denied === null ? null : `"${event.denied}"`},` +
    `"attempts":${event.attempts},"hedges":${event.hedges},"polls":${event.polls},` +
    `"durationMs":${twoDecimals(event.durationMs)},"headMs":${headMs},` +
    `"waitedMs":${twoDecimals(event.waitedMs)},"bytes":${event.responseBytes},"generation":${event.generation},` +
    `"traceId":${text(event.traceId)}}`
  )
}

function text(value: string | null): string {
  return value === null ? 'null' : JSON.stringify(value)
}

/** `attempt` failed with `status` or `error`; the next one follows after `delayMs`. */
export function retryFields(event: RetryScheduled): string {
  const fields = {
    msg: 'retry',
    upstream: event.upstream,
    route: event.route,
    method: event.method,
    path: shortPath(event.path),
    attempt: event.attempt,
    status: event.status,
    error: event.error,
    delayMs: twoDecimals(event.delayMs),
    reason: event.reason,
    traceId: event.traceId,
  }
  return JSON.stringify(fields).slice(1)
}

/** What the app was kept from seeing. */
export function fallbackFields({ upstream, route, cause, traceId }: FallbackGiven): string {
  return JSON.stringify({ msg: 'fallback', upstream, route, cause, traceId }).slice(1)
}

/** A line for each, so that nobody takes a rehearsal for an outage. */
export function faultFields({ upstream, route, kind, traceId }: FaultInjected): string {
  return JSON.stringify({ msg: 'rehearsed fault', upstream, route, kind, traceId }).slice(1)
}

/** The end of a tunnel, whose opening has a line of its own. */
export function tunnelFields({ type: _, path, durationMs, ...event }: TunnelClosed): string {
  const fields = { msg: 'tunnel closed', ...event, path: shortPath(path), durationMs: twoDecimals(durationMs) }
  return JSON.stringify(fields).slice(1)
}

function shortPath(path: string): string {
  return path.length <= MAX_PATH_CHARS ? path : `${path.slice(0, MAX_PATH_CHARS)}…`
}

function twoDecimals(ms: number): number {
  return Math.round(ms * 100) / 100
}
