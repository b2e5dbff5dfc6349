import { SendCalendar } from './send-calendar.js'
import { SlidingCounter } from './sliding-counter.js'

export interface BudgetSettings {
  readonly ratio: number
  readonly windowMs: number
  readonly minPerSecond: number
}

/** One granted retry or hedge. Opaque; kept only to give it back. */
export interface Withdrawal {
  readonly atMs: number
  readonly hedge: boolean
  sendAtMs: number
  returned: boolean
}

const SLOTS = 10
/** Of what it grants, so that no rush of late answers leaves nothing for failures. */
const HEDGE_SHARE = 0.5
/** 0.29 · 100 is 28.999999999999996: without this, rounding would cost one retry. Far under what one attempt deposits. */
const ROUNDING = 1e-6

/**
 * How many retries and hedges an upstream may be sent: withdrawn in the window ≤ ratio × first attempts that succeeded in the window
 * + minPerSecond × window, and in any second ≤ max(minPerSecond × window, ratio × first attempts of that second).
 * Deposits on success keep a stalled upstream from feeding its own retries; the cap per second keeps a window's allowance
 * from being spent at once, and is judged at the grant and again at the sending. The window is ten slots, the running one included. A cap under 1 grants nothing.
 * Hedges may use half of it all.
 */
export class RetryBudget {
  #settings: BudgetSettings
  #successes: SlidingCounter
  #withdrawn: SlidingCounter
  /** Those of the withdrawn that are hedges. */
  #hedges: SlidingCounter
  readonly #hedgeCalendar = new SendCalendar()
  readonly #lastSecond = new SlidingCounter(10, 100)
  readonly #calendar = new SendCalendar()
  #resetAtMs = Number.NEGATIVE_INFINITY

  constructor(settings: BudgetSettings, nowMs: number) {
    this.#settings = settings
    this.#successes = new SlidingCounter(SLOTS, slotMs(settings))
    this.#withdrawn = new SlidingCounter(SLOTS, slotMs(settings))
    this.#hedges = new SlidingCounter(SLOTS, slotMs(settings))
    this.#lastSecond.total(nowMs)
  }

  onFirstAttempt(nowMs: number): void {
    this.#lastSecond.add(nowMs)
  }

  onFirstSuccess(nowMs: number): void {
    this.#successes.add(nowMs)
  }

  /**
   * One retry to be sent at `sendAtMs` (now + back-off), or `null` when the budget has none. Taken before the wait; to be
   * given back when the retry is not sent after all.
   */
  tryWithdraw(nowMs: number, sendAtMs: number): Withdrawal | null {
    if (this.#left(nowMs) < 1) return null
    const dueMs = Math.max(nowMs, sendAtMs)
    if (!this.#calendar.hasRoom(dueMs, this.#capPerSecond(nowMs))) return null
    this.#withdrawn.add(nowMs)
    this.#calendar.add(dueMs, nowMs)
    return { atMs: nowMs, hedge: false, sendAtMs: dueMs, returned: false }
  }

  /** One hedge to be sent now, or `null`. */
  tryWithdrawHedge(nowMs: number): Withdrawal | null {
    const capPerSecond = HEDGE_SHARE * this.#capPerSecond(nowMs)
    if (this.hedgeBalance(nowMs) < 1 || !this.#hedgeCalendar.hasRoom(nowMs, capPerSecond)) return null
    const withdrawal = this.tryWithdraw(nowMs, nowMs)
    if (withdrawal === null) return null
    this.#hedges.add(nowMs)
    this.#hedgeCalendar.add(nowMs, nowMs)
    return { ...withdrawal, hedge: true }
  }

  /**
   * Asked when it is about to be sent: whether the second that ends now still bears it, for its load may have stopped
   * during the wait. It counts as sent now, not when it was planned; with `false` it is to be given back.
   */
  stillFits(withdrawal: Withdrawal, nowMs: number): boolean {
    this.#calendar.remove(withdrawal.sendAtMs)
    this.#calendar.add(nowMs, nowMs)
    withdrawal.sendAtMs = nowMs
    return this.#calendar.secondUntil(nowMs) <= this.#capPerSecond(nowMs)
  }

  /** As if it had never been withdrawn; a second time does nothing. */
  giveBack(withdrawal: Withdrawal, nowMs: number): void {
    if (withdrawal.returned) return
    withdrawal.returned = true
    this.#calendar.remove(withdrawal.sendAtMs)
    if (withdrawal.hedge) this.#hedgeCalendar.remove(withdrawal.sendAtMs)
    // A reset has given it back already: what was withdrawn since then is another's.
    if (withdrawal.atMs <= this.#resetAtMs) return
    this.#withdrawn.remove(withdrawal.atMs, nowMs)
    if (withdrawal.hedge) this.#hedges.remove(withdrawal.atMs, nowMs)
  }

  /** By hand: as if nothing had been withdrawn in the window. What was sent in this second still counts for its cap. */
  reset(nowMs: number): void {
    this.#withdrawn.clear()
    this.#hedges.clear()
    this.#resetAtMs = nowMs
  }

  /** What the window grants, and what was withdrawn of it, both per second of the window. */
  rates(nowMs: number): { readonly allowedPerSec: number; readonly spentPerSec: number } {
    const seconds = this.#settings.windowMs / 1000
    return { allowedPerSec: this.#granted(nowMs) / seconds, spentPerSec: this.#withdrawn.total(nowMs) / seconds }
  }

  /** Retries that the window would still grant, ≥ 0, fractional; the cap per second may grant fewer just now. */
  balance(nowMs: number): number {
    return Math.max(0, this.#left(nowMs))
  }

  /** The same for hedges. */
  hedgeBalance(nowMs: number): number {
    const share = HEDGE_SHARE * (this.#granted(nowMs) + ROUNDING) - this.#hedges.total(nowMs)
    return Math.max(0, Math.min(share, this.#left(nowMs)))
  }

  /** Counts are kept; a moved window sorts them into its own slots and drops what lies outside. */
  reconfigure(settings: BudgetSettings, nowMs: number): void {
    if (settings.windowMs !== this.#settings.windowMs) {
      this.#successes = this.#successes.rebinned(slotMs(settings), nowMs)
      this.#withdrawn = this.#withdrawn.rebinned(slotMs(settings), nowMs)
      this.#hedges = this.#hedges.rebinned(slotMs(settings), nowMs)
    }
    this.#settings = settings
  }

  #left(nowMs: number): number {
    return this.#granted(nowMs) + ROUNDING - this.#withdrawn.total(nowMs)
  }

  /** In the window, what was withdrawn of it included. */
  #granted(nowMs: number): number {
    return this.#settings.ratio * this.#successes.total(nowMs) + floor(this.#settings)
  }

  #capPerSecond(nowMs: number): number {
    return Math.max(floor(this.#settings), this.#settings.ratio * this.#lastSecond.total(nowMs)) + ROUNDING
  }
}

function floor(settings: BudgetSettings): number {
  return (settings.minPerSecond * settings.windowMs) / 1000
}

function slotMs(settings: BudgetSettings): number {
  return settings.windowMs / SLOTS
}
