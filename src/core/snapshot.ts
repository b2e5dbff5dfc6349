/**
 * The compiled policy set: what the request path reads. Everything is frozen, every number is in the unit its
 * name says, every default is filled in, and `Infinity` stands for a clock that is `none`.
 */
import type { BackoffSettings } from './backoff.js'
import type { BreakerSettings } from './breaker-rules.js'
import type { BudgetSettings } from './budget.js'
import type { FallbackSettings } from './fallback.js'
import type { FaultSettings } from './fault.js'
import type { HedgeSettings } from './hedge.js'
import type { PaceSettings } from './pacer.js'
import type { ParkSettings } from './park.js'
import type { PollSettings } from './poll.js'
import type { ThrottleSettings } from './throttle.js'

/** Clocks of one request, in ms; `Infinity` = none. */
export interface TimeoutSettings {
  /** Socket plus TLS handshake. */
  readonly connectMs: number
  /** From the end of the request body to the response head, per attempt. */
  readonly attemptMs: number
  /** From the end of the request body to the accepted response head, waits included. */
  readonly totalMs: number
  /** Longest gap between two body bytes, either way. */
  readonly idleMs: number
  /** The whole response, head and body, from the end of the request body. */
  readonly responseMs: number
}

/** Which failures and statuses are worth another attempt. */
export interface RetryOn {
  readonly connect: boolean
  readonly reset: boolean
  readonly timeout: boolean
  readonly statuses: ReadonlySet<number>
}

/** A response header that makes an answer retryable; `value: null` = any value. `name` is lower case. */
export interface RetryHeader {
  readonly name: string
  readonly value: string | null
}

export interface RetrySettings {
  /** Attempts in all, the first included; at least 1. */
  readonly maxAttempts: number
  readonly retryOn: RetryOn
  readonly onHeaders: readonly RetryHeader[]
  readonly backoff: BackoffSettings
  /** Used after a 429. */
  readonly throttled: BackoffSettings
  readonly retryAfter: { readonly capMs: number; readonly scope: 'request' | 'upstream' }
  readonly idempotency: { readonly keyHeaders: readonly string[]; readonly generate: boolean }
  readonly maxBodyBytes: number
}

export interface LimitSettings {
  readonly maxInFlight: number
  /** The limit is learned from latency; `maxInFlight` is no more than a bound. */
  readonly adaptive: boolean
  /** Open or being opened; those that stand are not in flight. */
  readonly maxTunnels: number
  readonly maxWaiting: number
  readonly maxWaitingBytes: number
}

export interface PoolSettings {
  readonly maxConnections: number
  readonly maxAgeMs: number
}

/** Every section in force for one upstream or one route. */
export interface EffectivePolicy {
  readonly timeouts: TimeoutSettings
  readonly retry: RetrySettings
  readonly budget: BudgetSettings
  readonly breaker: BreakerSettings
  readonly limits: LimitSettings
  readonly pace: PaceSettings
  readonly throttle: ThrottleSettings
  readonly fault: FaultSettings
  readonly fallback: FallbackSettings
  readonly hedge: HedgeSettings
  /** `null` = off; only a route turns it on. */
  readonly poll: PollSettings | null
  /** `null` = off. */
  readonly park: ParkSettings | null
  /** Tell the next services of a re-send in the W3C baggage. */
  readonly propagate: boolean
  /** No attempt clock, never a probe, hedge or latency sample. */
  readonly longPoll: boolean
}

export interface RouteMatch {
  /** Upper case; `null` = any. */
  readonly methods: ReadonlySet<string> | null
  readonly path: PathMatch
  /** Lower-case names; all must match exactly. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}

export type PathMatch =
  | { readonly kind: 'any' }
  | { readonly kind: 'prefix'; readonly prefix: string }
  /** `null` stands for one `{name}` segment. */
  | { readonly kind: 'exact'; readonly segments: readonly (string | null)[] }

export interface RouteSnapshot {
  readonly name: string
  readonly match: RouteMatch
  readonly policy: EffectivePolicy
  /** The route wrote the section, so it gets its own instance, labelled upstream + route. */
  readonly own: {
    readonly breaker: boolean
    readonly limits: boolean
    readonly budget: boolean
    readonly throttle: boolean
    readonly pace: boolean
    readonly hedge: boolean
  }
}

export interface TlsSettings {
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
  readonly serverName?: string
}

export interface TargetSnapshot {
  readonly protocol: 'http:' | 'https:'
  /** Without brackets for IPv6. */
  readonly hostname: string
  readonly port: number
  /** `host[:port]` as it goes into a Host field. */
  readonly authority: string
  /** `''` or `/base` without a trailing slash. */
  readonly basePath: string
  /** Set: a unix socket is called, and host and port are `localhost` and the scheme's. */
  readonly socketPath?: string
}

export interface UpstreamSnapshot {
  readonly name: string
  readonly target: TargetSnapshot
  /** `host:port` of an own listener. */
  readonly listen: string | null
  readonly match: { readonly hosts: readonly string[]; readonly pathPrefix: string }
  readonly hostHeader: 'target' | 'preserve'
  readonly tls: TlsSettings
  readonly pool: PoolSettings
  readonly policy: EffectivePolicy
  readonly routes: readonly RouteSnapshot[]
}

export interface Snapshot {
  readonly generation: number
  /** Of the text of all documents, hex. */
  readonly hash: string
  readonly upstreams: ReadonlyMap<string, UpstreamSnapshot>
  /** Upstreams whose document is invalid (`--start valid-only`): calls get 503 `no-policy`. Keyed by name. */
  readonly invalid: ReadonlyMap<string, InvalidUpstream>
  /** Of `upstreams` those that stay on their last good document, since it is not to be had any more (`--start valid-only`). */
  readonly kept?: ReadonlySet<string>
}

/** What can be known of an upstream whose document is invalid. */
export interface InvalidUpstream {
  /** The default prefix where none could be read. */
  readonly match: UpstreamSnapshot['match']
  readonly listen: string | null
}
