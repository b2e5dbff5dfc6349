/** What keeps layers of retries from multiplying, and a request from going round in circles. */
import { headerValues } from './headers.js'

/** How a request arrived. */
export interface IncomingMark {
  /** Another layer has sent this request before: do not multiply its attempts. */
  readonly marked: boolean
  /** n > 1 of `forbear-attempt`, else `null`. */
  readonly attempt: number | null
  /** n > 1 of a baggage member that has not lapsed, else `null`. */
  readonly resend: number | null
}

const UNMARKED: IncomingMark = Object.freeze({ marked: false, attempt: null, resend: null })
const MEMBER_KEY = 'forbear.resend'
const LIFETIME_S = 60
/** At most nine digits: far beyond any count of attempts, and exact. */
const COUNT = /^\d{1,9}$/
const UNIX_SECONDS = /^\d{1,12}$/
/** The third time the same sidecar sees a request; app A → B → A is no loop. */
const MAX_PASSES = 2

/** @param headers the app's, flat */
export function incomingMark(headers: readonly string[], wallNowMs: number): IncomingMark {
  const attempt = highestAttempt(headerValues(headers, 'forbear-attempt'))
  const baggage = headerValues(headers, 'baggage')
  const resend = baggage.length === 0 ? null : liveResend(baggage.join(','), wallNowMs)
  return attempt === null && resend === null ? UNMARKED : { marked: true, attempt, resend }
}

/**
 * The baggage of a re-send: every other member byte for byte, and ours with the higher of `resend` and of an incoming n
 * that has not lapsed. It holds for 60 s from `wallNowMs`.
 * @param existing all baggage fields joined by commas
 * @param resend number of the attempt, 2 or more
 */
export function outgoingBaggage(existing: string | undefined, resend: number, wallNowMs: number): string {
  const n = Math.max(resend, liveResend(existing ?? '', wallNowMs) ?? 0)
  const ours = `${MEMBER_KEY}=${n};t=${Math.floor(wallNowMs / 1000)}`
  const others = (existing ?? '').split(',').filter(member => !isOurs(member))
  return others.every(member => member.trim() === '') ? ours : `${others.join(',')},${ours}`
}

/** How often this sidecar has passed the request on already. */
function passes(viaValues: readonly string[], pseudonym: string): number {
  let count = 0
  for (const value of viaValues) {
    for (const entry of value.split(',')) {
      if (entry.trim().split(/[ \t]+/)[1] === pseudonym) count++
    }
  }
  return count
}

/** This pass would be the third. `headers`: the app's, flat. */
export function isLoop(headers: readonly string[], pseudonym: string): boolean {
  return passes(headerValues(headers, 'via'), pseudonym) >= MAX_PASSES
}

/** What to add to `Via` (RFC 9110 §7.6.3); `version` = that of the message received. */
export function viaEntry(version: string, pseudonym: string): string {
  return `${version} ${pseudonym}`
}

/** Several fields may have become one list on the way (RFC 9110 §5.3). */
function highestAttempt(values: readonly string[]): number | null {
  let highest: number | null = null
  for (const value of values) {
    for (const member of value.split(',')) {
      const n = parseResend(member.trim())
      if (n !== null && n > (highest ?? 0)) highest = n
    }
  }
  return highest
}

function liveResend(baggage: string, wallNowMs: number): number | null {
  let highest: number | null = null
  for (const member of baggage.split(',')) {
    if (!isOurs(member)) continue
    const n = memberResend(member, wallNowMs / 1000)
    if (n !== null && n > (highest ?? 0)) highest = n
  }
  return highest
}

function isOurs(member: string): boolean {
  const end = member.indexOf('=')
  return end !== -1 && member.slice(0, end).trim() === MEMBER_KEY
}

/** Both clocks may be off by as much as a mark lives. */
function memberResend(member: string, nowS: number): number | null {
  const [pair, ...properties] = member.split(';')
  const time = properties.map(property => property.trim()).find(property => property.startsWith('t='))
  const stamp = time?.slice(2) ?? ''
  if (!UNIX_SECONDS.test(stamp) || Math.abs(nowS - Number(stamp)) > LIFETIME_S) return null
  return parseResend(pair!.slice(pair!.indexOf('=') + 1).trim())
}

function parseResend(value: string): number | null {
  if (!COUNT.test(value)) return null
  const n = Number(value)
  return n > 1 ? n : null
}
