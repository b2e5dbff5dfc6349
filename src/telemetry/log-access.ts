import type { RequestFinished, RetryScheduled } from './events.js'
import { flagsOf } from './flags.js'

/** A longer path is cut, so that one client cannot fill the log's pipe. */
const MAX_PATH_CHARS = 1024

/** The access-log line. Times are in ms with two decimals; `flags` is `-` when there is none. */
export function accessFields(event: RequestFinished) {
  return {
    msg: 'request',
    upstream: event.upstream,
    route: event.route,
    method: event.method,
    path: shortPath(event.path),
    status: event.status,
    outcome: event.outcome,
    flags: flagsOf(event.outcome),
    denied: event.denied,
    attempts: event.attempts,
    durationMs: twoDecimals(event.durationMs),
    headMs: event.headMs === null ? null : twoDecimals(event.headMs),
    waitedMs: twoDecimals(event.waitedMs),
    bytes: event.responseBytes,
    generation: event.generation,
    traceId: event.traceId,
  }
}

/** `attempt` failed with `status` or `error`; the next one follows after `delayMs`. */
export function retryFields(event: RetryScheduled) {
  return {
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
}

function shortPath(path: string): string {
  return path.length <= MAX_PATH_CHARS ? path : `${path.slice(0, MAX_PATH_CHARS)}…`
}

function twoDecimals(ms: number): number {
  return Math.round(ms * 100) / 100
}
