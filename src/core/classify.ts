import type { SettledOutcome } from './breaker-rules.js'
import { headerValue } from './headers.js'
import { retryAfterMs } from './retry-after.js'
import type { RetryHeader, RetrySettings } from './snapshot.js'

/** What makes an attempt worth another. */
export type RetryCause = 'status' | 'header' | 'key-conflict' | 'connect' | 'reset' | 'timeout'

/** What an attempt's outcome means, decided once; three separate facts and what they rest on. */
export interface AttemptFacts {
  readonly retryable: boolean
  /** `null` when not retryable. */
  readonly why: RetryCause | null
  readonly breaker: SettledOutcome
  /** How long the upstream asks to wait; looked up only on a 429, a 503 and where another attempt is possible. */
  readonly retryAfterMs: number | null
  /** 429: back off by the `throttled` settings. */
  readonly throttled: boolean
  /**
   * The answer would be retryable, but the upstream forbids it: a layer below has given up already (`exhausted`), or it
   * says so itself (`pushback`).
   */
  readonly stop: null | 'exhausted' | 'pushback'
}

export interface ClassifyContext {
  readonly retry: RetrySettings
  readonly wallNowMs: number
  /** The request carries an idempotency key, the app's or ours. */
  readonly keyed: boolean
  /** Not the first time these bytes are sent. */
  readonly resend: boolean
}

/** `overloaded` = this host had no descriptor, memory or port left to connect with. */
export type FailureKind = 'connect' | 'overloaded' | 'reset' | 'timeout' | 'bad-response' | 'cut'

/** A good answer: nothing to do. */
const SUCCESS_FACTS: AttemptFacts = Object.freeze(facts(null, 'success'))

const PUSHBACK = /^\d{1,10}$/
/** Signed 32 bits (gRPC A6). */
const MAX_PUSHBACK_MS = 2 ** 31 - 1

/** A status below 400 is retryable only by an `onHeaders` entry. A `Retry-After` never makes an answer retryable. */
export function classifyResponse(status: number, headers: readonly string[], ctx: ClassifyContext): AttemptFacts {
  if (status < 400 && ctx.retry.onHeaders.length === 0) return SUCCESS_FACTS
  const why = responseCause(status, headers, ctx)
  const hintMs = why !== null || status === 429 || status === 503 ? retryAfterMs(headers, ctx.wallNowMs) : null
  const pushback = why === null ? undefined : headerValue(headers, 'grpc-retry-pushback-ms')
  const pushbackMs = pushback === undefined ? null : parsePushbackMs(pushback)
  const stop = why === null ? null : stopSign(headers, pushback !== undefined && pushbackMs === null)
  return {
    retryable: why !== null && stop === null,
    why: stop === null ? why : null,
    breaker: breakerOutcome(status),
    retryAfterMs: later(hintMs, pushbackMs),
    throttled: status === 429,
    stop,
  }
}

/** No response head came, or (`cut`) the body broke after it. `permanent`: no repetition can mend it (certificates). */
export function classifyFailure(kind: FailureKind, permanent: boolean, retry: RetrySettings): AttemptFacts {
  return facts(permanent ? null : failureCause(kind, retry), kind === 'overloaded' ? 'none' : 'failure')
}

/** Whether what was worth another attempt still is under other settings; `head` is that of the failed answer, if one came. */
export function stillRetryable(
  why: RetryCause,
  head: { readonly status: number; readonly headers: readonly string[] } | null,
  retry: RetrySettings,
): boolean {
  switch (why) {
    case 'connect':
    case 'reset':
    case 'timeout':
      return retry.retryOn[why]
    case 'status':
    case 'header':
      return head !== null && settingsCause(head.status, head.headers, retry) !== null
    case 'key-conflict':
      return true
  }
}

function failureCause(kind: FailureKind, retry: RetrySettings): RetryCause | null {
  switch (kind) {
    case 'overloaded':
      return failureCause('connect', retry)
    case 'connect':
    case 'reset':
    case 'timeout':
      return retry.retryOn[kind] ? kind : null
    case 'bad-response':
    case 'cut':
      return null
  }
}

function responseCause(status: number, headers: readonly string[], ctx: ClassifyContext): RetryCause | null {
  if (ctx.keyed && ctx.resend) {
    // To a re-send with a key, 409 says that the first one is still running and 422 that the key was used for another payload.
    if (status === 409) return 'key-conflict'
    if (status === 422) return null
  }
  return settingsCause(status, headers, ctx.retry)
}

function settingsCause(status: number, headers: readonly string[], retry: RetrySettings): 'status' | 'header' | null {
  if (status >= 400 && retry.retryOn.statuses.has(status)) return 'status'
  return retry.onHeaders.some(entry => matches(entry, headers)) ? 'header' : null
}

function matches(entry: RetryHeader, headers: readonly string[]): boolean {
  const value = headerValue(headers, entry.name)
  return value !== undefined && (entry.value === null || entry.value === value)
}

function stopSign(headers: readonly string[], pushedBack: boolean): AttemptFacts['stop'] {
  if (headerValue(headers, 'forbear-exhausted') !== undefined) return 'exhausted'
  if (pushedBack || headerValue(headers, 'x-envoy-overloaded') !== undefined) return 'pushback'
  return null
}

/** `null` = negative or unparsable, both of which mean "never". */
function parsePushbackMs(value: string): number | null {
  if (!PUSHBACK.test(value)) return null
  const ms = Number(value)
  return ms <= MAX_PUSHBACK_MS ? ms : null
}

function breakerOutcome(status: number): SettledOutcome {
  if (status === 502 || status === 503 || status === 504) return 'failure'
  if (status >= 500) return 'ratio-failure'
  return status === 429 ? 'throttled' : 'success'
}

function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.max(a, b)
}

function facts(why: RetryCause | null, breaker: SettledOutcome): AttemptFacts {
  return { retryable: why !== null, why, breaker, retryAfterMs: null, throttled: false, stop: null }
}
