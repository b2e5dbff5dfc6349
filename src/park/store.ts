/** What a store of parked calls does. Two keep the same contract: one in a directory, one on Redis. */
import type { Clock } from '../clock/clock.js'
import type { Sameness, Verdict } from '../core/park.js'
import type { ParkedRecord } from './record.js'

/** Entries of one store, whatever `maxBytes` says. */
export const MAX_ENTRIES = 10_000
/** Delivered and cancelled ones that are still told of. */
export const MAX_TOLD = 1000
/** Redeliveries under way at a time. */
export const CONCURRENCY = 4

export interface Usage {
  readonly waiting: number
  readonly dead: number
  readonly bytes: number
}

/** Sends an entry once more; never rejects. */
export type Deliver = (record: ParkedRecord, body: Uint8Array) => Promise<Verdict>

export interface ParkStore {
  /** As far as it is known now. */
  usage(): Usage
  /** Whether an entry of so many bytes would find room; may be wrong, `add` is not. */
  hasRoom(bytes: number, maxBytes: number): boolean
  /** Resolves once it is safe. What has ended makes room for it, oldest first. */
  add(record: ParkedRecord, body: Uint8Array): Promise<'added' | 'full'>
  /** From here on each entry is given to `deliver` when it is due, by one of those who share the store. */
  start(deliver: Deliver): void
  list(): Promise<readonly ParkedRecord[]>
  /** `body: null` = its call is done, so it is not kept. */
  get(id: string): Promise<{ readonly record: ParkedRecord; readonly body: Uint8Array | null } | null>
  /** Makes a waiting or dead one due now; false when there is none. */
  retry(id: string): Promise<boolean>
  /** Forgets it; false when there is none, or it is being delivered. */
  drop(id: string): Promise<boolean>
  /** Ends what the success makes void, but `except`; gives their records. */
  cancel(success: Sameness, except?: string): Promise<readonly ParkedRecord[]>
  /** No further redelivery begins. */
  close(): Promise<void>
}

export interface StoreDeps {
  readonly clock: Clock
  /** Something an operator should know of the store. */
  readonly onTrouble: (text: string) => void
}
