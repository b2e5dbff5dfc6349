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
  readonly slowCall: {
    /** An attempt without an answer for this long is slow, however it ends; `Infinity` = off. */
    readonly afterMs: number
    /** Opens at this share of slow first attempts or more. */
    readonly ratio: number
  }
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

export type BreakerState = 'closed' | 'open' | 'half-open'

/** Why a closed breaker opens by itself. */
export type TripReason = 'failure-ratio' | 'consecutive-failures' | 'slow-calls'

/** Why the breaker changed state. */
export type TransitionReason = TripReason | 'probe-failed' | 'probe-succeeded' | 'time' | 'manual'

/** A burst shorter than this is one replica dropping its connections, not an outage. */
const MIN_FAILURE_SPAN_MS = 100
/** How long a half-open breaker keeps its probe for a first attempt. */
const PROBE_GRACE_MS = 200
/** Without an answer for this long, a probe no longer holds others off. */
const MIN_PROBE_LIMIT_MS = 1_000

/** Failures since the last proof of life. */
export interface FailureRun {
  readonly count: number
  /** Times of the first and the last of them; meaningless when `count` is 0. */
  readonly sinceMs: number
  readonly lastMs: number
}

export const NO_RUN: FailureRun = Object.freeze({ count: 0, sinceMs: 0, lastMs: 0 })

/** A 500 is neither an outage nor proof that it is over: it leaves the run as it is. */
export function nextRun(run: FailureRun, outcome: SettledOutcome, nowMs: number): FailureRun {
  switch (outcome) {
    case 'failure':
      return { count: run.count + 1, sinceMs: run.count === 0 ? nowMs : run.sinceMs, lastMs: nowMs }
    case 'success':
    case 'throttled':
      return NO_RUN
    case 'ratio-failure':
    case 'none':
      return run
  }
}

/** What the window holds: first attempts only. */
export interface WindowCounts {
  readonly calls: number
  readonly failures: number
  /** Meaningless when there is no failure. */
  readonly oldestFailureMs: number
  readonly newestFailureMs: number
  readonly slow: number
  /** Between the first and the last slow one, ms; 0 when there is none. */
  readonly slowSpanMs: number
}

/**
 * Whether to open, asked at a failure or a slow call. `p95Ms` (of successes, `null` = unknown) is read only when a
 * trigger's count is reached. No trigger fires before what it counts spans 1.5 × p95: until then the calls that the
 * failures overtook had no time to succeed. For the ratios that is at most half the window, else a slow upstream could
 * never trip them.
 */
export function tripReason(
  settings: BreakerSettings,
  run: FailureRun,
  window: WindowCounts,
  p95Ms: () => number | null,
): TripReason | null {
  const enough = window.calls >= settings.minRequests
  const byRun = settings.consecutiveFailures > 0 && run.count >= settings.consecutiveFailures
  const byRatio = enough && reaches(window.failures, window.calls, settings.failureRatio)
  const bySlow = enough && reaches(window.slow, window.calls, settings.slowCall.ratio)
  if (!byRun && !byRatio && !bySlow) return null
  const spanMs = Math.max(MIN_FAILURE_SPAN_MS, 1.5 * (p95Ms() ?? 0))
  if (byRun && run.lastMs - run.sinceMs >= spanMs) return 'consecutive-failures'
  const ratioSpanMs = Math.min(spanMs, settings.windowMs / 2)
  if (byRatio && window.newestFailureMs - window.oldestFailureMs >= ratioSpanMs) return 'failure-ratio'
  return bySlow && window.slowSpanMs >= ratioSpanMs ? 'slow-calls' : null
}

/** k / n is rounded as the literal of the same value is, so a share exactly at the threshold counts. */
function reaches(count: number, calls: number, ratio: number): boolean {
  return count > 0 && count / calls >= ratio
}

/** Openings that belong together. */
export interface Outage {
  /** Its first opening. */
  readonly sinceMs: number
  /** Length of its latest opening. */
  readonly lastOpenForMs: number
}

/** Begin of the outage that an opening at `nowMs` belongs to; `closedAtMs` = the last closing, `null` = still open. */
export function outageSinceMs(previous: Outage | null, closedAtMs: number | null, nowMs: number): number {
  if (previous === null) return nowMs
  if (closedAtMs !== null && nowMs - closedAtMs >= previous.lastOpenForMs) return nowMs
  return previous.sinceMs
}

/** How long to stay open, whole ms: recovery is found at most a quarter of the outage late. `random` in [0, 1) spreads a fleet. */
export function openTimeMs(
  settings: Pick<BreakerSettings, 'openForMs' | 'maxOpenForMs'>,
  outageAgeMs: number,
  random: number,
): number {
  const fullMs = Math.min(settings.maxOpenForMs, Math.max(settings.openForMs, outageAgeMs / 4))
  return Math.max(1, Math.ceil(fullMs * (0.5 + random / 2)))
}

/** Everything else closes: an answer in time that is no sign of an outage is proof of life. */
export function failsProbe(outcome: SettledOutcome, slow: boolean): boolean {
  return outcome === 'failure' || outcome === 'throttled' || slow
}

export interface HalfOpen {
  /** The later of the begin of half-open and the last first attempt since. */
  readonly quietSinceMs: number
  /** `null` = no probe under way. */
  readonly probeSinceMs: number | null
}

/** How long until this call could be the probe, ms; 0 = now. `mayLead`: a first attempt, which need not let others pass. */
export function probeWaitMs(
  halfOpen: HalfOpen,
  mayLead: boolean,
  settings: Pick<BreakerSettings, 'openForMs'>,
  nowMs: number,
  p95Ms: () => number | null,
): number {
  const { probeSinceMs, quietSinceMs } = halfOpen
  const freeAtMs = probeSinceMs === null ? nowMs : probeSinceMs + Math.max(MIN_PROBE_LIMIT_MS, 2 * (p95Ms() ?? 0))
  const turnAtMs = mayLead ? nowMs : quietSinceMs + Math.min(PROBE_GRACE_MS, settings.openForMs)
  return Math.max(0, freeAtMs - nowMs, turnAtMs - nowMs)
}
