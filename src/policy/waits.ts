/** How long a call may have to wait before each of its retries. */
import { backoffRangeMs, MAX_DELAY_MS } from '../core/backoff.js'
import type { RetrySettings } from '../core/snapshot.js'

interface Range {
  readonly minMs: number
  readonly maxMs: number
}

export interface WaitBefore extends Range {
  /** After a 429. */
  readonly throttled: Range
  /** A hint at its longest included. */
  readonly longestMs: number
}

/** Waits before retries `from` to `to` (1-based), which share their ranges; ms. */
export interface WaitRange extends Range {
  readonly from: number
  readonly to: number
  /** After a 429. */
  readonly throttled: Range
}

/**
 * One for each retry. With decorrelated jitter a wait grows from the one before, whatever that was made of.
 * @param hintMs the longest `Retry-After` that is obeyed; 0 = none
 */
export function waitsBefore(retry: RetrySettings, maxAttempts: number, hintMs: number): WaitBefore[] {
  const waits: WaitBefore[] = []
  for (let n = 1; n < maxAttempts; n++) {
    const previousMs = waits.at(-1)?.longestMs ?? null
    const own = backoffRangeMs(retry.backoff, n, previousMs)
    const throttled = backoffRangeMs(retry.throttled, n, previousMs)
    const longestMs = Math.min(MAX_DELAY_MS, hintMs + Math.max(own.maxMs, throttled.maxMs))
    waits.push({ ...own, throttled, longestMs })
  }
  return waits
}

/** Own back-offs alone, none longer than the whole call may take. */
export function waitRanges(retry: RetrySettings, maxAttempts: number, totalMs: number): WaitRange[] {
  const ranges: WaitRange[] = []
  waitsBefore(retry, maxAttempts, 0).forEach((before, index) => {
    const n = index + 1
    const wait = { ...within(before, totalMs), throttled: within(before.throttled, totalMs) }
    const last = ranges.at(-1)
    if (last !== undefined && sameWait(last, wait)) ranges[ranges.length - 1] = { ...last, to: n }
    else ranges.push({ from: n, to: n, ...wait })
  })
  return ranges
}

function within({ minMs, maxMs }: Range, mostMs: number): Range {
  return { minMs: Math.min(minMs, mostMs), maxMs: Math.min(maxMs, mostMs) }
}

function sameWait(a: Omit<WaitRange, 'from' | 'to'>, b: Omit<WaitRange, 'from' | 'to'>): boolean {
  return sameRange(a, b) && sameRange(a.throttled, b.throttled)
}

function sameRange(a: Range, b: Range): boolean {
  return a.minMs === b.minMs && a.maxMs === b.maxMs
}
