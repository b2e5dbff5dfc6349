export type Jitter =
  | { readonly kind: 'none' | 'full' | 'equal' | 'decorrelated' }
  | { readonly kind: 'range'; readonly low: number; readonly high: number }

export interface BackoffSettings {
  readonly kind: 'exponential' | 'linear' | 'fixed'
  readonly baseMs: number
  readonly factor: number
  readonly capMs: number
  readonly jitter: Jitter
}

/** A longer timer fires at once (2³¹−1 ms is the most Node's timers hold). */
export const MAX_DELAY_MS = 2 ** 31 - 1

/**
 * Wait before a retry, ms, 0 … 2³¹−1, fractional. The cap is applied before the jitter, so a range above 1 may pass it.
 * @param retry 1-based: 1 is the wait before the second attempt
 * @param previousMs the wait before this one (decorrelated jitter grows from it), `null` before the first retry
 * @param random uniform in [0, 1)
 */
export function backoffDelayMs(
  s: BackoffSettings,
  retry: number,
  previousMs: number | null,
  random: () => number,
): number {
  const v = plainDelayMs(s, retry)
  switch (s.jitter.kind) {
    case 'none':
      return clipped(v)
    case 'full':
      return clipped(v * random())
    case 'equal':
      return clipped(v / 2 + (v / 2) * random())
    case 'decorrelated':
      return clipped(Math.min(s.capMs, between(s.baseMs, 3 * (previousMs ?? s.baseMs), random())))
    case 'range':
      return clipped(v * between(s.jitter.low, s.jitter.high, random()))
  }
}

/**
 * Shortest and longest wait that `backoffDelayMs` may return before this retry, ms.
 * @param previousMaxMs the longest that the wait before this one may have been; default: as long as these settings made it
 */
export function backoffRangeMs(
  s: BackoffSettings,
  retry: number,
  previousMaxMs: number | null = null,
): { minMs: number; maxMs: number } {
  const v = plainDelayMs(s, retry)
  switch (s.jitter.kind) {
    case 'none':
      return { minMs: clipped(v), maxMs: clipped(v) }
    case 'full':
      return { minMs: 0, maxMs: clipped(v) }
    case 'equal':
      return { minMs: clipped(v / 2), maxMs: clipped(v) }
    case 'decorrelated': {
      const longest = previousMaxMs === null ? product(s.baseMs, 3 ** retry) : Math.max(s.baseMs, 3 * previousMaxMs)
      return { minMs: clipped(Math.min(s.capMs, s.baseMs)), maxMs: clipped(Math.min(s.capMs, longest)) }
    }
    case 'range':
      return { minMs: clipped(v * s.jitter.low), maxMs: clipped(v * s.jitter.high) }
  }
}

function plainDelayMs(s: BackoffSettings, retry: number): number {
  switch (s.kind) {
    case 'exponential':
      return Math.min(s.capMs, product(s.baseMs, s.factor ** (retry - 1)))
    case 'linear':
      return Math.min(s.capMs, s.baseMs * retry)
    case 'fixed':
      return Math.min(s.capMs, s.baseMs)
  }
}

/** A power may overflow to Infinity, and 0 · Infinity would be NaN. */
function product(baseMs: number, power: number): number {
  return baseMs === 0 ? 0 : baseMs * power
}

/** An upper bound under the lower one (a previous wait under a third of the base) gives the lower. */
function between(low: number, high: number, u: number): number {
  return high > low ? low + (high - low) * u : low
}

function clipped(delayMs: number): number {
  return Math.min(MAX_DELAY_MS, Math.max(0, delayMs))
}
