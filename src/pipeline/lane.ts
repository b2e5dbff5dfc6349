import type { RetryBudget } from '../core/budget.js'
import type { LatencyWindow } from '../core/latency.js'
import type { AdaptiveThrottle } from '../core/throttle.js'
import type { Guard } from './guard.js'
import type { Limiter } from './limiter.js'
import type { StaleAllowance } from './stale-allowance.js'

/** The instances that calls to one upstream share; a route brings its own where it wrote the section. */
export class Lane {
  constructor(
    readonly guard: Guard,
    readonly limiter: Limiter,
    readonly budget: RetryBudget,
    /** The upstream's, which a route's own may only tighten. */
    readonly parentBudget: RetryBudget | null,
    readonly latency: LatencyWindow,
    readonly stale: StaleAllowance,
    readonly throttle: AdaptiveThrottle,
  ) {}

  onFirstAttempt(nowMs: number): void {
    this.budget.onFirstAttempt(nowMs)
    this.parentBudget?.onFirstAttempt(nowMs)
  }

  onFirstSuccess(nowMs: number): void {
    this.budget.onFirstSuccess(nowMs)
    this.parentBudget?.onFirstSuccess(nowMs)
  }
}
