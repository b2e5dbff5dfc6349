import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SystemClock } from '../../src/clock/system-clock.js'
import { type LevelStore, openLevelStore } from '../../src/park/level-store.js'
import type { ParkedRecord } from '../../src/park/record.js'
import { PARK } from '../pipeline/support/parking.js'

export const PARKED_ID = '0mg1x2k3z-5f0c9a7be210'
export const BODY = new TextEncoder().encode('order')

/** An entry that waits for an hour. */
export function parkedRecord(more: Partial<ParkedRecord> = {}): ParkedRecord {
  const nowMs = Date.now()
  return {
    id: PARKED_ID,
    state: 'waiting',
    upstream: 'shop',
    route: null,
    method: 'POST',
    path: '/orders/<b>?token=t0ken',
    headers: [
      ['Idempotency-Key', 'k1'],
      ['Authorization', 'sealed-text', 'sealed'],
    ],
    bodyBytes: BODY.byteLength,
    key: null,
    conditional: false,
    outcome: 'connect',
    traceId: null,
    arrivedAtMs: nowMs,
    parkedAtMs: nowMs,
    dueAtMs: nowMs + 3_600_000,
    endedAtMs: null,
    attempts: 3,
    last: 'status 503',
    settings: PARK,
    ...more,
  }
}

export interface StoreDir {
  readonly dir: string
  open(): Promise<LevelStore>
  remove(): Promise<void>
}

export async function storeDir(): Promise<StoreDir> {
  const dir = await mkdtemp(join(tmpdir(), 'forbear-parked-'))
  return {
    dir,
    open: () => openLevelStore(dir, { clock: new SystemClock(), onTrouble: () => {} }),
    remove: () => rm(dir, { recursive: true, force: true }),
  }
}
