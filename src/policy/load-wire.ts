import { setImmediate as nextTurn } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { deepFreeze } from './deep-freeze.js'
import type { LoadAnswer } from './load-request.js'

/** An answer on its way from one thread to another: upstreams in pieces, so that no turn has to thaw them all. */
export type PackedAnswer =
  | Exclude<LoadAnswer, { snapshot: Snapshot }>
  | {
      readonly kind: 'whole' | 'partial'
      readonly frame: Omit<Snapshot, 'upstreams'>
      readonly upstreams: readonly Uint8Array[]
      readonly messages: readonly string[]
    }

/** A few ms of work with five routes each. */
const UPSTREAMS_PER_TURN = 10

export function packAnswer(answer: LoadAnswer): PackedAnswer {
  if (!('snapshot' in answer)) return answer
  const { upstreams, ...frame } = answer.snapshot
  const { kind, messages } = answer
  return { kind, messages, frame, upstreams: [...upstreams.values()].map(upstream => serialize(upstream)) }
}

/** Frozen again, which a clone is not. Requests are served in between. */
export async function unpackAnswer(packed: PackedAnswer): Promise<LoadAnswer> {
  if (!('frame' in packed)) return packed
  const upstreams = new Map<string, UpstreamSnapshot>()
  for (const piece of packed.upstreams) {
    const upstream = deepFreeze(deserialize(piece) as UpstreamSnapshot)
    upstreams.set(upstream.name, upstream)
    if (upstreams.size % UPSTREAMS_PER_TURN === 0) await nextTurn()
  }
  const { kind, frame, messages } = packed
  return { kind, snapshot: deepFreeze({ ...frame, upstreams: Object.freeze(upstreams) }), messages }
}
