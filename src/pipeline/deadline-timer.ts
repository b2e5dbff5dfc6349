import type { Clock, Timer } from '../clock/clock.js'

/** The one deadline of a request. `Infinity` = none runs. */
export class DeadlineTimer {
  atMs = Number.POSITIVE_INFINITY
  /** When its time began, kept when it is cleared; `null` = not yet. */
  #sinceMs: number | null = null
  readonly #clock: Clock
  readonly #onDue: () => void
  #timer: Timer | null = null

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock
    this.#onDue = onDue
  }

  start(durationMs: number, nowMs: number): void {
    this.clear()
    this.#sinceMs = nowMs
    this.atMs = nowMs + durationMs
    if (durationMs !== Number.POSITIVE_INFINITY) this.#timer = this.#clock.after(durationMs, this.#onDue)
  }

  /** Since its start; 0 before. */
  elapsedMs(nowMs: number): number {
    return this.#sinceMs === null ? 0 : nowMs - this.#sinceMs
  }

  clear(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.atMs = Number.POSITIVE_INFINITY
  }
}
