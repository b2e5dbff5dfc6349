import type { Withdrawal } from '../core/budget.js'
import type { Lane } from './lane.js'

/** What one request has withdrawn from the budgets for its next attempt; given back when that is not sent. */
export class RetryTickets {
  readonly #lane: Lane
  #own: Withdrawal | null = null
  #parent: Withdrawal | null = null

  constructor(lane: Lane) {
    this.#lane = lane
  }

  /** A route's budget tightens its upstream's, so both must grant. */
  tryWithdraw(nowMs: number, sendAtMs: number): boolean {
    const { budget, parentBudget } = this.#lane
    const parent = parentBudget?.tryWithdraw(nowMs, sendAtMs)
    if (parent === null) return false
    const own = budget.tryWithdraw(nowMs, sendAtMs)
    if (own === null) {
      if (parent !== undefined) parentBudget?.giveBack(parent, nowMs)
      return false
    }
    this.#own = own
    this.#parent = parent ?? null
    return true
  }

  /** The attempt is being sent. */
  spend(): void {
    this.#own = null
    this.#parent = null
  }

  giveBack(nowMs: number): void {
    if (this.#own !== null) this.#lane.budget.giveBack(this.#own, nowMs)
    if (this.#parent !== null) this.#lane.parentBudget?.giveBack(this.#parent, nowMs)
    this.spend()
  }
}
