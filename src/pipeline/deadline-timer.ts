import type { Clock, Timer } from '../clock/clock.js'

/** The one deadline of a request. `Infinity` = none runs. */
export class DeadlineTimer {
  atMs = Number.POSITIVE_INFINITY
  readonly #clock: Clock
  readonly #onDue: () => void
  #timer: Timer | null = null

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock
    this.#onDue = onDue
  }

  set(atMs: number, nowMs: number): void {
    this.clear()
    this.atMs = atMs
    if (atMs !== Number.POSITIVE_INFINITY) this.#timer = this.#clock.after(Math.max(0, atMs - nowMs), this.#onDue)
  }

  clear(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.atMs = Number.POSITIVE_INFINITY
  }
}
