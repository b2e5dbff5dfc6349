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

export interface Ramp {
  readonly healthyPerSec: number
  readonly ratePerSec: number
}

/** More calls come than the ceiling lets go: what counts as healthy grows by this share per look. */
const CEILING_GROWTH_RATIO = 0.1

export function atCeiling(ramp: Ramp): boolean {
  return ramp.ratePerSec >= ramp.healthyPerSec * RAMP_CEILING_RATIO
}

/** A line that does not get shorter at the ceiling, with nothing but good answers, needs a higher one. */
export function raiseCeiling(ramp: Ramp): Ramp {
  return { ...ramp, healthyPerSec: ramp.healthyPerSec * (1 + CEILING_GROWTH_RATIO) }
}

/** The first rate after a good probe. */
export function startRamp(healthyPerSec: number): Ramp {
  const healthy = Math.max(healthyPerSec, MIN_RATE_PER_SEC)
  return { healthyPerSec: healthy, ratePerSec: healthy * RAMP_START_RATIO }
}

/**
 * The rate after one step of `RAMP_STEP_MS`: up while answers stay good, halved (never under the start) after a bad
 * one, unchanged when there was none to judge by.
 */
export function nextRamp(ramp: Ramp, good: number, bad: number): Ramp {
  if (bad > 0) return { ...ramp, ratePerSec: Math.max(ramp.ratePerSec / 2, ramp.healthyPerSec * RAMP_START_RATIO) }
  if (good === 0) return ramp
  const ratePerSec = ramp.ratePerSec + ramp.healthyPerSec * RAMP_STEP_RATIO
  return { ...ramp, ratePerSec: Math.min(ratePerSec, ramp.healthyPerSec * RAMP_CEILING_RATIO) }
}

/** Whole seconds that the healthy rate is averaged over. */
const SECONDS_KEPT = 5

/**
 * The last healthy rate: good answers per second, averaged over the last whole seconds in which nothing failed. Seconds
 * with a failure are left out, so an outage does not erase the memory of what the upstream could take.
 */
export class HealthyRate {
  readonly #seconds: number[] = []
  #secondStartMs: number | null = null
  #good = 0
  #failed = false

  onGood(nowMs: number): void {
    this.#turn(nowMs)
    this.#good += 1
  }

  onBad(nowMs: number): void {
    this.#turn(nowMs)
    this.#failed = true
  }

  /** Calls per second; before the first whole second, what has been seen so far. */
  perSec(nowMs: number): number {
    this.#turn(nowMs)
    if (this.#seconds.length === 0) return this.#good
    return this.#seconds.reduce((sum, good) => sum + good, 0) / this.#seconds.length
  }

  #turn(nowMs: number): void {
    this.#secondStartMs ??= nowMs
    const elapsedMs = nowMs - this.#secondStartMs
    if (elapsedMs < 1000) return
    if (!this.#failed && this.#good > 0) this.#seconds.push(this.#good)
    if (this.#seconds.length > SECONDS_KEPT) this.#seconds.shift()
    this.#good = 0
    this.#failed = false
    this.#secondStartMs += Math.floor(elapsedMs / 1000) * 1000
  }
}
