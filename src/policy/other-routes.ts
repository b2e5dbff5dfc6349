/** Routes that a call does not take, but nearly does. */
import { judgeRoute } from '../core/route-match.js'
import type { PathMatch, RouteMatch, RouteSnapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { nearest } from './nearest.js'

export interface OtherRoute {
  readonly name: string
  /** The one criterion that the call does not meet; `null` = it meets all, but another route comes first. */
  readonly missed: 'methods' | 'path' | 'headers' | null
  readonly text: string
}

/** Those that one criterion keeps away, or that come too late. In order; a route with another path only if it is near. */
export function otherRoutes(
  upstream: UpstreamSnapshot,
  taken: RouteSnapshot | null,
  method: string,
  path: string,
  headers: readonly string[],
): OtherRoute[] {
  return upstream.routes.flatMap((route): OtherRoute[] => {
    if (route === taken) return []
    const { name, match } = route
    const met = judgeRoute(match, method, path, headers)
    const missed = CRITERIA.filter(criterion => !met[criterion])
    if (missed.length === 0) return [{ name, missed: null, text: `matches, too, but comes after ${taken?.name}` }]
    const [only] = missed
    if (only === undefined || missed.length > 1 || (only === 'path' && !isNear(match.path, path))) return []
    return [{ name, missed: only, text: missText(match, only, headers) }]
  })
}

const CRITERIA = ['methods', 'path', 'headers'] as const

function missText(match: RouteMatch, missed: 'methods' | 'path' | 'headers', headers: readonly string[]): string {
  if (missed === 'methods') return `its methods are ${[...(match.methods ?? [])].join(', ')}`
  if (missed === 'path')
    return `its ${match.path.kind === 'prefix' ? 'pathPrefix' : 'path'} is ${pathMatchText(match.path)}`
  const wanted = match.headers.find(({ name, value }) => !carries(headers, name, value))
  return `it wants the header ${wanted?.name}: ${wanted?.value}`
}

function carries(headers: readonly string[], name: string, value: string): boolean {
  return headers.some((text, i) => i % 2 === 0 && text.toLowerCase() === name && headers[i + 1] === value)
}

export function pathMatchText(path: PathMatch): string {
  if (path.kind === 'any') return 'any path'
  if (path.kind === 'prefix') return path.prefix
  return `/${path.segments.map(segment => segment ?? '{…}').join('/')}`
}

/** One segment more or less, a slash at the end, or a slip of the pen. */
function isNear(match: PathMatch, path: string): boolean {
  const plain = path.split('?')[0] ?? ''
  if (match.kind === 'any') return false
  const wanted = match.kind === 'prefix' ? match.prefix.split('/').slice(1) : match.segments
  const given = plain.split('/').slice(1, match.kind === 'prefix' ? wanted.length + 1 : undefined)
  const pairs = wanted.map((segment, i) => segment === given[i] || (segment === null && given[i] !== undefined))
  const same = pairs.filter(Boolean).length
  if (Math.max(wanted.length, given.length) - same <= 1 && same > 0) return true
  return nearest(`/${given.join('/')}`, [pathMatchText(match)]) !== null
}
