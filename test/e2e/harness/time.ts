/** Waiting in real time. All values in ms of `performance.now()`. */
import { setTimeout as sleep } from 'node:timers/promises'

export { sleep }

export const nowMs = (): number => performance.now()

/**
 * Polls `probe` until it gives something truthy and returns that; throws with `what` after `withinMs`. The default is how
 * long a machine with better things to do may take, and says nothing of how long anything should.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  withinMs = 15_000,
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const deadlineMs = nowMs() + withinMs
  for (;;) {
    const value = await probe()
    if (value) return value as Exclude<T, undefined | null | false | 0 | ''>
    if (nowMs() > deadlineMs) throw new Error(`${what}: not within ${withinMs} ms`)
    await sleep(15)
  }
}

/** `promise`, or a failure that says `what` after `withinMs`. */
export async function within<T>(what: string, promise: Promise<T>, withinMs: number): Promise<T> {
  const cancel = new AbortController()
  const late = sleep(withinMs, null, { signal: cancel.signal }).then(
    () => Promise.reject(new Error(`${what}: not within ${withinMs} ms`)),
    () => new Promise<never>(() => {}),
  )
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel.abort()
  }
}

/** The most of the given instants that fall into any sliding window; `timesMs` in ascending order. */
export function mostInAny(windowMs: number, timesMs: readonly number[]): number {
  let most = 0
  let from = 0
  for (let to = 0; to < timesMs.length; to++) {
    while ((timesMs[to] ?? 0) - (timesMs[from] ?? 0) >= windowMs) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}

/** Uniform numbers in [0, 1) that are the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
