import type { Clock, Timer } from './clock.js'
import { MAX_DELAY_MS } from './system-clock.js'

// Taken at load, so that a test which fakes the global timers does not stop this clock.
const nextTurn = globalThis.setImmediate

interface Entry {
  readonly atMs: number
  readonly fn: () => void
}

/** Time that moves only when told to. Starts at `nowMs` 0; same calls, same order, every run. */
export class VirtualClock implements Clock {
  readonly #wallStartMs: number
  #nowMs = 0
  /** By time due, then by order of `after`. */
  readonly #entries: Entry[] = []

  /** `wallMs`: Unix time at `nowMs` 0. */
  constructor(wallMs = 0) {
    this.#wallStartMs = wallMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  wallMs(): number {
    return this.#wallStartMs + this.#nowMs
  }

  after(delayMs: number, fn: () => void): Timer {
    const entry = { atMs: this.#nowMs + Math.min(Math.max(delayMs, 0), MAX_DELAY_MS), fn }
    this.#entries.splice(this.#indexAfter(entry.atMs), 0, entry)
    return { cancel: () => this.#cancel(entry) }
  }

  /** Timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#entries.length
  }

  /**
   * Moves time on by `ms` and fires what comes due on the way, each timer at its own time. All promise
   * reactions run before the first timer, between two timers and after the last one.
   */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#nowMs + ms
    await settle()
    for (let next = this.#takeDue(targetMs); next !== null; next = this.#takeDue(targetMs)) {
      this.#nowMs = next.atMs
      next.fn()
      await settle()
    }
    this.#nowMs = targetMs
  }

  #takeDue(targetMs: number): Entry | null {
    const next = this.#entries[0]
    if (next === undefined || next.atMs > targetMs) return null
    this.#entries.shift()
    return next
  }

  #cancel(entry: Entry): void {
    const index = this.#entries.indexOf(entry)
    if (index >= 0) this.#entries.splice(index, 1)
  }

  #indexAfter(atMs: number): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle]?.atMs ?? 0) <= atMs) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A turn of the event loop: by then every pending promise reaction, however deep the chain, has run. */
function settle(): Promise<void> {
  return new Promise(resolve => nextTurn(resolve))
}
