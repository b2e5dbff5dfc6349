/** Free repeats per second after a keep-alive connection died under a request … */
const PER_SECOND = 1
/** … and how many may be saved up. */
const BURST = 5
/** A connection idle for less was not closed for being idle: its death is the upstream's failure. */
export const STALE_IDLE_MS = 100

/**
 * The upstream may close an idle connection at the very moment we use it (RFC 9112 §9.3.1, nodejs/node#47130). One
 * repeat on a fresh connection is then free, but only so many: a token bucket keeps a crashing upstream from being
 * called twice for everything.
 */
export class StaleAllowance {
  #tokens = BURST
  #atMs: number

  constructor(nowMs: number) {
    this.#atMs = nowMs
  }

  tryTake(nowMs: number): boolean {
    this.#tokens = Math.min(BURST, this.#tokens + ((nowMs - this.#atMs) / 1000) * PER_SECOND)
    this.#atMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
