/** Hedging: when a second call is sent beside one that is late, and for which requests. */
import type { AttemptFacts } from './classify.js'
import type { Repeatability } from './idempotency.js'

/** Methods that change nothing (RFC 9110 §9.2.1), so that the upstream may be at two of them at once. */
export const HEDGED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface HedgeSettings {
  /** `observe` counts what would be sent. */
  readonly mode: 'enabled' | 'observe' | 'disabled'
  /** How late an attempt must be: a fixed time, or the time within which a share `q` of them is answered. */
  readonly after: HedgeDelay
  /** At most so many for one request. */
  readonly maxHedges: number
  /** Fewer answers than these say nothing of what is late: none is sent. For a quantile, as the bounds. */
  readonly minSamples: number
  readonly floorMs: number
  readonly ceilingMs: number
  /** Also writes that carry an idempotency key. */
  readonly keyedWrites: boolean
}

export type HedgeDelay =
  | { readonly kind: 'fixed'; readonly delayMs: number }
  | { readonly kind: 'quantile'; readonly q: number }

/** What hedging needs to know of the answers' times. */
export interface HedgeSamples {
  count(nowMs: number): number
  /** Above which not more than 1 − `q` of them are. */
  upperQuantile(q: number, nowMs: number): number | null
}

/** From the start of the last attempt to the next hedge, ms; `null` = not known yet, so none. */
export function hedgeDelayMs(settings: HedgeSettings, samples: HedgeSamples, nowMs: number): number | null {
  const { after, minSamples, floorMs, ceilingMs } = settings
  if (after.kind === 'fixed') return after.delayMs
  if (samples.count(nowMs) < minSamples) return null
  const quantileMs = samples.upperQuantile(after.q, nowMs)
  return quantileMs === null ? null : Math.min(ceilingMs, Math.max(floorMs, quantileMs))
}

/** The upstream may work at the request twice at once. */
export function mayRunTwice(method: string, repeat: Repeatability['kind'], keyedWrites: boolean): boolean {
  if (HEDGED_METHODS.has(method)) return true
  return keyedWrites && (repeat === 'keyed' || repeat === 'generate')
}

/**
 * Whether a failed attempt brings the next hedge forward (gRPC A6). Not one after which the upstream wants to be left
 * alone: a hint to wait, a 429, a word that a layer below has given up.
 */
export function bringsForward(facts: AttemptFacts): boolean {
  return facts.retryable && !asksForPatience(facts)
}

/** No further hedge follows it. */
export function asksForPatience(facts: AttemptFacts): boolean {
  return facts.stop !== null || facts.throttled || (facts.retryAfterMs ?? 0) > 0
}

/**
 * What all failed attempts of one race say together, for the one decision that follows the last of them: nobody's wish for
 * a pause is lost because another attempt failed in another way.
 */
export function mergedFacts(earlier: AttemptFacts | null, last: AttemptFacts): AttemptFacts {
  if (earlier === null) return last
  const stop = earlier.stop ?? last.stop
  const hintMs = Math.max(earlier.retryAfterMs ?? 0, last.retryAfterMs ?? 0)
  return {
    ...last,
    retryable: last.retryable && stop === null,
    why: stop === null ? last.why : null,
    retryAfterMs: hintMs > 0 ? hintMs : (last.retryAfterMs ?? earlier.retryAfterMs),
    throttled: earlier.throttled || last.throttled,
    stop,
  }
}

/**
 * How long an attempt took that was ended because another one had won: at least so long, which is all that is known.
 * Left out, the slowest would be missing, and a quantile over the rest would fall with every hedge. One that was ended
 * sooner than hedges are sent says less than is known already: `null` = no sample.
 */
export function lostSampleMs(ranMs: number, delayMs: number): number | null {
  return ranMs >= delayMs ? ranMs : null
}
