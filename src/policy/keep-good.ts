import type { InvalidUpstream, Snapshot, UpstreamSnapshot } from '../core/snapshot.js'

/**
 * The valid part of a policy set, filled up with what is in force: an upstream whose document is broken or unreadable
 * keeps its last good policy, and one that never had any stays known. One that is gone stays as well, since a broken
 * file may be hiding it, until a set is wholly valid; but what a valid upstream asks for is given up.
 */
export function keepGood(partial: Snapshot, current: Snapshot): Snapshot {
  const taken = new Set([...partial.upstreams.values()].flatMap(claimsOf))
  const isFree = (one: Claimant) => !claimsOf(one).some(claim => taken.has(claim))
  const missing = (name: string) => !partial.upstreams.has(name)
  const kept = [...current.upstreams].filter(([name, upstream]) => missing(name) && isFree(upstream))
  const upstreams = new Map<string, UpstreamSnapshot>([...kept, ...partial.upstreams])
  const unknown = [...current.invalid].filter(([name, one]) => missing(name) && isFree(one))
  const invalid = [...unknown, ...partial.invalid].filter(([name]) => !upstreams.has(name))
  const names = new Set(kept.map(([name]) => name))
  return Object.freeze({ ...partial, upstreams, invalid: new Map(invalid), kept: names })
}

type Claimant = Pick<InvalidUpstream, 'listen' | 'match'>

function claimsOf({ listen, match }: Claimant): string[] {
  const hosts = match.hosts.map(host => `host ${host}`)
  return [...(listen === null ? [] : [`listen ${listen}`]), `prefix ${match.pathPrefix}`, ...hosts]
}
