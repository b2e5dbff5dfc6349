/**
 * How a line of waiting calls is let go after an outage: slowly enough that the recovering upstream does not fall
 * over again, fast enough that the line empties. Rates are calls per second.
 */

/** Release starts at this share of the last healthy rate … */
export const RAMP_START_RATIO = 0.5
/** … and never exceeds this one. */
export const RAMP_CEILING_RATIO = 1.3
/** Growth per step of good answers, as a share of the healthy rate: from 0.5 × to 1.3 × in 0.8 s. */
const RAMP_STEP_RATIO = 0.1
export const RAMP_STEP_MS = 100
/** A sidecar that has seen next to no traffic still lets go this many calls per second. */
const MIN_RATE_PER_SEC = 5

export interface Ramp {
  readonly healthyPerSec: number
  readonly ratePerSec: number
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

/** Weight of the newest whole second in the healthy rate. */
const NEWEST_WEIGHT = 0.3

/**
 * The last healthy rate: good answers per second, smoothed over whole seconds in which nothing failed. Seconds with a
 * failure are left out, so an outage does not erase the memory of what the upstream could take.
 */
export class HealthyRate {
  #secondStartMs: number
  #good = 0
  #failed = false
  #perSec: number | null = null

  constructor(nowMs: number) {
    this.#secondStartMs = nowMs
  }

  onGood(nowMs: number): void {
    if (nowMs - this.#secondStartMs >= 1000) this.#turn(nowMs)
    this.#good += 1
  }

  onBad(nowMs: number): void {
    if (nowMs - this.#secondStartMs >= 1000) this.#turn(nowMs)
    this.#failed = true
  }

  /** Calls per second; before the first whole second, what has been seen so far. */
  perSec(nowMs: number): number {
    if (nowMs - this.#secondStartMs >= 1000) this.#turn(nowMs)
    return this.#perSec ?? this.#good
  }

  #turn(nowMs: number): void {
    const seconds = Math.floor((nowMs - this.#secondStartMs) / 1000)
    if (!this.#failed && this.#good > 0) {
      const old = this.#perSec
      this.#perSec = old === null ? this.#good : old + (this.#good - old) * NEWEST_WEIGHT
    }
    this.#good = 0
    this.#failed = false
    this.#secondStartMs += seconds * 1000
  }
}
