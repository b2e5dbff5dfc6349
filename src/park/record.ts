/** One parked call as a store keeps it, beside its body. */
import { createHash, randomBytes } from 'node:crypto'
import type { ParkSettings, Sameness, Verdict } from '../core/park.js'
import type { SealedHeader } from './seal.js'

export type ParkedState = 'waiting' | 'delivered' | 'cancelled' | 'dead'

export interface ParkedRecord {
  readonly id: string
  readonly state: ParkedState
  readonly upstream: string
  readonly route: string | null
  readonly method: string
  /** Path and query as the upstream sees them. */
  readonly path: string
  /** Empty once it was delivered or cancelled. */
  readonly headers: readonly SealedHeader[]
  readonly bodyBytes: number
  /** Digest of the app's key, or `null`. */
  readonly key: string | null
  /** It carries `If-Match`. */
  readonly conditional: boolean
  /** How the app's own call ended. */
  readonly outcome: string
  readonly traceId: string | null
  /** Unix times, ms. */
  readonly arrivedAtMs: number
  readonly parkedAtMs: number
  readonly dueAtMs: number
  readonly endedAtMs: number | null
  /** Redeliveries so far. */
  readonly attempts: number
  /** How the last one went: `status 503`, `connect` … */
  readonly last: string | null
  /** Somebody has asked for its next redelivery. */
  readonly byHand?: boolean
  /** What holds where the policy of now does not park any more. */
  readonly settings: ParkSettings
}

/** The time of its parking, so that ids sort by it, and randomness. */
export function newEntryId(nowMs: number): string {
  return `${Math.floor(nowMs).toString(36).padStart(9, '0')}-${randomBytes(6).toString('hex')}`
}

/** Else it may be the name of something else in a store. */
export function isEntryId(text: string): boolean {
  return /^[0-9a-z]{9}-[0-9a-f]{12}$/.test(text)
}

/** What lies in a store may have been damaged there. */
export function isRecord(value: unknown): value is ParkedRecord {
  if (typeof value !== 'object' || value === null) return false
  const { id, upstream, method, path, headers, settings, ...rest } = value as Record<string, unknown>
  const texts = [id, upstream, method, path].every(text => typeof text === 'string')
  const numbers = ['bodyBytes', 'arrivedAtMs', 'parkedAtMs', 'dueAtMs', 'attempts'].every(name =>
    Number.isFinite(rest[name]),
  )
  const isHeader = (header: unknown): boolean =>
    Array.isArray(header) && header.length >= 2 && header.every(part => typeof part === 'string')
  return texts && numbers && Array.isArray(headers) && headers.every(isHeader) && typeof settings === 'object'
}

/** The record after a redelivery. */
export function afterVerdict(record: ParkedRecord, verdict: Verdict, nowMs: number): ParkedRecord {
  switch (verdict.next) {
    case 'delivered':
      return { ...ended(record, 'delivered', nowMs), attempts: record.attempts + 1, last: `status ${verdict.status}` }
    case 'later':
      return { ...record, ...counted(record, verdict.counted), dueAtMs: verdict.dueAtMs, last: verdict.why }
    case 'dead':
      return { ...record, ...counted(record, verdict.counted), state: 'dead', endedAtMs: nowMs, last: verdict.why }
  }
}

/** What is left of an entry whose call is done: enough to tell what became of it. */
export function ended(record: ParkedRecord, state: 'delivered' | 'cancelled', nowMs: number): ParkedRecord {
  return { ...record, state, headers: [], endedAtMs: nowMs }
}

/** Once more by hand: at once, and a dead one lives again. */
export function revived(record: ParkedRecord, nowMs: number): ParkedRecord {
  return { ...record, state: 'waiting', endedAtMs: null, dueAtMs: nowMs, byHand: true }
}

function counted({ attempts, byHand = false }: ParkedRecord, yes: boolean): Pick<ParkedRecord, 'attempts' | 'byHand'> {
  return yes ? { attempts: attempts + 1, byHand: false } : { attempts, byHand }
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** The key as records hold it: nobody can read it out of there. */
export function withKeyDigest(call: Sameness): Sameness {
  return { ...call, key: call.key === null ? null : digest(call.key) }
}

/** What it takes of `maxBytes`. */
export function recordBytes(record: ParkedRecord): number {
  return Buffer.byteLength(JSON.stringify(record)) + (record.headers.length === 0 ? 0 : record.bodyBytes)
}
