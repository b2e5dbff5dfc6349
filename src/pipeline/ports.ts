/**
 * What the pipeline needs from the outside. `proxy` implements these on sockets, tests implement them on nothing.
 * Header lists are flat (name, value, name, value …), latin1 strings, in wire order.
 */

import type { BreakerPermit, SettledOutcome } from '../core/breaker-rules.js'
import type { UpstreamSnapshot } from '../core/snapshot.js'

export type RawHeaders = readonly string[]

export interface ResponseHead {
  readonly status: number
  readonly statusText: string
  /** As received, hop-by-hop fields included. */
  readonly headers: RawHeaders
}

/** A failed answer read whole, kept in case it turns out to be the last. */
export interface HeldResponse {
  readonly head: ResponseHead
  readonly body: Uint8Array
}

/** The app's request body while it is being captured for replay. */
export interface RequestBody {
  /** All bytes have arrived from the app. */
  readonly complete: boolean
  /** Bytes kept in memory. */
  readonly capturedBytes: number
  /** Every byte so far can be sent again (nothing beyond `maxBody` was let through). */
  readonly replayable: boolean
  /** No byte has been handed to any upstream yet. */
  readonly untouched: boolean
  /** Sets how much to keep; called once, before the first attempt. 0 = keep nothing. */
  capture(maxBytes: number): void
  /** Calls once when `complete` becomes true (at once if it is). */
  onComplete(fn: () => void): void
}

/** The app's side of one request. */
export interface Downstream {
  readonly method: string
  /** Path and query exactly as the upstream shall see it, without the target's base path. */
  readonly path: string
  readonly headers: RawHeaders
  /** `null` when the request has none. */
  readonly body: RequestBody | null
  /** Passes an interim (1xx) response on. */
  interim(status: number, headers: RawHeaders): void
  /** One whole answer: ours, or a held one of the upstream (whose hop-by-hop fields are removed here). */
  answer(head: ResponseHead, extra: RawHeaders, body: Uint8Array | string): void
  /** The only honest end once bytes have gone out: the connection is destroyed. */
  destroy(): void
}

/** Why no response head came. Nothing was sent after `connect`. */
export type AttemptFailureKind = 'connect' | 'reset' | 'bad-response'

export interface AttemptFailure {
  readonly kind: AttemptFailureKind
  /** `ECONNREFUSED`, `UND_ERR_SOCKET` …; for logs. */
  readonly code: string
  readonly message: string
  /** Certificate and other errors that no repetition can mend. */
  readonly permanent: boolean
  /** How long the connection had been idle before this attempt, ms; `null` = it was fresh. */
  readonly idleBeforeMs: number | null
}

/** One call to the upstream on the wire. */
export interface Attempt {
  /** Opaque; a later attempt passes it in `avoid`. `null` until connected. */
  readonly connection: object | null
  /** Commits: head (end-to-end fields plus `extra`) and body stream to the app. Only inside `onHead`. */
  deliver(extra: RawHeaders): void
  /** Reads the body up to `maxBytes` and keeps it, else destroys it. Only inside `onHead`. */
  hold(maxBytes: number): void
  /** The held response when it is complete, else `null`. */
  held(): HeldResponse | null
  /** Ends it; no call-back follows. Safe at any time, also after the end. */
  abort(): void
}

export interface AttemptListener {
  /** The request, body included, is on the wire; the attempt clock starts. Not told when the head comes first. */
  onSent(): void
  onInterim(status: number, headers: RawHeaders): void
  /** Must call `deliver`, `hold` or `abort` before it returns. */
  onHead(head: ResponseHead): void
  /** Before the head; nothing follows. */
  onFailure(failure: AttemptFailure): void
  /** The delivered body is complete and handed to the app; nothing follows. `bytes` = body bytes. */
  onDelivered(bytes: number): void
  /** The delivered body broke (the app's connection has been destroyed); nothing follows. */
  onCut(code: string): void
}

export interface AttemptRequest {
  readonly upstream: UpstreamSnapshot
  readonly downstream: Downstream
  /** Fields to add; equally named ones of the app are replaced. */
  readonly set: RawHeaders
  /** Connections that failed this request before; never used again for it. */
  readonly avoid: readonly object[]
  /** Force a new connection (free attempt after a stale one). */
  readonly fresh: boolean
  readonly connectTimeoutMs: number
  readonly idleTimeoutMs: number
}

export interface Transport {
  /** Starts one attempt. Never calls the listener before it returns. */
  send(request: AttemptRequest, listener: AttemptListener): Attempt
  /** What an attempt on this connection meant to the breaker; two failures in a row close it. `null` is ignored. */
  settle(connection: object | null, failed: boolean): void
}

/**
 * `first` = a first attempt: feeds the ratio, may probe at once. `retry` = feeds only the run of failures, and may
 * probe only if no first attempt has come for a while. `long-poll` = a first attempt that probes like a retry.
 */
export type CallKind = 'first' | 'retry' | 'long-poll'

/** The breaker of one upstream (or of one route with its own). */
export interface Breaker {
  /** `go` with a permit, or refused with the time left. */
  acquire(kind: CallKind): BreakerPermit | BreakerRefusal
  /** The settled outcome of a permit's attempt, once per permit; a cut after a recorded head adds one more `failure`. */
  record(permit: BreakerPermit, outcome: SettledOutcome): void
  readonly state: 'closed' | 'open' | 'half-open'
  /** Until the next probe, ms; 0 unless open. */
  readonly openForMs: number
  /** Refusing for real: enforce mode and not closed. */
  readonly refusing: boolean
}

export interface BreakerRefusal {
  readonly granted: false
  readonly retryAfterMs: number
}
