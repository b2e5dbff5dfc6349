import type { Clock, Timer } from '../../../src/clock/clock.js'

/** Real time, for tests on real sockets. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs: number, fn: () => void): Timer {
    const handle = setTimeout(fn, Math.min(delayMs, 2 ** 31 - 1))
    handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}
