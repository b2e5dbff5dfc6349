import type { Sameness } from '../core/park.js'
import { digest, type ParkedRecord, type ParkedState, recordBytes } from './record.js'
import { MAX_ENTRIES, type Usage } from './store.js'

/** Of one entry what is needed to find it; `path` is a digest. */
export interface IndexEntry extends Sameness {
  readonly id: string
  readonly bytes: number
  readonly endedAtMs: number | null
  state: ParkedState
  dueAtMs: number
  /** Why it was put off, if it was since it was last written. */
  putOff: string | null
  /** Being written or delivered. */
  claimed: boolean
}

/** What the embedded store knows of its entries without reading them. */
export class LevelIndex {
  readonly #entries = new Map<string, IndexEntry>()
  #bytes = 0
  #waitingBytes = 0
  #waiting = 0
  #dead = 0

  put(record: ParkedRecord): void {
    const { id, state, upstream, method, key, arrivedAtMs, dueAtMs, endedAtMs } = record
    const claimed = this.#entries.get(id)?.claimed ?? false
    this.remove(id)
    const path = digest(record.path)
    const same = { upstream, method, path, key, arrivedAtMs }
    this.#count({ ...same, id, bytes: recordBytes(record), endedAtMs, state, dueAtMs, putOff: null, claimed }, 1)
  }

  remove(id: string): void {
    const entry = this.#entries.get(id)
    if (entry !== undefined) this.#count(entry, -1)
  }

  get(id: string): IndexEntry | undefined {
    return this.#entries.get(id)
  }

  usage(): Usage {
    return { waiting: this.#waiting, dead: this.#dead, bytes: this.#bytes }
  }

  /** What has ended would make room. */
  hasRoom(bytes: number, maxBytes: number): boolean {
    return this.#waitingBytes + bytes <= maxBytes && this.#waiting < MAX_ENTRIES
  }

  /** Forgets the oldest of what has ended until there is room; gives them. */
  makeRoom(bytes: number, maxBytes: number): IndexEntry[] {
    if (this.#bytes + bytes <= maxBytes && this.#entries.size < MAX_ENTRIES) return []
    const removed: IndexEntry[] = []
    for (const entry of this.#ended()) {
      if (this.#bytes + bytes <= maxBytes && this.#entries.size < MAX_ENTRIES) break
      this.remove(entry.id)
      removed.push(entry)
    }
    return removed
  }

  /** It could not be removed after all. */
  restore(entry: IndexEntry): void {
    this.#count(entry, 1)
  }

  /** Forgets the oldest of more than so many delivered and cancelled ones; gives their ids. */
  beyondTold(most: number): string[] {
    if (this.#entries.size - this.#waiting - this.#dead <= most) return []
    const done = this.#ended().filter(entry => entry.state !== 'dead')
    const removed = done.slice(0, done.length - most).map(entry => entry.id)
    for (const id of removed) this.remove(id)
    return removed
  }

  waiting(path: string): IndexEntry[] {
    return [...this.#entries.values()].filter(entry => entry.state === 'waiting' && entry.path === path)
  }

  /** Of those that wait and are not taken, the one that is due first. */
  nextDue(): IndexEntry | null {
    let next: IndexEntry | null = null
    for (const entry of this.#entries.values()) {
      if (entry.state === 'waiting' && !entry.claimed && (next === null || entry.dueAtMs < next.dueAtMs)) next = entry
    }
    return next
  }

  claim(id: string): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.claimed || entry.state !== 'waiting') return false
    entry.claimed = true
    return true
  }

  release(id: string): void {
    const entry = this.#entries.get(id)
    if (entry !== undefined) entry.claimed = false
  }

  /** Not worth a write: after a restart it is due at once. */
  putOff(id: string, dueAtMs: number, why: string): void {
    const entry = this.#entries.get(id)
    if (entry !== undefined) Object.assign(entry, { dueAtMs, putOff: why })
  }

  #ended(): IndexEntry[] {
    const ended = [...this.#entries.values()].filter(entry => entry.endedAtMs !== null && !entry.claimed)
    // The dead ones last: somebody may still want to send them.
    const rank = ({ state }: IndexEntry): number => (state === 'dead' ? 1 : 0)
    return ended.sort((a, b) => rank(a) - rank(b) || (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0))
  }

  #count(entry: IndexEntry, sign: 1 | -1): void {
    if (sign === 1) this.#entries.set(entry.id, entry)
    else this.#entries.delete(entry.id)
    this.#bytes += sign * entry.bytes
    // Not by the state, which may have changed since: whoever has an end does not wait.
    if (entry.endedAtMs === null) {
      this.#waiting += sign
      this.#waitingBytes += sign * entry.bytes
    } else if (entry.state === 'dead') this.#dead += sign
  }
}
