import type { Clock, Timer } from '../clock/clock.js'

/** Quiet time that ends a change: a swap of a mounted ConfigMap sends half a dozen events, an editor's save two. */
export const SETTLE_MS = 150
/** A directory that never comes to rest is read at least this often. */
export const SETTLE_AT_MOST_MS = 1000

/** Many hints in, one call out when they have come to rest. */
export class Settle<Why> {
  readonly #clock: Clock
  readonly #fire: (why: Why) => void
  #timer: Timer | null = null
  #firstMs = 0
  #why: Why | null = null

  constructor(clock: Clock, fire: (why: Why) => void) {
    this.#clock = clock
    this.#fire = fire
  }

  /** `why` of the first hint is the one that counts. */
  hint(why: Why): void {
    const nowMs = this.#clock.nowMs()
    if (this.#timer === null) {
      this.#firstMs = nowMs
      this.#why = why
    }
    this.#timer?.cancel()
    const delayMs = Math.min(SETTLE_MS, Math.max(0, this.#firstMs + SETTLE_AT_MOST_MS - nowMs))
    this.#timer = this.#clock.after(delayMs, () => this.#onSettled())
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#timer = null
  }

  #onSettled(): void {
    this.#timer = null
    if (this.#why !== null) this.#fire(this.#why)
  }
}
