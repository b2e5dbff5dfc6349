/** How long an API server waits for a review. */

/** `timeoutSeconds` of a configuration that does not say it is 10, and 30 at most. */
const DEFAULT_MS = 10_000
const MOST_MS = 30_000
/** An answer has to travel, too. */
const RESERVE_MS = 500
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** Of `?timeout=5s`, as Go writes durations; with less than twice the reserve, half of it. */
export function reviewTimeMs(timeout: string | null): number {
  const told = timeout === null ? null : goDurationMs(timeout)
  const waitsMs = Math.min(told ?? DEFAULT_MS, MOST_MS)
  return Math.max(waitsMs / 2, waitsMs - RESERVE_MS)
}

function goDurationMs(text: string): number | null {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s))+$/.test(text)) return null
  let ms = 0
  for (const [, amount, unit = ''] of text.matchAll(/([\d.]+)(h|ms|m|s)/g)) ms += Number(amount) * (UNIT_MS[unit] ?? 0)
  return ms > 0 ? ms : null
}
