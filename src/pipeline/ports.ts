/**
 * What the pipeline needs from the outside. `proxy` implements these on sockets, tests implement them on nothing.
 * Header lists are flat (name, value, name, value …), latin1 strings, in wire order.
 */

import type { Fault } from '../core/fault.js'
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
  /** All of it, once complete and as long as it is replayable, else `null`. */
  whole(): Uint8Array | null
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
  /** A parked call that is sent again: no first attempt of an app. */
  readonly redelivery?: true
  /** `null` when the request has none. */
  readonly body: RequestBody | null
  /** Replaces `path`: routing strips the shared port's prefix. */
  setPath(path: string): void
  /** Passes an interim (1xx) response on. */
  interim(status: number, headers: RawHeaders): void
  /** One whole answer: ours, or a held one of the upstream (whose hop-by-hop fields are removed here). */
  answer(head: ResponseHead, extra: RawHeaders, body: Uint8Array | string): void
  /** The only honest end once bytes have gone out: the connection is destroyed. */
  destroy(): void
}

/** Why no response head came. Nothing was sent after `connect` and `overloaded`: this host had no descriptor left … */
export type AttemptFailureKind = 'connect' | 'overloaded' | 'reset' | 'bad-response'

export interface AttemptFailure {
  readonly kind: AttemptFailureKind
  /** `ECONNREFUSED`, `UND_ERR_SOCKET` …; for logs. */
  readonly code: string
  readonly message: string
  /** The socket file that was called; for people. */
  readonly where?: string
  /** Certificate and other errors that no repetition can mend. */
  readonly permanent: boolean
  /** Nobody was called, for nobody may be there; `message` says why, to the app too. Default false. */
  readonly refused?: boolean
  /** The app's own body broke off or stood still: says nothing about the upstream. */
  readonly byApp: boolean
  /** How long the connection had been idle before this attempt, ms; `null` = it was fresh. */
  readonly idleBeforeMs: number | null
}

/** One call to the upstream on the wire. */
export interface Attempt {
  /** Opaque; a later attempt passes it in `avoid`. `null` until connected. */
  readonly connection: object | null
  /** Body bytes handed to the app so far. */
  readonly bytes: number
  /** The answer stands still because the app does not read it. */
  readonly heldByApp: boolean
  /** Commits: head (end-to-end fields plus `extra`) and body stream to the app. Only inside `onHead` and `onRead`. */
  deliver(extra: RawHeaders): void
  /** Reads the body up to `maxBytes` and keeps it, else destroys it. Only inside `onHead`. */
  hold(maxBytes: number): void
  /** Reads the body up to `maxBytes` before it is known what becomes of the answer; `onRead` follows. Only inside `onHead`. */
  read(maxBytes: number): void
  /** The held or read response when it is complete, else `null`. */
  held(): HeldResponse | null
  /** Ends it; no call-back follows. Safe at any time, also after the end. */
  abort(): void
}

export interface AttemptListener {
  /** The request, body included, is on the wire; the attempt clock starts. Not told when the head comes first. */
  onSent(): void
  onInterim(status: number, headers: RawHeaders): void
  /** Must call `deliver`, `hold`, `read` or `abort` before it returns. */
  onHead(head: ResponseHead): void
  /** After `read`: `held` has the whole answer, and nothing follows; or it is larger, then `deliver` or `abort` must be called. */
  onRead(whole: boolean): void
  /** Before the head, or after `read` before the end of the body; nothing follows. */
  onFailure(failure: AttemptFailure): void
  /** The delivered body is complete and handed to the app; nothing follows. `bytes` = body bytes. */
  onDelivered(bytes: number): void
  /** The delivered body broke (the app's connection has been destroyed); nothing follows. `byApp`: not the upstream's fault. */
  onCut(code: string, byApp: boolean): void
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
  /** A rehearsed fault that hits this attempt; `null` = none. */
  readonly fault: Fault | null
}

export interface Transport {
  /** Starts one attempt. Never calls the listener before it returns. */
  send(request: AttemptRequest, listener: AttemptListener): Attempt
  /** How the attempt on this connection ended; two failures in a row close the connection. */
  settle(connection: object | null, failed: boolean): void
}

/** How the app addressed a request. */
export interface RequestAddress {
  /** Authority of an absolute-form target, else `null`. */
  readonly authority: string | null
  readonly host: string | undefined
  /** Value of the `forbear-upstream` field. */
  readonly forbearUpstream: string | undefined
  /** Set on an upstream's own port. */
  readonly upstreamName: string | null
}

/** What the server tells about the app afterwards: one of the first two, once; neither after `destroy()`. */
export interface AppListener {
  /** The answer is fully handed to the socket; of a tunnel: both sides are closed, after so many bytes. */
  onAnswered(tunnelled?: TunnelBytes): void
  /** The app's connection closed before the answer was complete. */
  onAppGone(): void
  /** The tunnel that a CONNECT asked for stands. */
  onTunnel?(): void
}

export interface TunnelBytes {
  readonly toUpstream: number
  readonly toApp: number
}
