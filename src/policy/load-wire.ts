import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { deepFreeze } from './deep-freeze.js'
import type { LoadAnswer } from './load-request.js'

/** What the receiver of an answer holds already, by the digest of its serialized form. */
export type HeldUpstreams = ReadonlyMap<string, UpstreamSnapshot>

interface PackedUpstream {
  readonly digest: string
  /** `null` where the receiver holds it. */
  readonly bytes: Uint8Array | null
}

/** An answer on its way from one thread to another: upstreams in pieces, so that no turn has to thaw them all. */
export type PackedAnswer =
  | Exclude<LoadAnswer, { snapshot: Snapshot }>
  | (Omit<Extract<LoadAnswer, { snapshot: Snapshot }>, 'snapshot'> & {
      readonly frame: Omit<Snapshot, 'upstreams'>
      readonly upstreams: readonly PackedUpstream[]
    })

/** A few ms of work with five routes each. */
const UPSTREAMS_PER_TURN = 10

/** @param held digests of what need not be sent */
export function packAnswer(answer: LoadAnswer, held: ReadonlySet<string>): PackedAnswer {
  if (!('snapshot' in answer)) return answer
  const { snapshot, ...rest } = answer
  const { upstreams, ...frame } = snapshot
  return { ...rest, frame, upstreams: [...upstreams.values()].map(upstream => packUpstream(upstream, held)) }
}

function packUpstream(upstream: UpstreamSnapshot, held: ReadonlySet<string>): PackedUpstream {
  const bytes = serialize(upstream)
  const digest = createHash('sha256').update(bytes).digest('base64')
  return { digest, bytes: held.has(digest) ? null : bytes }
}

/** What a snapshot made in this thread lets others leave out. */
export function heldOf({ upstreams }: Snapshot): HeldUpstreams {
  return new Map([...upstreams.values()].map(upstream => [packUpstream(upstream, new Set()).digest, upstream]))
}

export interface Unpacked {
  readonly answer: LoadAnswer
  /** For the next answer. */
  readonly held: HeldUpstreams
}

/** Frozen again, which a clone is not; what is held is used as it is. Requests are served in between. */
export async function unpackAnswer(packed: PackedAnswer, held: HeldUpstreams): Promise<Unpacked> {
  if (!('frame' in packed)) return { answer: packed, held }
  const { frame, upstreams, ...rest } = packed
  const next = new Map<string, UpstreamSnapshot>()
  let thawed = 0
  for (const { digest, bytes } of upstreams) {
    const upstream = bytes === null ? held.get(digest) : deepFreeze(deserialize(bytes) as UpstreamSnapshot)
    if (upstream === undefined) throw new Error('an upstream was left out that is not here')
    next.set(digest, upstream)
    if (bytes !== null && ++thawed % UPSTREAMS_PER_TURN === 0) await nextTurn()
  }
  const byName = new Map([...next.values()].map(upstream => [upstream.name, upstream]))
  const snapshot = deepFreeze({ ...frame, upstreams: Object.freeze(byName) })
  return { answer: { ...rest, snapshot }, held: next }
}
