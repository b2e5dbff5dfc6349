/**
 * How a line of waiting calls is let go after an outage: slowly enough that the recovering upstream does not fall
 * over again, fast enough that the line empties. Rates are calls per second.
 */

/** Release starts at this share of the last healthy rate … */
const RAMP_START_RATIO = 0.5
/** … and never exceeds this one. */
const RAMP_CEILING_RATIO = 1.3
/** Growth per step of good answers, as a share of the healthy rate: from 0.5 × to 1.3 × in 0.8 s. */
const RAMP_STEP_RATIO = 0.1
export const RAMP_STEP_MS = 100
/** A sidecar that has seen next to no traffic still lets go this many calls per second. */
const MIN_RATE_PER_SEC = 5

/** Bad answers beyond what was normal before the outage that are still no sign of overload. */
const TOLERANCE_RATIO = 0.1
/** Fewer answers than this in a step are judged together with the next step's. */
export const LEAST_ANSWERS = 10

export interface Ramp {
  readonly healthyPerSec: number
  readonly toleratedBadRatio: number
  readonly ratePerSec: number
}

export function atCeiling(ramp: Ramp): boolean {
  return ramp.ratePerSec >= ramp.healthyPerSec * RAMP_CEILING_RATIO
}

/** What is served at the ceiling is what is healthy now. */
export function raiseCeiling(ramp: Ramp): Ramp {
  return { ...ramp, healthyPerSec: ramp.ratePerSec }
}

/** A second is enough to see where the length of a line goes. */
const STEPS_PER_LOOK = 10
/** Growth within a look, as a share of what was let go, that is more than chance. */
const GROWTH_RATIO = 0.05
/**
 * Half a minute. A line that neither grows nor shrinks may stand for callers with so many connections and no more, who call again
 * as one is answered: what an outage held back waits with them, and 1.3 × works it off. Only if that never ends is more meant.
 */
const LOOKS_OF_PATIENCE = 30

/** Looks at the line while it is let go at the ceiling: more load than that is no backlog, and the ceiling must rise. */
export class CeilingWatch {
  #lengthThen: number
  #steps = 0
  #stood = 0
  /** The running look began at the ceiling: before, the line grows because the rate is still small. */
  #full = false

  constructor(length: number) {
    this.#lengthThen = length
  }

  /** After each step; gives the ramp that goes on. `cautious`: a limit is near and not tried again. */
  step(length: number, ramp: Ramp, cautious: boolean): Ramp {
    this.#steps += 1
    if (this.#steps < STEPS_PER_LOOK) return ramp
    const grown = length - this.#lengthThen
    const chance = (ramp.ratePerSec * STEPS_PER_LOOK * RAMP_STEP_MS * GROWTH_RATIO) / 1000
    this.#stood = this.#full && grown >= -chance ? this.#stood + 1 : 0
    const rises = this.#full && !cautious && (grown > chance || this.#stood >= LOOKS_OF_PATIENCE)
    const next = rises ? raiseCeiling(ramp) : ramp
    this.#steps = 0
    this.#lengthThen = length
    this.#full = atCeiling(next)
    return next
  }
}

/** The first rate after a good probe. */
export function startRamp(healthy: Healthy): Ramp {
  const healthyPerSec = Math.max(healthy.perSec, MIN_RATE_PER_SEC)
  const toleratedBadRatio = healthy.badRatio + TOLERANCE_RATIO
  return { healthyPerSec, toleratedBadRatio, ratePerSec: healthyPerSec * RAMP_START_RATIO }
}

/**
 * The rate after one step: up while no more answers are bad than before the outage, give or take, else halved, never
 * under the start. A steady share of failures must not keep a line standing for ever, nor may a few that come together.
 */
export function nextRamp(ramp: Ramp, good: number, bad: number): Ramp {
  if (bad > mostBad(ramp.toleratedBadRatio, good + bad)) {
    return { ...ramp, ratePerSec: Math.max(ramp.ratePerSec / 2, ramp.healthyPerSec * RAMP_START_RATIO) }
  }
  const ratePerSec = ramp.ratePerSec + ramp.healthyPerSec * RAMP_STEP_RATIO
  return { ...ramp, ratePerSec: Math.min(ratePerSec, ramp.healthyPerSec * RAMP_CEILING_RATIO) }
}

/** One standard deviation above the share. */
function mostBad(ratio: number, answers: number): number {
  return ratio * answers + Math.sqrt(ratio * (1 - ratio) * answers)
}

/** What an upstream could take before an outage. */
export interface Healthy {
  /** Answers per second, the few bad ones included: a call that fails takes its place in the line as well. */
  readonly perSec: number
  /** Share of bad answers that was normal, 0–1. */
  readonly badRatio: number
}

/** Whole seconds that are remembered. */
const SECONDS_KEPT = 5

/**
 * The last healthy rate: the second highest of the last whole seconds in which good answers outnumbered bad ones. Other
 * seconds are left out, so an outage does not erase the memory of what the upstream could take; nor does a slow start of the
 * sidecar or the app make it small, nor a single burst large.
 */
export class HealthyRate {
  readonly #seconds: { good: number; bad: number }[] = []
  #secondStartMs: number | null = null
  #good = 0
  #bad = 0

  onGood(nowMs: number): void {
    this.#turn(nowMs)
    this.#good += 1
  }

  onBad(nowMs: number): void {
    this.#turn(nowMs)
    this.#bad += 1
  }

  /** `null` before the first such second. */
  now(nowMs: number): Healthy | null {
    this.#turn(nowMs)
    const sorted = this.#seconds.map(second => second.good + second.bad).sort((a, b) => b - a)
    const perSec = sorted[1] ?? sorted[0]
    if (perSec === undefined) return null
    const good = this.#seconds.reduce((sum, second) => sum + second.good, 0)
    const bad = this.#seconds.reduce((sum, second) => sum + second.bad, 0)
    return { perSec, badRatio: bad / (good + bad) }
  }

  #turn(nowMs: number): void {
    this.#secondStartMs ??= nowMs
    const elapsedMs = nowMs - this.#secondStartMs
    if (elapsedMs < 1000) return
    if (this.#good > this.#bad) this.#seconds.push({ good: this.#good, bad: this.#bad })
    if (this.#seconds.length > SECONDS_KEPT) this.#seconds.shift()
    this.#good = 0
    this.#bad = 0
    this.#secondStartMs += Math.floor(elapsedMs / 1000) * 1000
  }
}
