/** What a sidecar shows of itself on its admin port, as far as `forbear top` reads it. */
import type { SidecarStatus, UpstreamStatus } from '../telemetry/status.js'

/** JSON has no infinity: `"none"` stands for it. */
export type InstancesView = Omit<UpstreamStatus, 'route' | 'pace'> & {
  readonly pace: { readonly mode: string; readonly ratePerSec: number | 'none' }
}

/** `/status` */
export interface StatusView
  extends Pick<
    SidecarStatus,
    'generation' | 'hash' | 'loadedAt' | 'lastReloadError' | 'kept' | 'draining' | 'retries' | 'faults' | 'parked'
  > {
  readonly noPolicy: Readonly<Record<string, unknown>>
  readonly upstreams: Readonly<
    Record<string, InstancesView & { readonly routes: Readonly<Record<string, InstancesView>> }>
  >
}

/** What `/metrics` has counted for an upstream and a route since the sidecar started. */
export interface Counts {
  /** That had an answer to get: an app that left first is not among them. */
  requests: number
  /** The app got a 5xx, a broken body or nothing. */
  failed: number
  attempts: number
  retries: number
  hedges: number
  /** What went wrong: outcomes, and why no further attempt was made. */
  readonly reasons: Map<string, number>
}

/** By upstream, then by route; `''` = none. */
export type AllCounts = ReadonlyMap<string, ReadonlyMap<string, Counts>>

/** One look at a sidecar. */
export interface Look {
  /** Unix time, ms. */
  readonly atMs: number
  /** Of a clock that is never set, ms. */
  readonly tickMs: number
  readonly status: StatusView
  readonly counts: AllCounts
  /** Unix time at which its process began, s: another one means that it counts from 0 again. */
  readonly startedAt: number
}
