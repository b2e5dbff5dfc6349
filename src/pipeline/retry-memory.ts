import type { Withdrawal } from '../core/budget.js'
import { type RetryCause, stillRetryable } from '../core/classify.js'
import type { DenialReason } from '../core/reasons.js'
import type { RetrySettings } from '../core/snapshot.js'
import type { RunFailure } from './attempt-report.js'
import type { AttemptRun } from './attempt-run.js'
import type { Lane } from './lane.js'
import type { ResponseHead } from './ports.js'

/** Largest failed answer kept through a wait; a larger one is destroyed, so that waiting calls cost little memory. */
const HELD_ANSWER_BYTES = 16 * 1024

/**
 * What one request remembers of its failed attempts, and what it has withdrawn from the budgets for the next one. Made
 * at the first failure only: a request that succeeds at once costs none of it.
 */
export class RetryMemory {
  /** Connections of failed attempts: never used again, for an L4 balancer pins a connection to one replica. */
  readonly avoid: object[] = []
  /** The last failed answer, being kept. */
  held: AttemptRun | null = null
  lastFailure: RunFailure | null = null
  /** An attempt may have had its effect upstream. */
  reached = false
  previousDelayMs: number | null = null
  /** Why no further attempt was made. */
  denied: DenialReason | null = null
  readonly #lane: Lane
  #why: RetryCause | null = null
  /** Of the last answer, kept or not. */
  #head: ResponseHead | null = null
  #own: Withdrawal | null = null
  #parent: Withdrawal | null = null

  constructor(lane: Lane) {
    this.#lane = lane
  }

  /** Keeps the answer of `run` instead of the one before. */
  hold(run: AttemptRun, head: ResponseHead): void {
    this.held?.discard()
    this.held = run
    this.#head = head
    this.lastFailure = null
    this.reached = true
    run.hold(HELD_ANSWER_BYTES)
    if (run.connection !== null) this.avoid.push(run.connection)
  }

  /** An attempt ended without an answer. */
  fail(failure: RunFailure): void {
    this.lastFailure = failure
    this.reached ||= !failure.nothingSent
  }

  /** Another attempt follows after so long. */
  plan(delayMs: number, why: RetryCause | null): void {
    this.previousDelayMs = delayMs
    this.#why = why
  }

  /** What the planned attempt is for is still worth one. */
  stillWorthIt(retry: RetrySettings): boolean {
    return this.#why === null || stillRetryable(this.#why, this.#head, retry)
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

  /** Whether the budgets still bear, at its sending, what they granted before the wait. */
  stillFits(nowMs: number): boolean {
    const { budget, parentBudget } = this.#lane
    if (this.#parent !== null && parentBudget?.stillFits(this.#parent, nowMs) === false) return false
    return this.#own === null || budget.stillFits(this.#own, nowMs)
  }

  /** The attempt that was paid for is being sent. */
  spend(): void {
    this.#own = null
    this.#parent = null
  }

  /** The request is over: what was paid for and not sent is given back. */
  end(nowMs: number): void {
    this.giveBack(nowMs)
    this.held?.discard()
  }

  /** What was paid for will not be sent, or not now. */
  giveBack(nowMs: number): void {
    if (this.#own !== null) this.#lane.budget.giveBack(this.#own, nowMs)
    if (this.#parent !== null) this.#lane.parentBudget?.giveBack(this.#parent, nowMs)
    this.spend()
  }
}
