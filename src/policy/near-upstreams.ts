/** Upstreams that a call does not find, but nearly does. */
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { type CallAddress, hostOf } from './call-address.js'
import { nearest } from './nearest.js'

/** How the call asked for an upstream. */
export interface AskedFor extends CallAddress {
  /** Value of `forbear-upstream`. */
  readonly name: string | null
  /** Value of `Host`. */
  readonly host: string | null
}

export interface NearUpstream {
  readonly upstream: string
  /** By which it would have been found; `null` = nothing is near, it is told what there is. */
  readonly missed: 'path' | 'host' | 'header' | 'port' | null
  readonly text: string
}

const MAX_SHOWN = 5

/** In the order of the set; without any that is near, what there is. */
export function nearUpstreams(snapshot: Snapshot, asked: AskedFor): NearUpstream[] {
  const upstreams = [...snapshot.upstreams.values()]
  const misses = upstreams.flatMap(upstream => missesOf(upstream, asked))
  // On an own port no prefix counts.
  const isPort = misses.some(({ missed }) => missed === 'port')
  const near = misses.filter(({ missed }) => !(isPort && missed === 'path'))
  return (near.length > 0 ? near : upstreams.map(waysIn)).slice(0, MAX_SHOWN)
}

function missesOf(upstream: UpstreamSnapshot, asked: AskedFor): NearUpstream[] {
  const { name } = upstream
  const misses = [
    headerMiss(upstream, asked),
    portMiss(upstream, asked),
    hostMiss(upstream, asked),
    pathMiss(upstream, asked),
  ]
  return misses.flatMap(miss => (miss === null ? [] : [{ upstream: name, ...miss }]))
}

type Miss = Omit<NearUpstream, 'upstream'>

function headerMiss({ name }: UpstreamSnapshot, asked: AskedFor): Miss | null {
  if (asked.name === null || nearest(asked.name, [name]) === null) return null
  return { missed: 'header', text: `its name is ${name}, forbear-upstream says ${asked.name}` }
}

/** The right host, another port. */
function portMiss({ listen, target }: UpstreamSnapshot, { authority }: AskedFor): Miss | null {
  if (authority === null) return null
  const own = listen !== null && hostOf(listen) === hostOf(authority)
  if (own && nearest(portOf(authority), [portOf(listen)]) !== null)
    return { missed: 'port', text: `its own port is ${listen}` }
  if (target.hostname.toLowerCase() !== hostOf(authority)) return null
  return { missed: 'port', text: `its target is ${target.hostname}:${target.port}, the call is for ${authority}` }
}

function hostMiss({ match, target }: UpstreamSnapshot, { authority, host }: AskedFor): Miss | null {
  const known = authority === null ? match.hosts : [...match.hosts, target.hostname]
  for (const said of [authority === null ? null : hostOf(authority), host?.replace(/:\d+$/, '')]) {
    const near = known.find(candidate => said && isNearHost(said, candidate))
    if (near !== undefined) return { missed: 'host', text: `its host is ${near}, the call is for ${said}` }
  }
  return null
}

/** Not the same; label by label, since most hosts end alike. */
function isNearHost(said: string, known: string): boolean {
  if (said === known.toLowerCase()) return false
  const labels = known.split('.')
  const given = said.split('.')
  return given.length === labels.length && labels.every((label, n) => nearest(given[n] ?? '', [label]) !== null)
}

/** As long as the prefix; a path is compared as it is sent, `//`, `..` and `%41` included. */
function pathMiss({ match, name }: UpstreamSnapshot, { path }: AskedFor): Miss | null {
  const plain = (path.split('?')[0] ?? '').replace(/\/{2,}/g, '/')
  const start = plain.split('/').slice(0, match.pathPrefix.split('/').length).join('/')
  const resolved = new URL(plain, 'http://a').pathname
  const wouldMatch = `${resolved}/`.startsWith(`${match.pathPrefix}/`)
  if (wouldMatch && resolved !== path.split('?')[0]) {
    return { missed: 'path', text: `its path prefix is ${match.pathPrefix}; paths count as they are sent, unresolved` }
  }
  // One letter is as near as any other.
  if (start.length < 3 || nearest(start, [match.pathPrefix, `/${name}`]) === null) return null
  return { missed: 'path', text: `its path prefix is ${match.pathPrefix}, the path begins with ${start}` }
}

/** `/shop and shop.internal on the shared port, and everything on 127.0.0.1:15101` */
function waysIn({ name, match, listen }: UpstreamSnapshot): NearUpstream {
  const shared = `${[match.pathPrefix, ...match.hosts].join(' and ')} on the shared port`
  const text = `it takes ${shared}${listen === null ? '' : `, and everything on ${listen}`}`
  return { upstream: name, missed: null, text }
}

function portOf(authority: string): string {
  return authority.slice(authority.lastIndexOf(':') + 1)
}
