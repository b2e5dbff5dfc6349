import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'

/**
 * The valid part of a policy set, filled up with what is in force: an upstream whose document is broken or unreadable
 * keeps its last good policy. One that is gone stays as well, since a broken file may be hiding it, until a set is
 * wholly valid; but an address that a valid upstream asks for is given up.
 */
export function keepGood(partial: Snapshot, current: Snapshot): Snapshot {
  const taken = new Set([...partial.upstreams.values()].map(upstream => upstream.listen))
  taken.delete(null)
  const upstreams = new Map<string, UpstreamSnapshot>()
  for (const [name, upstream] of current.upstreams) {
    if (!partial.upstreams.has(name) && !taken.has(upstream.listen)) upstreams.set(name, upstream)
  }
  const invalid = new Map([...partial.invalid].filter(([name]) => !upstreams.has(name)))
  for (const [name, upstream] of partial.upstreams) upstreams.set(name, upstream)
  return Object.freeze({ ...partial, upstreams, invalid })
}
