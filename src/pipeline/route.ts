/**
 * Which upstream a call on the shared port is meant for. Pure: the tables are built
 * once per snapshot, a look-up allocates nothing but its result. Paths are compared byte for byte, never decoded, so
 * that a signed or encoded URL cannot be matched as something it is not.
 */
import { isUnder, pathEnd } from '../core/route-match.js'
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'

export { matchRoute } from '../core/route-match.js'

export interface SharedRequest {
  /** Authority of an absolute-form request target; `null` for origin-form. */
  readonly authority: string | null
  /** Value of `forbear-upstream`. */
  readonly forbearUpstream: string | null
  /** Value of `Host`; a port is ignored. */
  readonly host: string | null
  /** Path and query as sent. */
  readonly path: string
}

export interface UpstreamMatch {
  readonly upstream: UpstreamSnapshot
  /** Path and query as the upstream sees them, without the target's base path. */
  readonly path: string
  readonly via: 'authority' | 'header' | 'host' | 'prefix'
}

/** The upstream is declared, but its document is invalid. */
export interface InvalidMatch {
  readonly invalid: string
}

export interface Router {
  matchShared(request: SharedRequest): UpstreamMatch | InvalidMatch | null
  /** For a CONNECT: as an absolute-form request for the root. `authority` in lower case, with a port. */
  matchTunnel(authority: string): { readonly upstream: UpstreamSnapshot } | InvalidMatch | null
}

type Entry = { readonly upstream: UpstreamSnapshot } | { readonly invalid: string }

interface PrefixEntry {
  readonly prefix: string
  readonly entry: Entry
}

interface Tables {
  readonly byName: Map<string, Entry>
  readonly byHost: Map<string, Entry>
  /** Lower-case `host:port` of targets; several upstreams may share one: the longest base path first, then as declared. */
  readonly byTarget: Map<string, UpstreamSnapshot[]>
  /** First path segment → prefixes that begin with it, longest first. `''` holds the prefix `/`. */
  readonly byFirstSegment: Map<string, PrefixEntry[]>
}

/** First match wins: absolute-form authority, `forbear-upstream`, `Host`, longest path prefix. Any one suffices. */
export function compileRouter(snapshot: Snapshot): Router {
  const tables = buildTables(snapshot)
  return {
    matchShared(request) {
      const { path } = request
      if (request.authority !== null) {
        const hit = matchAuthority(tables, request.authority.toLowerCase(), path)
        if (hit !== null) return hit
      }
      if (request.forbearUpstream !== null) {
        const entry = tables.byName.get(request.forbearUpstream)
        if (entry !== undefined) return found(entry, path, 'header')
      }
      if (request.host !== null) {
        const entry = tables.byHost.get(withoutRootDot(hostOf(request.host.toLowerCase())))
        if (entry !== undefined) return found(entry, path, 'host')
      }
      return matchPrefix(tables.byFirstSegment, path)
    },
    matchTunnel(authority) {
      // What will be asked for in the tunnel is not known: whoever gets the root of the URL.
      return matchAuthority(tables, authority, '/')
    },
  }
}

function buildTables(snapshot: Snapshot): Tables {
  const tables: Tables = { byName: new Map(), byHost: new Map(), byTarget: new Map(), byFirstSegment: new Map() }
  for (const [name, { match }] of snapshot.invalid) addEntry(tables, name, match, { invalid: name })
  for (const [name, upstream] of snapshot.upstreams) {
    addEntry(tables, name, upstream.match, { upstream })
    const { hostname, port, socketPath } = upstream.target
    if (socketPath === undefined) push(tables.byTarget, `${withoutRootDot(hostname.toLowerCase())}:${port}`, upstream)
  }
  for (const entries of tables.byFirstSegment.values()) entries.sort((a, b) => b.prefix.length - a.prefix.length)
  for (const list of tables.byTarget.values()) list.sort((a, b) => b.target.basePath.length - a.target.basePath.length)
  return tables
}

function addEntry(tables: Tables, name: string, match: UpstreamSnapshot['match'], entry: Entry): void {
  tables.byName.set(name, entry)
  for (const host of match.hosts) tables.byHost.set(withoutRootDot(host.toLowerCase()), entry)
  push(tables.byFirstSegment, firstSegment(match.pathPrefix), { prefix: match.pathPrefix, entry })
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

function found(entry: Entry, path: string, via: UpstreamMatch['via']): UpstreamMatch | InvalidMatch {
  return 'invalid' in entry ? entry : { upstream: entry.upstream, path, via }
}

/**
 * A call to the target's own address names the whole URL, base path included; the base path is taken off here because
 * it is put back on the way out, so that the upstream sees the URL the app wrote.
 */
function matchAuthority(tables: Tables, authority: string, path: string): UpstreamMatch | InvalidMatch | null {
  const host = hostOf(authority)
  const name = withoutRootDot(host)
  const entry = tables.byHost.get(name)
  if (entry !== undefined) return found(entry, path, 'authority')
  const bare = withoutBrackets(name)
  // An absolute-form target without a port is plain HTTP on 80; a proxied client that meant https names 443.
  const port = authority.length > host.length ? authority.slice(host.length + 1) : ''
  const shared = tables.byTarget.get(`${bare}:${port === '' ? '80' : port}`)
  const list = shared ?? (port === '' ? tables.byTarget.get(`${bare}:443`) : undefined)
  if (list === undefined) return null
  for (const upstream of list) {
    const base = upstream.target.basePath
    if (isUnder(base, path)) return { upstream, path: strip(base, path), via: 'authority' }
  }
  const first = list[0]
  return first === undefined ? null : { upstream: first, path, via: 'authority' }
}

function matchPrefix(table: Tables['byFirstSegment'], path: string): UpstreamMatch | InvalidMatch | null {
  const candidates = table.get(firstSegment(path))
  if (candidates !== undefined) {
    for (const { prefix, entry } of candidates) {
      if (isUnder(prefix, path)) return found(entry, strip(prefix, path), 'prefix')
    }
  }
  const root = table.get('')?.[0]
  return root === undefined || !path.startsWith('/') ? null : found(root.entry, path, 'prefix')
}

/** `example.com:80` → `example.com`, `[::1]:80` → `[::1]`. */
function hostOf(authority: string): string {
  const end = authority.startsWith('[') ? authority.indexOf(']') + 1 : authority.indexOf(':')
  return end <= 0 ? authority : authority.slice(0, end)
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host
}

/** `a.example.` is the fully qualified way to write `a.example` (RFC 1034 §3.1). */
function withoutRootDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host
}

function firstSegment(path: string): string {
  const end = pathEnd(path)
  const slash = path.indexOf('/', 1)
  return path.slice(1, slash === -1 || slash > end ? end : slash)
}

function strip(prefix: string, path: string): string {
  if (prefix.length <= 1) return path
  if (path.length === prefix.length) return '/'
  const rest = path.slice(prefix.length)
  return rest.charCodeAt(0) === 63 ? `/${rest}` : rest
}
