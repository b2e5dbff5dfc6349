import type { ParkedStatus, ParkSettings, Sameness } from '../core/park.js'
import type { Snapshot } from '../core/snapshot.js'
import type { ParkCall, Parked, Parking } from '../pipeline/parking.js'
import type { ParkingDeps, ParkingLot } from './parking-lot.js'
import type { ParkedCalls } from './views.js'

/** A start does not wait longer for a store. */
const OPENING_PATIENCE_MS = 5000

/** Parking that is loaded once a policy parks. */
export class LateParking implements Parking {
  readonly #deps: ParkingDeps
  #lot: ParkingLot | null = null
  #loading: Promise<void> | null = null
  #closed = false

  constructor(deps: ParkingDeps) {
    this.#deps = deps
  }

  /** Resolves once every store that is named was opened, or tried to be, or that takes too long. */
  reconcile(snapshot: Snapshot): Promise<void> {
    if (this.#lot === null && !parks(snapshot)) return Promise.resolve()
    this.#loading ??= this.#load()
    const tried = this.#loading.then(() => this.#lot?.reconcile(snapshot))
    return new Promise(resolve => {
      const timer = this.#deps.clock.after(OPENING_PATIENCE_MS, resolve)
      void tried.then(() => {
        timer.cancel()
        resolve()
      })
    })
  }

  /** `null` while nothing parks. */
  get calls(): ParkedCalls | null {
    return this.#lot?.calls ?? null
  }

  status(): ParkedStatus | undefined {
    return this.#lot?.status()
  }

  hasRoom(settings: ParkSettings, call: Pick<ParkCall, 'upstream' | 'route'>, bytes: number): boolean {
    return this.#lot?.hasRoom(settings, call, bytes) ?? false
  }

  async park(call: ParkCall): Promise<Parked | null> {
    return (await this.#lot?.park(call)) ?? null
  }

  takeBack(settings: ParkSettings, id: string): void {
    this.#lot?.takeBack(settings, id)
  }

  succeeded(settings: ParkSettings, call: Sameness): void {
    this.#lot?.succeeded(settings, call)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#loading
    await this.#lot?.close()
  }

  async #load(): Promise<void> {
    const { ParkingLot } = await import('./parking-lot.js')
    if (!this.#closed) this.#lot = new ParkingLot(this.#deps)
  }
}

function parks({ upstreams }: Snapshot): boolean {
  for (const { policy, routes } of upstreams.values()) {
    if (policy.park !== null || routes.some(route => route.policy.park !== null)) return true
  }
  return false
}
