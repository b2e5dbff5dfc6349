import { tightened } from '../core/deadline.js'
import { headerValue, headerValues } from '../core/headers.js'
import { type Repeatability, repeatability } from '../core/idempotency.js'
import { incomingMark } from '../core/layers.js'
import type { EffectivePolicy } from '../core/snapshot.js'
import type { RawHeaders } from './ports.js'

/** What the app's own fields say about how its request may be treated; read once, at arrival. */
export interface RequestFacts {
  readonly repeat: Repeatability
  /** The policy's total, tightened by `forbear-timeout-ms`. */
  readonly totalMs: number
  /** The policy's attempts, tightened by `forbear-max-attempts`. */
  readonly maxAttempts: number
  /** It is itself a re-send of the layer above: not multiplied again here. */
  readonly layered: boolean
  /** The number of the attempt that the layer above told, if it is a re-send. */
  readonly incomingAttempt: number | null
  /** The same by its baggage. */
  readonly incomingResend: number | null
  /** 32 hex digits, or `null`. */
  readonly traceId: string | null
}

export function readRequestFacts(
  method: string,
  headers: RawHeaders,
  policy: EffectivePolicy,
  wallNowMs: number,
): RequestFacts {
  const mark = incomingMark(headers, wallNowMs)
  return {
    repeat: repeatability(method, headers, policy.retry.idempotency),
    totalMs: tightened(policy.timeouts.totalMs, headerValue(headers, 'forbear-timeout-ms')),
    maxAttempts: tightened(policy.retry.maxAttempts, headerValue(headers, 'forbear-max-attempts')),
    layered: mark.marked,
    incomingAttempt: mark.attempt,
    incomingResend: mark.resend,
    traceId: readTraceId(headers),
  }
}

/** The trace id of a W3C `traceparent` (https://www.w3.org/TR/trace-context/ §3.2). */
function readTraceId(headers: RawHeaders): string | null {
  const value = headerValue(headers, 'traceparent')
  if (value === undefined || value.length < 55) return null
  const id = value.slice(3, 35)
  return /^[0-9a-f]{32}$/.test(id) ? id : null
}

/** All `baggage` fields as one list, or `undefined`. */
export function baggageOf(headers: RawHeaders): string | undefined {
  const values = headerValues(headers, 'baggage')
  return values.length === 0 ? undefined : values.join(',')
}
