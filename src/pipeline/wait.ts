import type { Clock, Timer } from '../clock/clock.js'
import type { Waiter } from './guard.js'
import type { Lane } from './lane.js'

/** `backoff` before the next attempt · `slot` for the limit · `line` for the gate or the breaker. */
export type WaitPlace = 'backoff' | 'slot' | 'line'

/** One request's stay in the waiting room: counted, bounded and timed. */
export class Wait {
  place: WaitPlace | null = null
  /** When the back-off ends; `Infinity` in the other places. */
  wakeAtMs = Number.POSITIVE_INFINITY
  /** Time spent waiting so far, ms. */
  totalMs = 0
  readonly #clock: Clock
  readonly #lane: Lane
  readonly #member: Waiter
  #sinceMs = 0
  #bytes = 0
  #timer: Timer | null = null

  constructor(clock: Clock, lane: Lane, member: Waiter) {
    this.#clock = clock
    this.#lane = lane
    this.#member = member
  }

  /** `false` when the room is full. `bytes` of body stay in memory meanwhile. */
  enter(place: WaitPlace, bytes: number): boolean {
    this.leave()
    if (!this.#lane.limiter.enter(bytes)) return false
    this.place = place
    this.#bytes = bytes
    this.#sinceMs = this.#clock.nowMs()
    this.#lane.guard.waiters.add(this.#member)
    return true
  }

  /** Calls `onWake` after the back-off, unless the wait ends before. */
  wakeAfter(delayMs: number, onWake: () => void): void {
    this.wakeAtMs = this.#sinceMs + delayMs
    this.#timer = this.#clock.after(delayMs, onWake)
  }

  leave(): void {
    if (this.place === null) return
    this.place = null
    this.#timer?.cancel()
    this.#timer = null
    this.wakeAtMs = Number.POSITIVE_INFINITY
    this.totalMs += this.#clock.nowMs() - this.#sinceMs
    this.#lane.limiter.leave(this.#bytes)
    this.#lane.guard.waiters.delete(this.#member)
  }
}
