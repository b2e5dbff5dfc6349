import type { Clock } from '../../../src/clock/clock.js'
import type { ParkSettings, Sameness } from '../../../src/core/park.js'
import type { ParkCall, Parked, Parking } from '../../../src/pipeline/parking.js'

export const PARK: ParkSettings = {
  accept: 'prefer',
  store: '/nowhere',
  firstMs: 60_000,
  everyMs: 3_600_000,
  maxAgeMs: 43_200_000,
  maxAttempts: 24,
  maxBytes: 1_000_000,
  onParked: null,
  onDead: null,
  keyFile: null,
  secretHeaders: [],
}

/** A store that takes so long and may fail. */
export class ScriptedParking implements Parking {
  readonly taken: ParkCall[] = []
  readonly takenBack: string[] = []
  readonly successes: Sameness[] = []
  room = true
  works = true
  takesMs = 5
  clock: Clock | null = null

  hasRoom(): boolean {
    return this.room
  }

  async park(call: ParkCall): Promise<Parked | null> {
    this.taken.push(call)
    await new Promise<void>(resolve => this.clock?.after(this.takesMs, resolve))
    const id = `e${this.taken.length}`
    return this.works ? { id, location: `http://admin/parked/${id}` } : null
  }

  takeBack(_: ParkSettings, id: string): void {
    this.takenBack.push(id)
  }

  succeeded(_: ParkSettings, call: Sameness): void {
    this.successes.push(call)
  }
}
