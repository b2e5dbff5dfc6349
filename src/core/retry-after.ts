import { headerValue } from './headers.js'
import { parseHttpDate } from './http-date.js'

const DIGITS = /^\d+$/

/**
 * How long the upstream asks to wait (RFC 9110 §10.2.3): ms ≥ 0 and finite, or `null` without a valid `Retry-After`.
 * The first field counts. A date is measured against the response's own `Date`, so that a skewed clock does not
 * matter, else against `wallNowMs`. `Age` (time spent in a cache) is subtracted, but not from a date measured
 * against our clock: that time has passed on it already.
 */
export function retryAfterMs(headers: readonly string[], wallNowMs: number): number | null {
  const value = headerValue(headers, 'retry-after')
  if (value === undefined) return null
  const seconds = digitsSeconds(value)
  if (seconds !== null) return sinceAge(seconds * 1000, headers)
  const atMs = parseHttpDate(value, wallNowMs)
  if (atMs === null) return null
  const sentMs = parseHttpDate(headerValue(headers, 'date') ?? '', wallNowMs)
  if (sentMs === null) return Math.max(0, atMs - wallNowMs)
  return sinceAge(atMs - sentMs, headers)
}

function sinceAge(waitMs: number, headers: readonly string[]): number {
  const ageSeconds = digitsSeconds(headerValue(headers, 'age') ?? '') ?? 0
  return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, waitMs) - ageSeconds * 1000)
}

/** Digits only: `Number` alone would take signs, exponents, hex and blanks. */
function digitsSeconds(value: string): number | null {
  return DIGITS.test(value) ? Number(value) : null
}
