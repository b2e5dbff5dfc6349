/** Parking with its stores: takes calls in, sends them again when they are due, tells what became of them. */
import { headerValue } from '../core/headers.js'
import {
  nextDueMs,
  type ParkedStatus,
  type ParkSettings,
  type Redelivery,
  replaces,
  type Sameness,
  type Verdict,
  verdictOn,
  verdictUnsent,
} from '../core/park.js'
import type { Snapshot } from '../core/snapshot.js'
import type { ParkCall, Parked, Parking } from '../pipeline/parking.js'
import { News, type NewsDeps } from './news.js'
import { openStore } from './open-store.js'
import { newEntryId, type ParkedRecord, withKeyDigest } from './record.js'
import { sealHeaders } from './seal.js'
import { SealKeys } from './seal-keys.js'
import { type OpenStore, Shelf } from './shelf.js'
import type { ParkStore, Usage } from './store.js'
import { type ParkedCalls, parkedCalls } from './views.js'

/** As it is sent again. */
export interface StoredCall {
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly body: Uint8Array
}

export interface ParkingDeps extends NewsDeps {
  readonly random: () => number
  readonly redeliver: (call: StoredCall, upstream: string) => Promise<Redelivery>
  /** Default: by the form of the location. */
  readonly open?: OpenStore
}

/** A store that has not answered by then counts as one that failed. */
const STORE_PATIENCE_MS = 5000
const BUSY_PAUSE_MS = 1000
/** What cannot be sent now is looked at this far apart, so that ten thousand of them cost little. */
const POSTPONED_APART_MS = 10

export class ParkingLot implements Parking {
  readonly calls: ParkedCalls = parkedCalls(() => this.#stores())
  readonly #deps: ParkingDeps
  readonly #shelves = new Map<string, Shelf>()
  readonly #keys = new SealKeys()
  readonly #news: News
  /** Targets of which one call is under way. */
  readonly #busy = new Set<string>()
  #snapshot: Snapshot | null = null

  constructor(deps: ParkingDeps) {
    this.#deps = deps
    this.#news = new News(deps)
  }

  /** Opens the stores that the policies name; resolves once each was tried. One that is named no more goes on until the end. */
  async reconcile(snapshot: Snapshot): Promise<void> {
    this.#snapshot = snapshot
    this.#keys.forget()
    for (const { policy, routes } of snapshot.upstreams.values()) {
      for (const { park } of [policy, ...routes.map(route => route.policy)]) if (park !== null) this.#shelfOf(park)
    }
    await Promise.all([...this.#shelves.values()].map(shelf => shelf.tried))
  }

  hasRoom(settings: ParkSettings, call: Pick<ParkCall, 'upstream' | 'route'>, bytes: number): boolean {
    const { store, problem } = this.#shelfOf(settings)
    const why = store === null ? problem : store.hasRoom(bytes, settings.maxBytes) ? null : FULL
    if (why !== null) this.#news.tellRefused(call, why)
    return why === null
  }

  async park(call: ParkCall): Promise<Parked | null> {
    const { store, problem } = this.#shelfOf(call.settings)
    try {
      if (store === null) throw new Error(problem)
      const record = await this.#recordOf(call)
      if ((await this.#patiently(store, record, call.body)) === 'full') throw new Error(FULL)
      this.#news.tell(record, 'parked', record.outcome)
      this.#news.hook('parked', record.settings.onParked, record, record.outcome)
      return { id: record.id, location: this.#deps.locate(record.id) }
    } catch (error) {
      this.#news.tellRefused(call, (error as Error).message)
      return null
    }
  }

  takeBack(settings: ParkSettings, id: string): void {
    this.#quietly(this.#shelfOf(settings).store?.drop(id))
  }

  succeeded(settings: ParkSettings, call: Sameness): void {
    const cancelled = this.#shelfOf(settings).store?.cancel(withKeyDigest(call))
    this.#quietly(
      cancelled?.then(records => records.forEach(record => void this.#news.tell(record, 'cancelled', null))),
    )
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
      (record, body) => this.#deliver(record, body, shelf),
      text => this.#deps.sink.emit({ type: 'notice', level: 'error', message: text }),
    )
    this.#shelves.set(location, shelf)
    return shelf
  }

  async #recordOf(call: ParkCall): Promise<ParkedRecord> {
    const { settings, upstream, route, method, path, headers, body, outcome, traceId, retryAfterMs } = call
    const nowMs = this.#deps.clock.wallMs()
    const id = newEntryId(nowMs)
    const key = settings.keyFile === null ? null : await this.#keys.get(settings.keyFile)
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

  async #deliver(record: ParkedRecord, body: Uint8Array, { store }: Shelf): Promise<Verdict> {
    const target = replaces(record.method) ? `${record.upstream} ${record.method} ${record.path}` : record.id
    // Two at a time would arrive in any order, and the older one could be the last.
    if (this.#busy.has(target)) return this.#postponed(BUSY_PAUSE_MS, 'another one for its target is under way')
    this.#busy.add(target)
    try {
      const verdict = await this.#verdictOn(record, body)
      if (verdict.next === 'delivered') await this.#voidOlder(store, record)
      const apartMs = (store?.usage().waiting ?? 0) * POSTPONED_APART_MS * (0.5 + this.#deps.random())
      return verdict.next === 'later' && !verdict.counted
        ? this.#postponed(Math.max(apartMs, verdict.dueAtMs - this.#deps.clock.wallMs()), verdict.why)
        : verdict
    } finally {
      this.#busy.delete(target)
    }
  }

  async #verdictOn(record: ParkedRecord, body: Uint8Array): Promise<Verdict> {
    const { clock, random } = this.#deps
    const settings = this.#settingsOf(record)
    const { parkedAtMs, attempts, conditional, key, byHand = false } = record
    const facts = { parkedAtMs, attempts, conditional, keyed: key !== null, byHand }
    const verdict =
      verdictUnsent(facts, settings, body.byteLength === record.bodyBytes, clock.wallMs()) ??
      verdictOn(await this.#send(record, body, settings), facts, settings, clock.wallMs(), random)
    const after = { ...record, attempts: attempts + (verdict.next === 'delivered' || verdict.counted ? 1 : 0) }
    if (verdict.next === 'delivered') this.#news.tell(after, 'delivered', `status ${verdict.status}`)
    else if (verdict.next === 'dead') this.#news.tell(after, 'dead', verdict.why)
    else if (verdict.counted) this.#news.tell({ ...after, dueAtMs: verdict.dueAtMs }, 'failed', verdict.why)
    if (verdict.next === 'dead') this.#news.hook('dead', settings.onDead, after, verdict.why)
    return verdict
  }

  #postponed(delayMs: number, why: string): Verdict {
    return { next: 'later', dueAtMs: this.#deps.clock.wallMs() + delayMs, counted: false, why }
  }

  /** A redelivery is a success like any other. */
  async #voidOlder(store: ParkStore | null, { id, upstream, method, path, key, arrivedAtMs }: ParkedRecord) {
    const cancelled = store?.cancel({ upstream, method, path, key, arrivedAtMs }, id).catch(() => [])
    for (const record of (await cancelled) ?? []) this.#news.tell(record, 'cancelled', null)
  }

  async #send(record: ParkedRecord, body: Uint8Array, { keyFile }: ParkSettings): Promise<Redelivery> {
    const { method, path, upstream } = record
    try {
      const headers = await this.#keys.open(record.headers, record.id, [keyFile, record.settings.keyFile])
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

  #quietly(work: Promise<unknown> | undefined): void {
    work?.catch(() => undefined)
  }
}

const FULL = 'the store is full'
