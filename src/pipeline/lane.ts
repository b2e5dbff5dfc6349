import type { RetryBudget, Withdrawal } from '../core/budget.js'
import type { LatencyWindow } from '../core/latency.js'
import type { AdaptiveThrottle } from '../core/throttle.js'
import type { Guard } from './guard.js'
import type { Limiter } from './limiter.js'
import type { StaleAllowance } from './stale-allowance.js'

export interface HedgeWithdrawal {
  readonly own: Withdrawal
  readonly parent: Withdrawal | null
}

/** The instances that calls to one upstream share; a route brings its own where it wrote the section. */
export class Lane {
  constructor(
    readonly guard: Guard,
    readonly limiter: Limiter,
    readonly budget: RetryBudget,
    /** The upstream's, which a route's own may only tighten. */
    readonly parentBudget: RetryBudget | null,
    readonly latency: LatencyWindow,
    /** By which hedges are sent; the same, unless the route wrote its own hedging. */
    readonly hedgeLatency: LatencyWindow,
    readonly stale: StaleAllowance,
    readonly throttle: AdaptiveThrottle,
  ) {}

  recordLatency(durationMs: number, nowMs: number): void {
    this.latency.record(durationMs, nowMs)
    if (this.hedgeLatency !== this.latency) this.hedgeLatency.record(durationMs, nowMs)
  }

  /** A route's budget tightens its upstream's, so both must grant. */
  tryWithdrawHedge(nowMs: number): HedgeWithdrawal | null {
    const parent = this.parentBudget?.tryWithdrawHedge(nowMs)
    if (parent === null) return null
    const own = this.budget.tryWithdrawHedge(nowMs)
    if (own !== null) return { own, parent: parent ?? null }
    if (parent !== undefined) this.parentBudget?.giveBack(parent, nowMs)
    return null
  }

  giveHedgeBack({ own, parent }: HedgeWithdrawal, nowMs: number): void {
    this.budget.giveBack(own, nowMs)
    if (parent !== null) this.parentBudget?.giveBack(parent, nowMs)
  }

  onFirstAttempt(nowMs: number): void {
    this.budget.onFirstAttempt(nowMs)
    this.parentBudget?.onFirstAttempt(nowMs)
  }

  onFirstSuccess(nowMs: number): void {
    this.budget.onFirstSuccess(nowMs)
    this.parentBudget?.onFirstSuccess(nowMs)
  }
}
