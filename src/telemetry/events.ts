/**
 * Everything forbear tells about itself, as one closed union. The pipeline and the proxy emit; sinks (log, metrics,
 * traces) render. No event carries a header value, a query string or a body: secrets cannot leak through what is not here.
 */
import type { BreakerState, TransitionReason } from '../core/breaker-rules.js'
import type { RetryCause } from '../core/classify.js'
import type { FallbackCause } from '../core/fallback.js'
import type { ParkedCall } from '../core/park.js'
import type { DenialReason, HedgeResult, Outcome, OwnReason, PollResult } from '../core/reasons.js'
import type { RequestTrace } from '../core/request-trace.js'
import type { TargetSnapshot } from '../core/snapshot.js'

export type { ParkedCall } from '../core/park.js'

/** One request is over. The access log is one line of this. */
export interface RequestFinished {
  readonly type: 'request-finished'
  /** `null` when no upstream matched. */
  readonly upstream: string | null
  readonly route: string | null
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** What the app got; 499 when it left first. */
  readonly status: number
  readonly outcome: Outcome
  /** Why the last failed attempt was not followed by another, worth one though it was; `null` = that never came up. */
  readonly denied: DenialReason | null
  readonly attempts: number
  /** Those of them that were sent beside another. */
  readonly hedges: number
  /** Of a request that its route polls: calls that were made one after another until the answer was there; else 0. */
  readonly polls: number
  /** From the arrival of the head to the end of the answer, ms. */
  readonly durationMs: number
  /** From the arrival of the head to the accepted response head, ms; `null` when none came. */
  readonly headMs: number | null
  /** Spent in back-off, queue, gate and room, ms. */
  readonly waitedMs: number
  readonly responseBytes: number
  readonly generation: number
  /** 32 hex digits: of the app's `traceparent`, or of the trace that began here; `null` = none. */
  readonly traceId: string | null
  /** Absent unless traces are exported. */
  readonly trace?: FinishedTrace
}

export interface FinishedTrace {
  readonly request: RequestTrace
  /** Where the attempts went, and for what, without query; `null` = nowhere. */
  readonly to: { readonly target: TargetSnapshot; readonly path: string } | null
}

/** One attempt is settled. */
export interface AttemptFinished {
  readonly type: 'attempt-finished'
  readonly upstream: string
  readonly route: string | null
  /** 1-based. */
  readonly attempt: number
  /** Upstream status, or `null` when no head came. */
  readonly status: number | null
  readonly result:
    | 'response'
    | 'connect'
    | 'overloaded'
    | 'reset'
    | 'timeout'
    | 'bad-response'
    | 'cut'
    | 'aborted'
    | 'deadline'
    /** Ended because another attempt of the same request had won. */
    | 'lost'
  readonly durationMs: number
}

/** One retry line: an attempt failed and another follows after a wait. */
export interface RetryScheduled {
  readonly type: 'retry-scheduled'
  readonly upstream: string
  readonly route: string | null
  readonly method: string
  readonly path: string
  /** The attempt that failed, 1-based. */
  readonly attempt: number
  readonly status: number | null
  /** `connect ECONNREFUSED`, `reset`, `timeout` …; `null` for a status. */
  readonly error: string | null
  readonly delayMs: number
  /** Why it is worth another attempt. */
  readonly reason: RetryCause
  readonly traceId: string | null
}

/** A failed attempt was retryable and yet no further one was made. */
export interface RetryDenied {
  readonly type: 'retry-denied'
  readonly upstream: string
  readonly route: string | null
  readonly attempt: number
  readonly reason: DenialReason
}

/** The policy's own answer took the place of a failure. */
export interface FallbackGiven {
  readonly type: 'fallback-given'
  readonly upstream: string
  readonly route: string | null
  readonly cause: FallbackCause
  readonly traceId: string | null
}

/** A rehearsed fault hit an attempt: nothing is wrong with the upstream. */
export interface FaultInjected {
  readonly type: 'fault-injected'
  readonly upstream: string
  readonly route: string | null
  readonly kind: 'delay' | 'status' | 'abort'
  readonly traceId: string | null
}

/** A tunnel that stood is over: both of its sides are closed. */
export interface TunnelClosed {
  readonly type: 'tunnel-closed'
  readonly upstream: string
  readonly route: string | null
  readonly method: string
  /** Without the query; of a CONNECT the authority. */
  readonly path: string
  /** For which it stood, ms. */
  readonly durationMs: number
  readonly bytesToUpstream: number
  readonly bytesToApp: number
  readonly generation: number
}

/** What became of an answer to a poll. */
export interface PollJudged {
  readonly type: 'poll-judged'
  readonly upstream: string
  readonly route: string | null
  readonly result: PollResult
}

/** What became of a hedge, or why one that was due was not sent. */
export interface HedgeDecided {
  readonly type: 'hedge-decided'
  readonly upstream: string
  readonly route: string | null
  readonly result: HedgeResult
}

export interface BreakerChanged {
  readonly type: 'breaker-changed'
  readonly upstream: string
  /** Set for a route with a breaker of its own. */
  readonly route: string | null
  readonly from: BreakerState
  readonly to: BreakerState
  readonly reason: TransitionReason
  /** ms until the next probe, when `to` is open. */
  readonly openForMs: number | null
  /** Counts only; refuses nothing. */
  readonly observeOnly: boolean
}

export interface GateChanged {
  readonly type: 'gate-changed'
  readonly upstream: string
  readonly to: 'closed' | 'open'
  /** ms until it opens, when closed. */
  readonly closedForMs: number | null
}

export interface PolicyReloaded {
  readonly type: 'policy-reloaded'
  readonly result: 'applied' | 'unchanged' | 'rejected' | 'partial'
  readonly trigger: 'start' | 'watch' | 'poll' | 'signal' | 'admin'
  /** In force after this. */
  readonly generation: number
  readonly hash: string
  readonly upstreams: number
  /** Only those whose text was new; absent where it never came to that. */
  readonly documentsParsed?: number
  readonly durationMs: number
  /** One line each: `file:line:col  path  text`. */
  readonly messages: readonly string[]
  /** Where something came into force after the start. */
  readonly changes?: UpstreamChanges
  /** Upstreams left out, whose calls get 503 `no-policy` (`--start valid-only`). */
  readonly noPolicy: readonly string[]
  /** Upstreams on their last good document, since the latest is invalid (`--start valid-only`). */
  readonly kept: readonly string[]
  /** What is in force is on disk again, after a set that was rejected. */
  readonly recovered?: boolean
}

/** Names of upstreams. */
export interface UpstreamChanges {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

export interface Listening {
  readonly type: 'listening'
  readonly role: 'shared' | 'upstream' | 'admin' | 'health'
  readonly upstream: string | null
  readonly address: string
}

/** A port is closed, or could not be opened. */
export interface NotListening extends Omit<Listening, 'type'> {
  readonly type: 'not-listening'
  /** `null`: closed as it was meant to be. */
  readonly error: string | null
}

/** Whatever else an operator should see: one line, no payload of a request. */
export interface Notice {
  readonly type: 'notice'
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>
  /** Bytes of the app were no request and had this for an answer: counted, though no method or path is known. */
  readonly refused?: { readonly upstream: string | null; readonly reason: OwnReason; readonly status: number }
}

export type ForbearEvent =
  | RequestFinished
  | AttemptFinished
  | RetryScheduled
  | RetryDenied
  | FallbackGiven
  | FaultInjected
  | TunnelClosed
  | HedgeDecided
  | PollJudged
  | ParkedCall
  | BreakerChanged
  | GateChanged
  | PolicyReloaded
  | Listening
  | NotListening
  | Notice

export interface EventSink {
  emit(event: ForbearEvent): void
}
