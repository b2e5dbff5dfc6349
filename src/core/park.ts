/** Parking: which finally failed calls are kept for slow redelivery, when each is sent again, and when it is given up. */
import { MAX_DELAY_MS } from './backoff.js'
import { headerValue } from './headers.js'
import { isSafe, type Repeatability } from './idempotency.js'
import { prefersAsync } from './prefer.js'
import type { Outcome } from './reasons.js'

export interface ParkSettings {
  /** `prefer`: calls of an app that sent `Prefer: respond-async` (RFC 7240 §4.1). */
  readonly accept: 'prefer' | 'always'
  /** A directory, or `redis://…`. */
  readonly store: string
  readonly firstMs: number
  readonly everyMs: number
  readonly maxAgeMs: number
  /** Redeliveries that reached the upstream or tried to. */
  readonly maxAttempts: number
  /** Of everything in the store. */
  readonly maxBytes: number
  readonly onParked: string | null
  readonly onDead: string | null
  /** What `secretHeaders` are encrypted with; `null` = they are not stored. */
  readonly keyFile: string | null
  /** Lower case. */
  readonly secretHeaders: readonly string[]
}

/** They say what a resource shall be, so the last one counts. */
const REPLACING_METHODS: ReadonlySet<string> = new Set(['PUT', 'DELETE', 'PATCH'])
/** Waits before a redelivery are drawn up to this much longer, so that what was parked together does not return together. */
const JITTER_RATIO = 0.2
/** Longest wait after a redelivery that breaker, budget or gate kept from being sent. */
const MAX_POSTPONE_MS = 30_000
/** The last redelivery of an entry, at the end of its time, may be so late. */
const LATE_MS = 60_000

/** Endings that a later repetition may mend. `bad-request`, `loop` and the like are not among them. */
const PARKABLE: ReadonlySet<Outcome> = new Set<Outcome>([
  'breaker-open',
  'deadline',
  'layer',
  'retries-exhausted',
  'budget-exhausted',
  'retry-after-too-long',
  'not-repeatable',
  'connect',
  'reset',
  'bad-response',
  'attempt-timeout',
  'overloaded',
  'gate-closed',
  'draining',
  'throttled',
])

export function isParkable(outcome: Outcome): boolean {
  return PARKABLE.has(outcome)
}

/**
 * Whether a call is one to park should it fail: the app agrees, and the upstream can tell a repetition by the app's own
 * key or refuses it by `If-Match`. A key that we minted is no use: the app could not ask for it again.
 */
export function mayPark(
  settings: Pick<ParkSettings, 'accept'>,
  method: string,
  headers: readonly string[],
  repeat: Repeatability,
): boolean {
  // To be read again later is of use to nobody.
  if (isSafe(method) || method === 'CONNECT') return false
  if (repeat.kind !== 'keyed' && headerValue(headers, 'if-match') === undefined) return false
  return settings.accept === 'always' || prefersAsync(headers)
}

/**
 * When the next redelivery is due. `attempts` = redeliveries made so far; `hintMs` = what a Retry-After asked for. Never
 * earlier than told; without a hint never after the entry's end, so that the last chance is taken.
 */
export function nextDueMs(
  settings: ParkSettings,
  parkedAtMs: number,
  attempts: number,
  hintMs: number | null,
  nowMs: number,
  random: () => number,
): number {
  const plainMs = Math.min(settings.everyMs, settings.firstMs * 2 ** Math.min(attempts, 40))
  if (hintMs !== null && hintMs > 0) {
    return nowMs + hintMs + Math.min(hintMs, settings.firstMs) * JITTER_RATIO * random()
  }
  const dueMs = nowMs + Math.min(MAX_DELAY_MS, plainMs * (1 + JITTER_RATIO * random()))
  const endMs = parkedAtMs + settings.maxAgeMs
  return nowMs < endMs ? Math.min(dueMs, endMs) : dueMs
}

/** How one redelivery went. */
export type Redelivery =
  | { readonly kind: 'response'; readonly status: number; readonly retryAfterMs: number | null }
  /** It went out and brought no answer. */
  | { readonly kind: 'failure'; readonly outcome: string }
  /** Breaker, budget, gate or a switch kept it here. */
  | { readonly kind: 'not-sent'; readonly outcome: string; readonly retryAfterMs: number | null }

export interface ParkedFacts {
  readonly parkedAtMs: number
  /** Redeliveries before this one. */
  readonly attempts: number
  /** It carries a key of the app's. */
  readonly keyed: boolean
  readonly conditional: boolean
  /** Somebody wants it to be sent. */
  readonly byHand: boolean
}

export type Verdict =
  | { readonly next: 'delivered'; readonly status: number }
  /** `counted`: it was a redelivery, not only a wish. */
  | { readonly next: 'later'; readonly dueAtMs: number; readonly counted: boolean; readonly why: string }
  | { readonly next: 'dead'; readonly counted: boolean; readonly why: string }

/** What becomes of an entry that is not worth a redelivery; `null` = it is sent. */
export function verdictUnsent(
  { parkedAtMs, byHand }: ParkedFacts,
  { maxAgeMs }: Pick<ParkSettings, 'maxAgeMs'>,
  bodyWhole: boolean,
  nowMs: number,
): Verdict | null {
  if (!bodyWhole) return { next: 'dead', counted: false, why: 'its body is damaged' }
  // Whoever was away for long: by now the upstream may know the key no more.
  const tooLate = !byHand && nowMs > parkedAtMs + maxAgeMs + LATE_MS
  return tooLate ? { next: 'dead', counted: false, why: 'older than maxAge' } : null
}

/** What becomes of an entry after a redelivery. */
export function verdictOn(
  result: Redelivery,
  facts: ParkedFacts,
  settings: ParkSettings,
  nowMs: number,
  random: () => number,
): Verdict {
  if (result.kind === 'response' && result.status < 400) return { next: 'delivered', status: result.status }
  const why = result.kind === 'response' ? `status ${result.status}` : result.outcome
  const counted = result.kind !== 'not-sent'
  if (result.kind === 'response' && isFinal(result.status, facts)) return { next: 'dead', counted, why }
  const endMs = facts.parkedAtMs + settings.maxAgeMs
  if (nowMs >= endMs) return { next: 'dead', counted, why: `${why}; older than maxAge` }
  const attempts = facts.attempts + (counted ? 1 : 0)
  if (attempts >= settings.maxAttempts) return { next: 'dead', counted, why: `${why}; maxAttempts reached` }
  const hintMs = result.kind === 'failure' ? null : result.retryAfterMs
  if (hintMs !== null && nowMs + hintMs > endMs)
    return { next: 'dead', counted, why: `${why}; told to wait past maxAge` }
  const dueAtMs = counted
    ? nextDueMs(settings, facts.parkedAtMs, attempts, hintMs, nowMs, random)
    : nowMs + Math.max(hintMs ?? 0, Math.min(settings.firstMs, MAX_POSTPONE_MS) * (0.5 + random() / 2))
  return { next: 'later', dueAtMs, counted, why }
}

/**
 * Answers that no repetition changes: who it is or what it may do is refused; with a key, 422 says that the key was used
 * for something else; with `If-Match`, 412 says that the resource has moved on (or that the call was done already).
 */
function isFinal(status: number, { keyed, conditional }: ParkedFacts): boolean {
  if (status === 401 || status === 403) return true
  return (keyed && status === 422) || (conditional && status === 412)
}

/** One call as far as it can stand for another. */
export interface Sameness {
  readonly upstream: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Name and value of the app's key, or `null`. */
  readonly key: string | null
  /** Unix time of its arrival, ms. */
  readonly arrivedAtMs: number
}

/**
 * Whether a call that succeeded makes an older parked one void. A later PUT, PATCH or DELETE of the same target says
 * what it shall be now. A later POST is another order unless it carries the same key: to drop the parked one for it
 * would lose what was acknowledged.
 */
export function cancels(success: Sameness, parked: Sameness): boolean {
  if (success.upstream !== parked.upstream || success.method !== parked.method || success.path !== parked.path)
    return false
  if (parked.arrivedAtMs > success.arrivedAtMs) return false
  if (success.key !== null && success.key === parked.key) return true
  return replaces(success.method)
}

/** Of calls to one target with this method the last one counts. */
export function replaces(method: string): boolean {
  return REPLACING_METHODS.has(method)
}

/** `idempotency-key: abc` of the first of `keyHeaders` that the app set. */
export function keyOf(headers: readonly string[], keyHeaders: readonly string[]): string | null {
  for (const name of keyHeaders) {
    const value = headerValue(headers, name)
    if (value !== undefined && value !== '' && value !== '""') return `${name}: ${value}`
  }
  return null
}

/** What became of a call that failed for good on a route that parks. */
export interface ParkedCall {
  readonly type: 'parked-call'
  readonly upstream: string
  readonly route: string | null
  /** `null` for a call that could not be parked. */
  readonly id: string | null
  /** `refused`: not parked, so the app got the failure. `failed`: a redelivery, and another follows. */
  readonly step: 'parked' | 'refused' | 'failed' | 'delivered' | 'cancelled' | 'dead'
  /** `status 503`, `connect`, `the store is full` … */
  readonly why: string | null
  /** Redeliveries so far. */
  readonly attempts: number
  /** Until the next redelivery, ms; `null` = there is none. */
  readonly dueInMs: number | null
}

/** What the stores of parked calls hold. */
export interface ParkedStatus {
  readonly waiting: number
  readonly dead: number
  readonly bytes: number
  /** Why stores are not open, where they are not. */
  readonly problems: readonly string[]
}

/** The address of a store as it may be shown: it may hold a password. */
export function storeText(location: string): string {
  // To the last @, for whoever writes one into a password, or a slash; the query may hold one, too.
  return location.startsWith('/') ? location : location.replace(/\/\/.*@/s, '//***@').replace(/\?.*/s, '?***')
}
