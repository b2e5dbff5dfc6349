/** Breaker: settings and the pure rules around opossum (trip, open time, probe). */

export interface BreakerSettings {
  readonly mode: 'enforce' | 'observe' | 'disabled'
  /** Opens at this share of failed first attempts or more. */
  readonly failureRatio: number
  readonly windowMs: number
  readonly minRequests: number
  /** 0 = off. */
  readonly consecutiveFailures: number
  readonly openForMs: number
  readonly maxOpenForMs: number
  readonly whenOpen: 'refuse' | 'wait'
}

/**
 * What an attempt's outcome means to the breaker, decided once by `classify`.
 * `failure` counts in both triggers, `ratio-failure` (a 5xx other than 502/503/504) only in the ratio,
 * `throttled` (429) is a success but fails a probe, `none` is not fed and gives a probe's permit back.
 */
export type SettledOutcome = 'success' | 'failure' | 'ratio-failure' | 'throttled' | 'none'

export interface BreakerPermit {
  readonly granted: true
  /** Bumped at every opening and closing; an outcome of an older one is ignored. */
  readonly generation: number
  readonly probe: boolean
  /** A first attempt, so it feeds the ratio. */
  readonly first: boolean
}
