import { tightened } from '../core/deadline.js'
import { headerValue, headerValues } from '../core/headers.js'
import { isSafe, type Repeatability, repeatability } from '../core/idempotency.js'
import { incomingMark } from '../core/layers.js'
import { keyOf, mayPark, type ParkSettings } from '../core/park.js'
import type { RequestTrace, Tracing } from '../core/request-trace.js'
import type { EffectivePolicy } from '../core/snapshot.js'
import { loggedTraceId } from '../core/trace-context.js'
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
  /** Set: to be parked by these, should it fail. */
  readonly park: ParkSettings | null
  /** Set: its success may make older entries of this store void. */
  readonly cancels: ParkSettings | null
  /** Name and value of the app's own key; looked up only where calls are parked. */
  readonly key: string | null
  /** 32 hex digits, or `null`. */
  readonly traceId: string | null
  /** `null` unless traces are exported. */
  readonly trace: RequestTrace | null
}

export function readRequestFacts(
  method: string,
  headers: RawHeaders,
  policy: EffectivePolicy,
  wallNowMs: number,
  tracing: Tracing | null,
): RequestFacts {
  const mark = incomingMark(headers, wallNowMs)
  const repeat = repeatability(method, headers, policy.retry.idempotency)
  const parking = policy.park === null ? NO_PARKING : parkFacts(policy.park, method, headers, policy, repeat)
  const trace = tracing === null ? null : tracing.begin(headers)
  return {
    repeat,
    totalMs: tightened(policy.timeouts.totalMs, headerValue(headers, 'forbear-timeout-ms')),
    maxAttempts: tightened(policy.retry.maxAttempts, headerValue(headers, 'forbear-max-attempts')),
    layered: mark.marked,
    incomingAttempt: mark.attempt,
    incomingResend: mark.resend,
    traceId: trace === null ? loggedTraceId(headers) : trace.context.traceId,
    trace,
    park: parking.park,
    cancels: parking.cancels,
    key: parking.key,
  }
}

type ParkFacts = Pick<RequestFacts, 'park' | 'cancels' | 'key'>

const NO_PARKING: ParkFacts = Object.freeze({ park: null, cancels: null, key: null })

function parkFacts(
  settings: ParkSettings,
  method: string,
  headers: RawHeaders,
  { retry }: EffectivePolicy,
  repeat: Repeatability,
): ParkFacts {
  const park = mayPark(settings, method, headers, repeat) ? settings : null
  const changes = !isSafe(method) && method !== 'CONNECT'
  return { park, cancels: changes ? settings : null, key: keyOf(headers, retry.idempotency.keyHeaders) }
}

/** All `baggage` fields as one list, or `undefined`. */
export function baggageOf(headers: RawHeaders): string | undefined {
  const values = headerValues(headers, 'baggage')
  return values.length === 0 ? undefined : values.join(',')
}
