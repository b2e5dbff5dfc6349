import { MAX_DELAY_MS } from './backoff.js'

const DIGITS = /^\d+$/
/** An attempt that can get less than this is not worth starting. */
const LEAST_ATTEMPT_MS = 50

/**
 * A limit of the policy (`Infinity` = none), and what the app's field of the same meaning makes of it: it may only
 * tighten. Ignored when missing or not digits. 0 counts as 1, since a time that has run out on the way must not be taken
 * for "no limit"; more than a timer holds counts as 2³¹−1.
 */
export function tightened(limit: number, field: string | undefined): number {
  if (field === undefined || !DIGITS.test(field)) return limit
  return Math.min(limit, MAX_DELAY_MS, Math.max(1, Number(field)))
}

/**
 * Whether an attempt after `delayMs` has a chance: as long as half of the successes take, and never under 50 ms.
 * @param deadlineMs on the clock of `nowMs`; `Infinity` = none
 * @param medianMs of successes; `null` = not known
 */
export function fits(delayMs: number, nowMs: number, deadlineMs: number, medianMs: number | null): boolean {
  return nowMs + delayMs + Math.max(LEAST_ATTEMPT_MS, medianMs ?? 0) <= deadlineMs
}

/** The longest wait after which an attempt still has such a chance, ms; negative = it has none even now. */
export function leftMs(nowMs: number, deadlineMs: number, medianMs: number | null): number {
  return deadlineMs - nowMs - Math.max(LEAST_ATTEMPT_MS, medianMs ?? 0)
}
