/** The port through which everything but sockets reads time and waits. */
export interface Clock {
  /** Monotonic, ms, fractional. */
  nowMs(): number
  /** Unix time, ms. */
  wallMs(): number
  /**
   * Calls `fn` once after `delayMs` (≥ 0, clipped to 2³¹−1). The timer never keeps the process alive by itself.
   */
  after(delayMs: number, fn: () => void): Timer
}

export interface Timer {
  cancel(): void
}
