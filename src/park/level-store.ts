/** The embedded store: LevelDB in a directory of its own, which one process may have open. */
import { join } from 'node:path'
import type { Timer } from '../clock/clock.js'
import { cancels, type Sameness } from '../core/park.js'
import { type LevelFiles, type Operation, openLevelFiles } from './level-files.js'
import { LevelIndex } from './level-index.js'
import { afterVerdict, digest, ended, isRecord, type ParkedRecord, recordBytes, revived } from './record.js'
import { CONCURRENCY, type Deliver, MAX_TOLD, type ParkStore, type StoreDeps, type Usage } from './store.js'

const FOLDER = 'parked'
/** In the order of their parking: an id begins with the time. */
const RECORDS = { gte: 'r!', lt: 'r"' }

/** Makes the directory if it is missing. Rejects with what a person can act on. */
export async function openLevelStore(directory: string, deps: StoreDeps): Promise<LevelStore> {
  const store = new LevelStore(await openLevelFiles(join(directory, FOLDER), deps), deps)
  await store.load()
  return store
}

export class LevelStore implements ParkStore {
  readonly #files: LevelFiles
  readonly #deps: StoreDeps
  readonly #index = new LevelIndex()
  #deliver: Deliver | null = null
  #timer: Timer | null = null
  #underWay = 0
  #closed = false

  constructor(files: LevelFiles, deps: StoreDeps) {
    this.#files = files
    this.#deps = deps
  }

  async load(): Promise<void> {
    for await (const [key, value] of this.#files.entries(RECORDS)) {
      try {
        const record: unknown = JSON.parse(value.toString())
        if (!isRecord(record) || key !== `r!${record.id}`) throw new Error('it is no parked call')
        this.#index.put(record)
      } catch (error) {
        this.#deps.onTrouble(`the entry ${key.slice(2)} cannot be read and is left alone: ${(error as Error).message}`)
      }
    }
  }

  usage(): Usage {
    return this.#index.usage()
  }

  hasRoom(bytes: number, maxBytes: number): boolean {
    return this.#index.hasRoom(bytes, maxBytes)
  }

  async add(record: ParkedRecord, body: Uint8Array): Promise<'added' | 'full'> {
    const bytes = recordBytes(record)
    const { maxBytes } = record.settings
    if (this.#closed || !this.#index.hasRoom(bytes, maxBytes)) return 'full'
    const removed = this.#index.makeRoom(bytes, maxBytes)
    this.#index.put(record)
    this.#index.claim(record.id)
    const operations = removed.flatMap(({ id }) => removal(id))
    operations.push(putRecord(record), { type: 'put', key: `b!${record.id}`, value: Buffer.from(body) })
    try {
      // Both or neither, and on disk before the app hears of it.
      await this.#files.write(operations, removal(record.id))
    } catch (error) {
      this.#index.remove(record.id)
      for (const entry of removed) this.#index.restore(entry)
      throw error
    }
    this.#index.release(record.id)
    this.#arm()
    return 'added'
  }

  start(deliver: Deliver): void {
    this.#deliver = deliver
    this.#arm()
  }

  async list(): Promise<readonly ParkedRecord[]> {
    const records: ParkedRecord[] = []
    for await (const [key, value] of this.#files.entries(RECORDS)) {
      if (this.#index.get(key.slice(2)) !== undefined) records.push(this.#asOfNow(value))
    }
    return records
  }

  async get(id: string): Promise<{ record: ParkedRecord; body: Uint8Array | null } | null> {
    const record = await this.#read(id)
    return record === null ? null : { record, body: (await this.#files.read(`b!${id}`)) ?? null }
  }

  async retry(id: string): Promise<boolean> {
    const entry = this.#index.get(id)
    if (entry === undefined || entry.claimed || (entry.state !== 'waiting' && entry.state !== 'dead')) return false
    // Else it could be delivered in between, and the record that was read would bring it back.
    entry.claimed = true
    try {
      const record = await this.#read(id)
      if (record === null) return false
      await this.#save(revived(record, this.#deps.clock.wallMs()))
      return true
    } finally {
      this.#index.release(id)
      this.#arm()
    }
  }

  async drop(id: string): Promise<boolean> {
    const entry = this.#index.get(id)
    if (entry === undefined || entry.claimed) return false
    this.#index.remove(id)
    try {
      await this.#files.write(removal(id))
    } catch (error) {
      this.#index.restore(entry)
      throw error
    }
    return true
  }

  async cancel(success: Sameness, except?: string): Promise<readonly ParkedRecord[]> {
    if (this.usage().waiting === 0) return []
    const hashed = { ...success, path: digest(success.path) }
    const cancelled: ParkedRecord[] = []
    for (const entry of this.#index.waiting(hashed.path)) {
      if (entry.id === except || !cancels(hashed, entry)) continue
      // One that is under way comes back to find that it is over.
      entry.state = 'cancelled'
      const record = await this.#read(entry.id)
      if (record === null) continue
      cancelled.push(ended(record, 'cancelled', this.#deps.clock.wallMs()))
      await this.#save(cancelled.at(-1) as ParkedRecord)
    }
    return cancelled
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#timer?.cancel()
    await this.#files.close()
  }

  async #read(id: string): Promise<ParkedRecord | null> {
    const value = await this.#files.read(`r!${id}`)
    return value === undefined ? null : this.#asOfNow(value)
  }

  #asOfNow(value: Buffer): ParkedRecord {
    const record = JSON.parse(value.toString()) as ParkedRecord
    const entry = this.#index.get(record.id)
    return entry?.putOff == null ? record : { ...record, dueAtMs: entry.dueAtMs, last: entry.putOff }
  }

  async #save(record: ParkedRecord): Promise<void> {
    this.#index.put(record)
    const done = record.state === 'delivered' || record.state === 'cancelled'
    const told = done ? this.#index.beyondTold(MAX_TOLD).flatMap(removal) : []
    const body: Operation[] = done ? [{ type: 'del', key: `b!${record.id}` }] : []
    await this.#files.write([putRecord(record), ...body, ...told])
  }

  /** Begins what is due, as far as it may, and waits for the next. */
  #arm(): void {
    this.#timer?.cancel()
    const next = this.#index.nextDue()
    if (this.#closed || this.#deliver === null || next === null || this.#underWay >= CONCURRENCY) return
    const leftMs = next.dueAtMs - this.#deps.clock.wallMs()
    this.#timer = this.#deps.clock.after(Math.max(0, leftMs), () => this.#begin(next.id))
  }

  #begin(id: string): void {
    const entry = this.#index.get(id)
    // A timer may fire a little early, or the clock on the wall have been set back.
    if (entry !== undefined && entry.dueAtMs <= this.#deps.clock.wallMs() && this.#index.claim(id)) {
      this.#underWay += 1
      void this.#deliverOne(id).finally(() => {
        this.#underWay -= 1
        this.#arm()
      })
    }
    this.#arm()
  }

  async #deliverOne(id: string): Promise<void> {
    try {
      const found = await this.get(id)
      if (found === null || this.#deliver === null) return
      const verdict = await this.#deliver(found.record, found.body ?? new Uint8Array())
      const entry = this.#index.get(id)
      if (this.#closed || entry === undefined || (entry.state !== 'waiting' && verdict.next !== 'delivered')) return
      if (verdict.next === 'later' && !verdict.counted) this.#index.putOff(id, verdict.dueAtMs, verdict.why)
      else await this.#save(afterVerdict(found.record, verdict, this.#deps.clock.wallMs()))
    } catch (error) {
      if (this.#closed) return
      this.#deps.onTrouble(`the entry ${id} could not be read or written: ${(error as Error).message}`)
      this.#index.putOff(id, this.#deps.clock.wallMs() + TROUBLE_PAUSE_MS, 'the store failed')
    } finally {
      this.#index.release(id)
    }
  }
}

/** A disk that fails is not asked again at once. */
const TROUBLE_PAUSE_MS = 10_000

function putRecord(record: ParkedRecord): Operation {
  return { type: 'put', key: `r!${record.id}`, value: Buffer.from(JSON.stringify(record)) }
}

function removal(id: string): Operation[] {
  return [
    { type: 'del', key: `r!${id}` },
    { type: 'del', key: `b!${id}` },
  ]
}
