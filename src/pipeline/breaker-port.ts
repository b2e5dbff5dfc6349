/** What the pipeline needs of a breaker; `proxy` implements it on opossum. */
import type {
  BreakerPermit,
  BreakerSettings,
  BreakerState,
  SettledOutcome,
  TransitionReason,
} from '../core/breaker-rules.js'

/**
 * `first` = a first attempt: feeds the ratio, may probe at once. `retry` = feeds only the run of failures, and may
 * probe only if no first attempt has come for a while. `long-poll` = a first attempt that probes like a retry.
 */
export type CallKind = 'first' | 'retry' | 'long-poll'

/** The breaker of one upstream (or of one route with its own). */
export interface Breaker {
  /** `go` with a permit, or refused with the time left. */
  acquire(kind: CallKind): BreakerPermit | BreakerRefusal
  /**
   * The settled outcome of a permit's attempt, once per permit; a cut after a recorded head adds one more `failure`.
   * `tookMs`: from the sent request to that outcome; 0 (the default) where slowness means nothing.
   */
  record(permit: BreakerPermit, outcome: SettledOutcome, tookMs?: number): void
  readonly state: BreakerState
  /** Until the next probe, ms; 0 unless open. */
  readonly openForMs: number
  /** Refusing for real: enforce mode and not closed. */
  readonly refusing: boolean
}

export interface BreakerRefusal {
  readonly granted: false
  readonly retryAfterMs: number
}

/** Told synchronously, when the breaker is already in the new state. */
export interface BreakerTransition {
  readonly from: BreakerState
  readonly to: BreakerState
  readonly reason: TransitionReason
  /** ms until the next probe when `to` is open; `null` when it is not, or is held open by hand. */
  readonly openForMs: number | null
}

/** A breaker as its owner (reload, admin port) sees it. */
export interface ReconfigurableBreaker extends Breaker {
  /** Failures since the last proof of life, every attempt counted. */
  readonly failuresInARow: number
  /**
   * Applies an edit. Only `mode: disabled` closes a breaker that is open; counts of the window survive, rescaled;
   * new open times apply from the next opening.
   */
  reconfigure(settings: BreakerSettings): void
  /**
   * Holds it `open` or `closed` until `auto`; after `open`, `auto` stays open for the usual time and
   * probes. Does nothing while disabled; `observe` refuses nothing even then.
   */
  force(state: 'open' | 'closed' | 'auto'): void
  /** Drops timers and tells no more transitions; calls still under way pass as if it were disabled. */
  retire(): void
}
