import type { EffectivePolicy, RouteSnapshot, Snapshot, UpstreamSnapshot } from '../../../src/core/snapshot.js'
import { BUILT_IN_POLICY } from '../../support/built-in.js'

/** Any part of a section, or of a section's section; sets and lists are replaced whole. */
export type Part<T> = T extends ReadonlySet<unknown> | readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: Part<T[K]> }
    : T

const { retry } = BUILT_IN_POLICY

/** The built-in defaults, but without jitter, so that every wait is known: 200 ms, 400 ms, 800 ms …; after a 429 from 1 s. */
export const DEFAULTS: EffectivePolicy = {
  ...BUILT_IN_POLICY,
  retry: {
    ...retry,
    backoff: { ...retry.backoff, jitter: { kind: 'none' } },
    throttled: { ...retry.throttled, jitter: { kind: 'none' } },
  },
}

export type PolicyPart = Part<EffectivePolicy>

export function policyOf(...parts: readonly PolicyPart[]): EffectivePolicy {
  return parts.reduce<EffectivePolicy>((policy, part) => merge(policy, part) as EffectivePolicy, DEFAULTS)
}

export interface RoutePart {
  readonly name: string
  /** Exact; default: any. */
  readonly path?: string
  readonly policy?: PolicyPart
  readonly own?: Partial<RouteSnapshot['own']>
}

export interface UpstreamPart {
  /** Default `api`. */
  readonly name?: string
  readonly host?: string
  readonly https?: boolean
  readonly basePath?: string
  /** `match.hosts` */
  readonly hosts?: readonly string[]
  readonly maxConnections?: number
  /** `tls.serverName`; makes it another upstream, as `host` does. */
  readonly serverName?: string
  readonly policy?: PolicyPart
  readonly routes?: readonly RoutePart[]
}

export function upstreamOf(part: UpstreamPart = {}): UpstreamSnapshot {
  const { name = 'api', host = 'api.example.com', maxConnections = 4096, policy = {}, routes = [], serverName } = part
  const { https = false, basePath = '', hosts = [] } = part
  const scheme = https ? ({ protocol: 'https:', port: 443 } as const) : ({ protocol: 'http:', port: 80 } as const)
  return {
    name,
    target: { ...scheme, hostname: host, authority: host, basePath },
    listen: null,
    match: { hosts, pathPrefix: `/${name}` },
    hostHeader: 'target',
    tls: serverName === undefined ? {} : { serverName },
    pool: { maxConnections, maxAgeMs: 300_000 },
    policy: policyOf(policy),
    routes: routes.map(route => routeOf(route, policy)),
  }
}

export function snapshotOf(generation: number, upstreams: readonly UpstreamPart[], invalid: readonly string[] = []) {
  const snapshot: Snapshot = {
    generation,
    hash: String(generation),
    upstreams: new Map(upstreams.map(part => [part.name ?? 'api', upstreamOf(part)])),
    invalid: new Map(invalid.map(name => [name, { match: { hosts: [], pathPrefix: `/${name}` }, listen: null }])),
  }
  return snapshot
}

function routeOf(route: RoutePart, upstream: PolicyPart): RouteSnapshot {
  const { name, path, policy = {}, own = {} } = route
  return {
    name,
    match: {
      methods: null,
      path: path === undefined ? { kind: 'any' } : { kind: 'exact', segments: path.slice(1).split('/') },
      headers: [],
    },
    policy: policyOf(upstream, policy),
    own: { breaker: false, limits: false, budget: false, throttle: false, pace: false, hedge: false, ...own },
  }
}

function merge(base: unknown, part: unknown): unknown {
  if (part === undefined) return base
  if (!isMapping(base) || !isMapping(part)) return part
  const merged: Record<string, unknown> = { ...base }
  for (const [key, value] of Object.entries(part)) merged[key] = merge(base[key], value)
  return merged
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Set)
}
