/** From a valid Upstream document and the fields below it to what the request path reads. */
import { parseListenAddress } from '../core/listen-address.js'
import type { EffectivePolicy, PathMatch, RouteSnapshot, TlsSettings, UpstreamSnapshot } from '../core/snapshot.js'
import { compilePolicy, reader } from './compile-policy.js'
import { valueAt } from './document.js'
import type { Route, UpstreamDocument } from './generated/documents.js'
import { BUILT_IN_FIELDS, type Fields } from './overlay.js'
import { parseTarget } from './target.js'

/** What is in force for an upstream and for each of its routes, in their order. */
export interface Effective {
  readonly fields: Fields
  readonly policy: EffectivePolicy
  readonly routes: readonly { readonly fields: Fields; readonly policy: EffectivePolicy }[]
}

export function effectiveOf(fields: Fields, routes: readonly Fields[]): Effective {
  return {
    fields,
    policy: compilePolicy(fields),
    routes: routes.map(own => ({ fields: own, policy: compilePolicy(own) })),
  }
}

/** What holds where nobody wrote anything. */
export function builtInPolicy(): EffectivePolicy {
  return compilePolicy(BUILT_IN_FIELDS)
}

/** @param root has passed the schema and the rules, so every key that is there has its type */
export function compileUpstream(root: unknown, effective: Effective): UpstreamSnapshot {
  const { metadata, spec } = root as UpstreamDocument
  const target = parseTarget(spec.target)
  if ('error' in target) throw new Error(`target of a valid document: ${target.error}`)
  const read = reader(effective.fields)
  return Object.freeze({
    name: metadata.name,
    target,
    listen: spec.listen ?? null,
    match: matchOf(root, metadata.name),
    hostHeader: spec.hostHeader ?? 'target',
    tls: tlsOf(spec.tls ?? {}),
    pool: Object.freeze({ maxConnections: read.number('pool.maxConnections'), maxAgeMs: read.ms('pool.maxAge') }),
    policy: effective.policy,
    routes: Object.freeze(
      (spec.routes ?? []).map((route, index) => routeOf(route, effective.routes[index]?.policy ?? effective.policy)),
    ),
  })
}

/** Of a document that need not be valid: what of it can be read, and the default prefix. */
export function matchOf(root: unknown, name: string): UpstreamSnapshot['match'] {
  const hosts = valueAt(root, ['spec', 'match', 'hosts'])
  const prefix = valueAt(root, ['spec', 'match', 'pathPrefix'])
  const names = Array.isArray(hosts) ? hosts.filter(host => typeof host === 'string') : []
  return Object.freeze({
    hosts: Object.freeze([...new Set(names.map(host => host.toLowerCase()))]),
    pathPrefix: typeof prefix === 'string' && prefix.startsWith('/') ? withoutSlash(prefix) : `/${name}`,
  })
}

/** The same of its own port. */
export function listenOf(root: unknown): string | null {
  const listen = valueAt(root, ['spec', 'listen'])
  return typeof listen === 'string' && !('error' in parseListenAddress(listen)) ? listen : null
}

/** A prefix ends at a segment boundary anyway. */
function withoutSlash(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
}

function tlsOf(tls: TlsSettings): TlsSettings {
  return Object.freeze({ ...tls })
}

function routeOf(route: Route, policy: EffectivePolicy): RouteSnapshot {
  return Object.freeze({
    name: route.name,
    match: routeMatchOf(route.match),
    policy,
    own: Object.freeze({
      breaker: route.breaker !== undefined,
      limits: route.limits !== undefined,
      budget: route.budget !== undefined,
      pace: route.pace !== undefined,
      throttle: route.throttle !== undefined,
      hedge: route.hedge !== undefined,
    }),
  })
}

/** @param match has passed the schema */
export function routeMatchOf({ methods, path, pathPrefix, headers = {} }: Route['match']): RouteSnapshot['match'] {
  return Object.freeze({
    methods: methods === undefined ? null : new Set(methods),
    path: pathOf(path, pathPrefix),
    headers: Object.freeze(
      Object.entries(headers).map(([name, value]) => Object.freeze({ name: name.toLowerCase(), value })),
    ),
  })
}

function pathOf(path: string | undefined, pathPrefix: string | undefined): PathMatch {
  if (path !== undefined) {
    const segments = path.slice(1).split('/')
    return Object.freeze({
      kind: 'exact',
      segments: Object.freeze(segments.map(segment => (segment.startsWith('{') ? null : segment))),
    })
  }
  if (pathPrefix !== undefined) return Object.freeze({ kind: 'prefix', prefix: withoutSlash(pathPrefix) })
  return Object.freeze({ kind: 'any' })
}
