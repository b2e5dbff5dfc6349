import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'

/** Where a call is meant to go, in the terms of the request line. */
export interface CallAddress {
  /** `host:port` of an absolute URL; `null` for a path on the shared port. */
  readonly authority: string | null
  /** Path and query, byte for byte. */
  readonly path: string
}

const ABSOLUTE = /^(https?):\/\/((?!:)[^/?#@\s]+)([/?][^#\s]*)?(?:#.*)?$/i
const PATH = /^(\/[^#\s]*)(?:#.*)?$/
const MAX_PORT = 65_535
/** Any of them reaches a port that is bound on another of them. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]'])

/** An absolute http or https URL, or a path; `null` for anything else. A fragment is never sent and so dropped. */
export function parseCallAddress(url: string): CallAddress | null {
  const path = PATH.exec(url)?.[1]
  if (path !== undefined) return { authority: null, path }
  const parts = ABSOLUTE.exec(url)
  if (parts === null) return null
  const [, scheme = '', host = '', rest = ''] = parts
  if (host.startsWith('[') && !host.includes(']')) return null
  const port = scheme.toLowerCase() === 'https' ? 443 : 80
  const authority = /:\d+$/.test(host) ? host : `${host}:${port}`
  if (Number(authority.slice(authority.lastIndexOf(':') + 1)) > MAX_PORT) return null
  return { authority: authority.toLowerCase(), path: rest.startsWith('/') ? rest : `/${rest}` }
}

/** A token (RFC 9110 §9.1). */
export function isMethod(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)
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

function comparable(address: string): string {
  const host = hostOf(address).toLowerCase()
  return `${LOOPBACK.has(host) ? 'loopback' : host}${address.slice(host.length)}`
}

/** Without the port. */
export function hostOf(authority: string): string {
  return authority.slice(0, authority.lastIndexOf(':'))
}
