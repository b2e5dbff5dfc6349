/** What pipeline and proxy need of each other for an Upgrade handshake. */
import type { UpstreamSnapshot } from '../core/snapshot.js'
import type { OwnAnswer } from './answers.js'
import type { AttemptFailureKind, RawHeaders, TunnelBytes } from './ports.js'

/** An Upgrade handshake of the app (WebSocket); it has no body and is never repeated. */
export interface UpgradeRequest {
  readonly method: string
  /** Path and query as the app sent them, in origin form. */
  readonly path: string
  /** As received. */
  readonly headers: RawHeaders
}

/** What to do with an Upgrade handshake. */
export type UpgradeDecision = UpgradeRefused | UpgradeGranted

export interface UpgradeRefused {
  readonly proceed: false
  readonly answer: OwnAnswer
}

export interface UpgradeGranted {
  readonly proceed: true
  readonly upstream: UpstreamSnapshot
  /** As the upstream shall see it, without the target's base path. */
  readonly path: string
  /** Fields to add for the upstream; equally named ones of the app are replaced. */
  readonly set: RawHeaders
  /** Fields to add to the answer that the app gets. */
  readonly extra: RawHeaders
  /** Socket plus TLS; `Infinity` = none. */
  readonly connectTimeoutMs: number
  /** From the connection to the response head; `Infinity` = none. */
  readonly handshakeTimeoutMs: number
  /** Calls once: how the handshake ended. A 101 opens the tunnel. */
  onOutcome(outcome: UpgradeOutcome): void
  /** Calls once, after `onOutcome`: both sockets are closed. */
  onClosed(tunnelled: TunnelBytes): void
}

export type UpgradeOutcome =
  | { readonly kind: 'response'; readonly status: number }
  /** `connect`: nothing was sent. `timeout`: connected, no response head in time. `aborted`: the app left. */
  | { readonly kind: AttemptFailureKind | 'timeout' | 'aborted'; readonly code: string }
