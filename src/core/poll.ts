import type { BackoffSettings } from './backoff.js'
import { leftMs, tightened } from './deadline.js'
import { headerValue } from './headers.js'
import { pointed } from './json-pointer.js'
import { preferredWaitMs } from './prefer.js'

/** What a JSON document must say. */
export interface JsonCondition {
  /** The keys of the pointer. */
  readonly keys: readonly string[]
  readonly test:
    | { readonly kind: 'in'; readonly values: readonly (string | number | boolean)[] }
    /** Something stands there, or nothing shall. */
    | { readonly kind: 'exists'; readonly wanted: boolean }
}

/** When a poll is done; with both, both must hold. */
export interface PollUntil {
  /** `null` = any from 200 to 299. */
  readonly statuses: ReadonlySet<number> | null
  readonly json: JsonCondition | null
}

export interface PollSettings {
  readonly until: PollUntil
  /** Between an answer and the next poll. */
  readonly backoff: BackoffSettings
  /** From the arrival of the request to its last poll. */
  readonly maxWaitMs: number
}

/** Its answer can be asked for again and again, and can tell what is waited for. */
export function mayPoll({ until }: PollSettings, method: string, hasBody: boolean): boolean {
  return !hasBody && (method === 'GET' || (method === 'HEAD' && until.json === null))
}

/** From the arrival of the request to its last poll, ms. `headers`: the app's, flat; it may only shorten the time. */
export function pollTimeMs({ maxWaitMs }: PollSettings, headers: readonly string[]): number {
  const ms = tightened(maxWaitMs, headerValue(headers, 'forbear-timeout-ms'))
  return Math.min(ms, preferredWaitMs(headers) ?? ms)
}

/**
 * What a status says of a poll. `judge`: done if the document says so, too · `pending`: not yet · `final`: it will never
 * be done, or what comes next is not for us to ask.
 */
export type StatusVerdict = 'done' | 'judge' | 'pending' | 'final'

/** 4xx that mean "later" rather than "no" (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4). */
const LATER: ReadonlySet<number> = new Set([408, 425, 429])

export function judgeStatus({ statuses, json }: PollUntil, status: number): StatusVerdict {
  const good = status >= 200 && status <= 299
  if (statuses === null ? good : statuses.has(status)) return json === null ? 'done' : 'judge'
  return good || LATER.has(status) ? 'pending' : 'final'
}

/** `application/json`, or another type with that syntax (RFC 6839 §3.1). */
export function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/([^;\s]+\+)?json\s*(;|$)/i.test(contentType)
}

/** @param document parsed; `undefined` = what came was none */
export function holds({ keys, test }: JsonCondition, document: unknown): boolean {
  if (document === undefined) return false
  const value = pointed(document, keys)
  return test.kind === 'exists' ? (value !== undefined) === test.wanted : test.values.some(wanted => wanted === value)
}

export interface PollWait {
  /** Own back-off, jitter included. */
  readonly ownMs: number
  /** The shortest wait that is worth a poll. */
  readonly leastMs: number
  /** `Retry-After` of the last answer; 0 = none. */
  readonly hintMs: number
  readonly nowMs: number
  /** When the polling ends. */
  readonly endMs: number
  /** Of successes; `null` = not known. */
  readonly medianMs: number | null
}

/** Polls that were told the same `Retry-After` shall not come all at once. */
const HINT_JITTER = 0.1

/**
 * The wait before the next poll, or `null` when there is no time for one. Never earlier than told. The last wait is cut
 * so that the end of the polling is looked at once more.
 * @param random uniform in [0, 1)
 */
export function pollWaitMs(wait: PollWait, random: () => number): number | null {
  const { ownMs, leastMs, hintMs, nowMs, endMs, medianMs } = wait
  const mostMs = leftMs(nowMs, endMs, medianMs)
  if (Math.max(leastMs, hintMs) > mostMs) return null
  const toldMs = hintMs === 0 ? 0 : hintMs * (1 + HINT_JITTER * random())
  return Math.min(mostMs, Math.max(leastMs, ownMs, toldMs))
}
