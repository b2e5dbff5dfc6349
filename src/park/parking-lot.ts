/** Parking with its stores: takes calls in, sends them again when they are due, tells what became of them. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock/clock.js'
import { headerValue } from '../core/headers.js'
import {
  nextDueMs,
  type ParkedStatus,
  type ParkSettings,
  type Redelivery,
  type Sameness,
  type Verdict,
  verdictOn,
} from '../core/park.js'
import type { Snapshot } from '../core/snapshot.js'
import type { ParkCall, Parked, Parking } from '../pipeline/parking.js'
import type { EventSink, ParkedCall } from '../telemetry/events.js'
import { openStore } from './open-store.js'
import { type ParkedRecord, withKeyDigest } from './record.js'
import { readSealKey, type SealKey, sealHeaders, unsealHeaders } from './seal.js'
import { type OpenStore, Shelf } from './shelf.js'
import type { ParkStore, Usage } from './store.js'
import { type ParkedCalls, parkedCalls, pathOnly } from './views.js'
import { callHook } from './webhook.js'

/** As it is sent again. */
export interface StoredCall {
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly body: Uint8Array
}

export interface ParkingDeps {
  readonly clock: Clock
  readonly random: () => number
  readonly sink: EventSink
  /** Where an entry can be asked for: its URL on the admin port. */
  readonly locate: (id: string) => string
  readonly redeliver: (call: StoredCall, upstream: string) => Promise<Redelivery>
  /** Default: by the form of the location. */
  readonly open?: OpenStore
}

/** A store that has not answered by then counts as one that failed. */
const STORE_PATIENCE_MS = 5000

export class ParkingLot implements Parking {
  readonly calls: ParkedCalls = parkedCalls(() => this.#stores())
  readonly #deps: ParkingDeps
  readonly #shelves = new Map<string, Shelf>()
  readonly #keys = new Map<string, Promise<SealKey>>()
  #snapshot: Snapshot | null = null

  constructor(deps: ParkingDeps) {
    this.#deps = deps
  }

  /** Opens the stores that the policies name; resolves once each was tried. One that is named no more goes on until the end. */
  async reconcile(snapshot: Snapshot): Promise<void> {
    this.#snapshot = snapshot
    this.#keys.clear()
    for (const { policy, routes } of snapshot.upstreams.values()) {
      for (const { park } of [policy, ...routes.map(route => route.policy)]) if (park !== null) this.#shelfOf(park)
    }
    await Promise.all([...this.#shelves.values()].map(shelf => shelf.tried))
  }

  hasRoom(settings: ParkSettings, call: Pick<ParkCall, 'upstream' | 'route'>, bytes: number): boolean {
    const { store, problem } = this.#shelfOf(settings)
    const why = store === null ? problem : store.hasRoom(bytes, settings.maxBytes) ? null : FULL
    if (why !== null) this.#tellRefused(call, why)
    return why === null
  }

  async park(call: ParkCall): Promise<Parked | null> {
    const { store, problem } = this.#shelfOf(call.settings)
    try {
      if (store === null) throw new Error(problem)
      const record = await this.#recordOf(call)
      if ((await this.#patiently(store, record, call.body)) === 'full') throw new Error(FULL)
      this.#tell(record, 'parked', record.outcome)
      this.#hook('parked', record.settings.onParked, record, record.outcome)
      return { id: record.id, location: this.#deps.locate(record.id) }
    } catch (error) {
      this.#tellRefused(call, (error as Error).message)
      return null
    }
  }

  takeBack(settings: ParkSettings, id: string): void {
    this.#quietly(this.#shelfOf(settings).store?.drop(id))
  }

  succeeded(settings: ParkSettings, call: Sameness): void {
    const cancelled = this.#shelfOf(settings).store?.cancel(withKeyDigest(call))
    this.#quietly(cancelled?.then(records => records.forEach(record => void this.#tell(record, 'cancelled', null))))
  }

  /** `undefined` = nothing parks. */
  status(): ParkedStatus | undefined {
    if (this.#shelves.size === 0) return undefined
    const usages = this.#stores().map(store => store.usage())
    const sum = (of: keyof Usage): number => usages.reduce((total, usage) => total + usage[of], 0)
    const problems = [...this.#shelves.values()].flatMap(({ store, problem }) => (store === null ? [problem] : []))
    return { waiting: sum('waiting'), dead: sum('dead'), bytes: sum('bytes'), problems }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#shelves.values()].map(shelf => shelf.close()))
  }

  #stores(): ParkStore[] {
    return [...this.#shelves.values()].flatMap(({ store }) => store ?? [])
  }

  #shelfOf({ store: location }: ParkSettings): Shelf {
    const known = this.#shelves.get(location)
    if (known !== undefined) return known
    const { clock, open = openStore } = this.#deps
    const shelf = new Shelf(
      location,
      clock,
      open,
      (record, body) => this.#deliver(record, body),
      text => this.#deps.sink.emit({ type: 'notice', level: 'error', message: text }),
    )
    this.#shelves.set(location, shelf)
    return shelf
  }

  async #recordOf(call: ParkCall): Promise<ParkedRecord> {
    const { settings, upstream, route, method, path, headers, body, outcome, traceId, retryAfterMs } = call
    const nowMs = this.#deps.clock.wallMs()
    const id = `${Math.floor(nowMs).toString(36).padStart(9, '0')}-${randomBytes(6).toString('hex')}`
    const key = settings.keyFile === null ? null : await this.#key(settings.keyFile)
    return {
      id,
      state: 'waiting',
      upstream,
      route,
      method,
      path,
      headers: sealHeaders(headers, settings.secretHeaders, key, id),
      bodyBytes: body.byteLength,
      key: withKeyDigest(call).key,
      conditional: headerValue(headers, 'if-match') !== undefined,
      outcome,
      traceId,
      arrivedAtMs: call.arrivedAtMs,
      parkedAtMs: nowMs,
      dueAtMs: nextDueMs(settings, nowMs, 0, retryAfterMs, nowMs, this.#deps.random),
      endedAtMs: null,
      attempts: 0,
      last: null,
      // Where it is need not be told there: the address may hold a password.
      settings: { ...settings, store: '' },
    }
  }

  async #patiently(store: ParkStore, record: ParkedRecord, body: Uint8Array): Promise<'added' | 'full'> {
    let late = false
    const added = store.add(record, body)
    const patience = new Promise<never>((_, reject) => {
      const timer = this.#deps.clock.after(STORE_PATIENCE_MS, () => {
        late = true
        reject(new Error('the store does not answer'))
      })
      void added.catch(() => undefined).then(() => timer.cancel())
    })
    // The app was told that its call failed.
    this.#quietly(added.then(() => (late ? store.drop(record.id) : undefined)))
    return Promise.race([added, patience])
  }

  async #deliver(record: ParkedRecord, body: Uint8Array): Promise<Verdict> {
    const { clock, random } = this.#deps
    const settings = this.#settingsOf(record)
    const { parkedAtMs, attempts, conditional, key } = record
    const facts = { parkedAtMs, attempts, conditional, keyed: key !== null }
    const result = await this.#send(record, body, settings)
    const verdict = verdictOn(result, facts, settings, clock.wallMs(), random)
    const after = { ...record, attempts: attempts + (verdict.next === 'delivered' || verdict.counted ? 1 : 0) }
    if (verdict.next === 'delivered') this.#tell(after, 'delivered', `status ${verdict.status}`)
    else if (verdict.next === 'dead') this.#tell(after, 'dead', verdict.why)
    else if (verdict.counted) this.#tell({ ...after, dueAtMs: verdict.dueAtMs }, 'failed', verdict.why)
    if (verdict.next === 'dead') this.#hook('dead', settings.onDead, after, verdict.why)
    return verdict
  }

  async #send(record: ParkedRecord, body: Uint8Array, { keyFile }: ParkSettings): Promise<Redelivery> {
    const { method, path, upstream } = record
    try {
      const sealed = record.headers.some(header => header.length === 3)
      const key = keyFile === null || !sealed ? null : await this.#key(keyFile)
      const headers = unsealHeaders(record.headers, key, record.id)
      return await this.#deps.redeliver({ method, path, headers, body }, upstream)
    } catch (error) {
      return { kind: 'not-sent', outcome: (error as Error).message, retryAfterMs: null }
    }
  }

  /** The policy of now, or else that of its parking. */
  #settingsOf({ upstream, route, settings }: ParkedRecord): ParkSettings {
    const found = this.#snapshot?.upstreams.get(upstream)
    const own = found?.routes.find(({ name }) => name === route)
    return (own ?? found)?.policy.park ?? settings
  }

  #key(file: string): Promise<SealKey> {
    const known = this.#keys.get(file) ?? readSealKey(file)
    this.#keys.set(file, known)
    known.catch(() => this.#keys.delete(file))
    return known
  }

  #hook(event: 'parked' | 'dead', url: string | null, record: ParkedRecord, why: string): void {
    if (url === null) return
    const { id, upstream, route, method, attempts } = record
    const parkedAt = new Date(record.parkedAtMs).toISOString()
    const path = pathOnly(record.path)
    const location = this.#deps.locate(id)
    const message = { event, id, upstream, route, method, path, why, attempts, parkedAt, location }
    void callHook(this.#deps.clock, url, message).then(problem => {
      if (problem === null) return
      const detail = { upstream, id, event, problem }
      this.#deps.sink.emit({ type: 'notice', level: 'warn', message: 'webhook of a parked call failed', detail })
    })
  }

  #tell({ upstream, route, id, attempts, dueAtMs }: ParkedRecord, step: ParkedCall['step'], why: string | null): void {
    const dueInMs = step === 'parked' || step === 'failed' ? dueAtMs - this.#deps.clock.wallMs() : null
    this.#deps.sink.emit({ type: 'parked-call', upstream, route, id, step, why, attempts, dueInMs })
  }

  #tellRefused({ upstream, route }: Pick<ParkCall, 'upstream' | 'route'>, why: string): void {
    const step = 'refused'
    this.#deps.sink.emit({ type: 'parked-call', upstream, route, id: null, step, why, attempts: 0, dueInMs: null })
  }

  #quietly(work: Promise<unknown> | undefined): void {
    work?.catch(() => undefined)
  }
}

const FULL = 'the store is full'
