import { MAX_DELAY_MS } from './backoff.js'

const DIGITS = /^\d+$/
/** An attempt that can get less than this is not worth starting. */
const LEAST_ATTEMPT_MS = 50

/**
 * `forbear-timeout-ms`: the time the app still has, 1 … 2³¹−1 ms; `null` when missing or not digits. 0 counts as 1: a
 * budget that has run out on the way must not be taken for "no limit". More than a timer holds counts as 2³¹−1.
 */
export function parseTimeoutHeader(value: string | undefined): number | null {
  return parsePositive(value)
}

/** `forbear-max-attempts`: attempts in all, at least 1 (0 counts as 1); `null` when missing or not digits. */
export function parseMaxAttemptsHeader(value: string | undefined): number | null {
  return parsePositive(value)
}

/** The app's header (parsed) may only tighten the policy's total; `Infinity` = none. */
export function effectiveTotalMs(policyMs: number, headerMs: number | null): number {
  return headerMs === null ? policyMs : Math.min(policyMs, headerMs)
}

/** The app's header (parsed) may only lower the policy's attempts. */
export function effectiveMaxAttempts(policyAttempts: number, headerAttempts: number | null): number {
  return headerAttempts === null ? policyAttempts : Math.min(policyAttempts, headerAttempts)
}

/**
 * Whether an attempt after `delayMs` has a chance: as long as half of the successes take, and never under 50 ms.
 * @param deadlineMs on the clock of `nowMs`; `Infinity` = none
 * @param medianMs of successes; `null` = not known
 */
export function fits(delayMs: number, nowMs: number, deadlineMs: number, medianMs: number | null): boolean {
  return nowMs + delayMs + Math.max(LEAST_ATTEMPT_MS, medianMs ?? 0) <= deadlineMs
}

function parsePositive(value: string | undefined): number | null {
  if (value === undefined || !DIGITS.test(value)) return null
  return Math.min(MAX_DELAY_MS, Math.max(1, Number(value)))
}
