import type { Clock } from '../clock/clock.js'

/** What draining needs to know of the calls. */
export interface DrainSubject {
  /** Calls not yet answered. */
  readonly active: number
  /** When the last call came or ended, monotonic ms. */
  readonly lastCallMs: number
  /** Waits end with their error, new calls are refused. */
  drain(): void
}

/** Without a call for so long, the app is taken to be done, unless it is told otherwise. */
export const QUIET_MS = 2000
const LOOK_EVERY_MS = 50
/** After the period answers of ended waits still have to leave. */
const LAST_WORDS_MS = 250

/**
 * Resolves when the process may end. An egress proxy must outlive its app's last calls: everything goes on as before
 * until no call has come for `quietMs`, at the latest until the period is over.
 */
export function drained(subject: DrainSubject, clock: Clock, periodMs: number, quietMs: number): Promise<void> {
  const startMs = clock.nowMs()
  const endMs = startMs + periodMs
  return new Promise(resolve => {
    const look = (): void => {
      const nowMs = clock.nowMs()
      const quietSinceMs = Math.max(subject.lastCallMs, startMs)
      if (subject.active === 0 && nowMs - quietSinceMs >= quietMs) return resolve()
      if (nowMs < endMs) {
        clock.after(LOOK_EVERY_MS, look)
        return
      }
      subject.drain()
      clock.after(LAST_WORDS_MS, resolve)
    }
    look()
  })
}
