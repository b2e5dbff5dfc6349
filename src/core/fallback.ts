import type { DenialReason, Outcome } from './reasons.js'

/** Ends of a request that a fallback may take the place of. The others are the app's own doing, or ours. */
export const FALLBACK_CAUSES = [
  'breaker-open',
  'retries-exhausted',
  'budget-exhausted',
  'deadline',
  'connect',
  'reset',
  'bad-response',
  'attempt-timeout',
  'overloaded',
  'gate-closed',
  'throttled',
  'retry-after-too-long',
] as const satisfies readonly (Outcome | DenialReason)[]

export type FallbackCause = (typeof FALLBACK_CAUSES)[number]

export interface FallbackSettings {
  /** Empty = off. */
  readonly when: ReadonlySet<FallbackCause>
  /** Upper case. */
  readonly methods: ReadonlySet<string>
  readonly status: number
  /** Flat. */
  readonly headers: readonly string[]
  readonly body: string
  /** Its content is the body, in place of `body`; `null` = none. */
  readonly file: string | null
}

/**
 * The cause for which a fallback is given, or `null`. A request has up to two: how it ended, and why no further attempt was
 * made. So `retries-exhausted` holds whether the last attempt was a 503 or found nobody to connect to.
 */
export function fallbackCause(
  settings: FallbackSettings,
  method: string,
  outcome: Outcome,
  denied: DenialReason | null,
): FallbackCause | null {
  // A 200 to a CONNECT would be a tunnel.
  if (settings.when.size === 0 || method === 'CONNECT' || !settings.methods.has(method)) return null
  const held = (word: Outcome | DenialReason | null) => settings.when.has(word as FallbackCause)
  if (held(denied)) return denied as FallbackCause
  return held(outcome) ? (outcome as FallbackCause) : null
}
