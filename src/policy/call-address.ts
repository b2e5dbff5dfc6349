import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { nearest } from './nearest.js'

/** Where a call is meant to go, in the terms of the request line. */
export interface CallAddress {
  /** `host:port` of an absolute URL; `null` for a path on the shared port. */
  readonly authority: string | null
  /** Path and query, byte for byte. */
  readonly path: string
}

const ABSOLUTE = /^(https?):\/\/([^/?#@\s]+)([/?][^#\s]*)?(?:#.*)?$/i
const PATH = /^(\/[^#\s]*)(?:#.*)?$/
/** Any of them reaches a port that is bound on another of them. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]'])

/** An absolute http or https URL, or a path; `null` for anything else. A fragment is never sent and so dropped. */
export function parseCallAddress(url: string): CallAddress | null {
  const path = PATH.exec(url)?.[1]
  if (path !== undefined) return { authority: null, path }
  const parts = ABSOLUTE.exec(url)
  if (parts === null) return null
  const [, scheme = '', host = '', rest = ''] = parts
  const port = scheme.toLowerCase() === 'https' ? 443 : 80
  const authority = /:\d+$/.test(host) ? host : `${host}:${port}`
  return { authority: authority.toLowerCase(), path: rest.startsWith('/') ? rest : `/${rest}` }
}

/** The upstream whose own port the address is. */
export function ownPortOf(snapshot: Snapshot, { authority }: CallAddress): UpstreamSnapshot | null {
  if (authority === null) return null
  const wanted = comparable(authority)
  for (const upstream of snapshot.upstreams.values()) {
    if (upstream.listen !== null && comparable(upstream.listen) === wanted) return upstream
  }
  return null
}

/** What is there instead, most likely first, one line each; for an address that no upstream takes. */
export function nearMisses(snapshot: Snapshot, { authority, path }: CallAddress): string[] {
  const upstreams = [...snapshot.upstreams.values()]
  const near = upstreams.filter(upstream => isNear(upstream, authority, path))
  return (near.length > 0 ? near : upstreams).slice(0, MAX_MISSES).map(waysIn)
}

const MAX_MISSES = 5

function isNear({ match, target, name }: UpstreamSnapshot, authority: string | null, path: string): boolean {
  const segments = match.pathPrefix.split('/').length
  const start = (path.split('?')[0] ?? '').split('/').slice(0, segments).join('/')
  if (nearest(start, [match.pathPrefix, `/${name}`]) !== null) return true
  return authority !== null && nearest(hostOf(authority), [...match.hosts, target.hostname]) !== null
}

/** `shop takes /shop and shop.internal on the shared port, and everything on 127.0.0.1:15101` */
function waysIn({ name, match, listen }: UpstreamSnapshot): string {
  const shared = `${[match.pathPrefix, ...match.hosts].join(' and ')} on the shared port`
  return `${name} takes ${shared}${listen === null ? '' : `, and everything on ${listen}`}`
}

function comparable(address: string): string {
  const host = hostOf(address).toLowerCase()
  return `${LOOPBACK.has(host) ? 'loopback' : host}${address.slice(host.length)}`
}

function hostOf(authority: string): string {
  return authority.slice(0, authority.lastIndexOf(':'))
}
