/** W3C trace context (https://www.w3.org/TR/trace-context/): where in a trace a request comes from. */
import { headerValue, headerValues } from './headers.js'

export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits: the span that sent the request. */
  readonly spanId: string
  /** Of `trace-flags`; the lowest bit says that the trace is being recorded. */
  readonly flags: number
}

export const SAMPLED = 1
/** The trace id is random (level 2 of the standard). */
const RANDOM = 2

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ALL_ZERO = /^0+$/

/** `undefined` = none was sent; `null` = what was sent is not valid, so that a new trace has to begin. */
export function traceParentOf(headers: readonly string[]): TraceParent | null | undefined {
  const values = headerValues(headers, 'traceparent')
  if (values.length === 0) return undefined
  return values.length === 1 ? parseTraceParent(values[0] ?? '') : null
}

/** A version from the future may have more fields behind the four that are known. */
export function parseTraceParent(value: string): TraceParent | null {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = FORM.exec(value) ?? []
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (ALL_ZERO.test(traceId) || ALL_ZERO.test(spanId)) return null
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & (SAMPLED | RANDOM) }
}

export function formatTraceParent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-0${flags}`
}

/** What the log may call the trace of a request that is not traced here: read generously, for it is only a name. */
export function loggedTraceId(headers: readonly string[]): string | null {
  const value = headerValue(headers, 'traceparent')
  if (value === undefined || value.length < 55) return null
  const id = value.slice(3, 35)
  return /^[0-9a-f]{32}$/.test(id) ? id : null
}
