/** Which route of an upstream applies to a call. Paths are compared byte for byte, never decoded. */
import { isHeaderName } from './headers.js'
import type { RouteMatch, RouteSnapshot, UpstreamSnapshot } from './snapshot.js'

/** The first route of the upstream that matches, or `null`. `path` as the upstream sees it; the query is not part. */
export function matchRoute(
  upstream: UpstreamSnapshot,
  method: string,
  path: string,
  headers: readonly string[],
): RouteSnapshot | null {
  for (const route of upstream.routes) {
    const { match } = route
    if (match.methods !== null && !match.methods.has(method)) continue
    if (!matchesPath(match.path, path)) continue
    if (match.headers.length > 0 && !matchesHeaders(match.headers, headers)) continue
    return route
  }
  return null
}

/** For each criterion of a route whether the call meets it; all must be met. */
export function judgeRoute(
  match: RouteMatch,
  method: string,
  path: string,
  headers: readonly string[],
): { readonly methods: boolean; readonly path: boolean; readonly headers: boolean } {
  return {
    methods: match.methods === null || match.methods.has(method),
    path: matchesPath(match.path, path),
    headers: matchesHeaders(match.headers, headers),
  }
}

/** Where the query begins, or the length. */
export function pathEnd(path: string): number {
  const query = path.indexOf('?')
  return query === -1 ? path.length : query
}

/** `prefix` is `''`, `/`, or `/a/b` without a trailing slash; the boundary is a slash, the query or the end. */
export function isUnder(prefix: string, path: string): boolean {
  if (prefix.length <= 1) return path.startsWith('/')
  if (!path.startsWith(prefix)) return false
  if (path.length === prefix.length) return true
  const next = path.charCodeAt(prefix.length)
  return next === 47 || next === 63
}

function matchesPath(match: RouteMatch['path'], path: string): boolean {
  if (match.kind === 'any') return true
  if (match.kind === 'prefix') return isUnder(match.prefix, path)
  const end = pathEnd(path)
  let at = 0
  for (const segment of match.segments) {
    if (at >= end || path.charCodeAt(at) !== 47) return false
    const slash = path.indexOf('/', at + 1)
    const stop = slash === -1 || slash > end ? end : slash
    const length = stop - at - 1
    if (segment === null ? length === 0 : segment.length !== length || !path.startsWith(segment, at + 1)) return false
    at = stop
  }
  return at === end
}

function matchesHeaders(wanted: RouteMatch['headers'], headers: readonly string[]): boolean {
  for (const { name, value } of wanted) {
    let hit = false
    for (let i = 0; i + 1 < headers.length && !hit; i += 2) {
      hit = headers[i + 1] === value && isHeaderName(headers[i] as string, name)
    }
    if (!hit) return false
  }
  return true
}
