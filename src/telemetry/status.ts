/** What `/status` and the gauges read on demand. */

import type { BreakerState } from '../core/breaker-rules.js'
import type { HedgeSettings } from '../core/hedge.js'
import type { ParkedStatus } from '../core/park.js'

/** What an operator sees of one upstream (or route with own instances); `/status` and gauges read it on demand. */
export interface UpstreamStatus {
  readonly name: string
  readonly route: string | null
  readonly target: string
  readonly breaker: {
    readonly state: BreakerState
    readonly mode: string
    readonly openForMs: number
    readonly failuresInARow: number
    /** By hand (`POST /upstreams/NAME/breaker`), whatever is edited. */
    readonly held: 'open' | 'closed' | null
  }
  readonly budget: {
    readonly balance: number
    readonly ratio: number
    /** Retries and hedges a second that its window grants, and those of them that were withdrawn. */
    readonly allowedPerSec: number
    readonly spentPerSec: number
  }
  readonly hedge: {
    readonly mode: HedgeSettings['mode']
    /** How late an attempt must be now; `null` = none is sent. */
    readonly afterMs: number | null
    /** Hedges that the budget would grant. */
    readonly balance: number
  }
  readonly gate: { readonly closed: boolean; readonly closedForMs: number }
  /** Calls a second; `Infinity` = no limit is known. */
  readonly pace: { readonly mode: string; readonly ratePerSec: number }
  /** 0 … 1; under `observe` what it would be. */
  readonly throttle: { readonly mode: string; readonly refusalProbability: number }
  readonly inFlight: number
  /** `limits.maxInFlight`, or what `auto` has learned. */
  readonly inFlightLimit: number
  /** Tunnels that stand. */
  readonly tunnels: number
  readonly waiting: number
  readonly waitingBytes: number
  readonly connections: number
  readonly latencyMs: { readonly p50: number | null; readonly p95: number | null; readonly p99: number | null }
}

/** `/status` */
export interface SidecarStatus {
  readonly generation: number
  readonly hash: string
  readonly loadedAt: string
  readonly lastReloadError: { readonly at: string; readonly messages: readonly string[] } | null
  /** Upstreams left out, whose calls get 503 `no-policy` (`--start valid-only`). */
  readonly noPolicy: readonly string[]
  /** Upstreams on their last good document, since the latest is invalid (`--start valid-only`). */
  readonly kept: readonly string[]
  readonly draining: boolean
  readonly retries: 'on' | 'off'
  /** Whether the faults of the policies are rehearsed now. */
  readonly faults: 'on' | 'off'
  /** Absent while no policy parks. */
  readonly parked?: ParkedStatus
  readonly upstreams: readonly UpstreamStatus[]
  /** Absent unless traces are exported. */
  readonly traces?: TraceStatus
  /** Tunnels to hosts that nobody declared; absent unless `--unmatched tunnel`. */
  readonly unmatchedTunnels?: number
  /** Own ports, by upstream; also of those without a policy. */
  readonly listeners: ReadonlyMap<string, ListenerStatus>
  /** By upstream, of those that have files for TLS. */
  readonly tls: ReadonlyMap<string, TlsStatus>
}

/** Spans since the start. */
export interface TraceStatus {
  readonly exported: number
  /** The collector did not take them. */
  readonly failed: number
  /** There was no room in the queue. */
  readonly dropped: number
}

/** The files of an upstream's `tls`. */
export interface TlsStatus {
  /** When those in force were read; `null` = no connection has needed them yet, or they cannot be used. */
  readonly loadedAt: string | null
  /** End of the client certificate (its notAfter); `null` = there is none. */
  readonly certificateExpiresAt: string | null
}

/** An own port as the policies want it. */
export interface ListenerStatus {
  readonly address: string
  readonly state: 'open' | 'failed'
  /** Why it failed; it is tried again. */
  readonly error: string | null
}
