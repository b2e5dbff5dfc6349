import { SlidingCounter } from './sliding-counter.js'

const BINS = 10

/** Counts events over a sliding window of ten bins and knows how far apart the first and the last of them are. */
export class SpanCounter {
  #counter: SlidingCounter
  #windowMs: number
  /** Of the run of events without a gap as long as the window. */
  #sinceMs = 0
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(windowMs: number) {
    this.#windowMs = windowMs
    this.#counter = new SlidingCounter(BINS, windowMs / BINS)
  }

  add(nowMs: number): void {
    if (this.#counter.total(nowMs) === 0) this.#sinceMs = nowMs
    this.#counter.add(nowMs)
    this.#lastMs = nowMs
  }

  total(nowMs: number): number {
    return this.#counter.total(nowMs)
  }

  /** From the first to the last event, ms, at most the window; 0 without events. */
  spanMs(nowMs: number): number {
    if (this.#counter.total(nowMs) === 0) return 0
    return Math.min(this.#lastMs - this.#sinceMs, this.#windowMs)
  }

  /** Keeps what a window of another length still holds. */
  resize(windowMs: number, nowMs: number): void {
    if (windowMs === this.#windowMs) return
    this.#counter = this.#counter.rebinned(windowMs / BINS, nowMs)
    this.#windowMs = windowMs
  }
}
