import { isDeepStrictEqual } from 'node:util'
import type { Snapshot } from '../core/snapshot.js'
import type { UpstreamChanges } from '../telemetry/events.js'

/** Names of upstreams that one snapshot has and the other has not, or has otherwise. */
export function changesBetween({ upstreams: before }: Snapshot, { upstreams: after }: Snapshot): UpstreamChanges {
  const common = [...after].filter(([name]) => before.has(name))
  return {
    added: [...after.keys()].filter(name => !before.has(name)),
    changed: common.filter(([name, upstream]) => !isDeepStrictEqual(before.get(name), upstream)).map(([name]) => name),
    removed: [...before.keys()].filter(name => !after.has(name)),
  }
}
