/** One parked call as a store keeps it, beside its body. */
import { createHash } from 'node:crypto'
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
  /** What holds where the policy of now does not park any more. */
  readonly settings: ParkSettings
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
  return { ...record, state: 'waiting', endedAtMs: null, dueAtMs: nowMs }
}

function counted({ attempts }: ParkedRecord, yes: boolean): { attempts: number } {
  return { attempts: attempts + (yes ? 1 : 0) }
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
