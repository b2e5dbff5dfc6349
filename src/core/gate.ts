import { SlidingCounter } from './sliding-counter.js'

/** `closed` after its time is over waits for a call that goes as the probe. */
export type GateState =
  | { readonly kind: 'open' }
  | { readonly kind: 'closed'; readonly untilMs: number }
  | { readonly kind: 'probing'; readonly sinceMs: number }

/**
 * What the one call that went first came back with. `good`: a good answer without a hint. `nothing`: no answer to judge by
 * (aborted, refused by ourselves, a failure without a hint), so the turn goes to the next.
 */
export type ProbeResult =
  | { readonly kind: 'good' }
  | { readonly kind: 'hinted'; readonly hintMs: number }
  | { readonly kind: 'nothing' }

const OPEN: GateState = Object.freeze({ kind: 'open' })
/** One hinted answer says nothing about the upstream as a whole: three of the last second, and half of all. */
const LEAST_HINTED = 3
/** A probe without an answer for so long no longer keeps the others waiting. */
const PROBE_PATIENCE_MS = 1000

/** The pause that an upstream asked all callers for with `Retry-After` (`retryAfter.scope: upstream`). */
export class Gate {
  #state: GateState = OPEN
  #capMs: number
  readonly #answers = new SlidingCounter(10, 100)
  readonly #hinted = new SlidingCounter(10, 100)

  /** @param capMs `retryAfter.cap`: the longest pause */
  constructor(capMs: number) {
    this.#capMs = capMs
  }

  get state(): GateState {
    return this.#state
  }

  get isOpen(): boolean {
    return this.#state.kind === 'open'
  }

  /** A new cap holds for the next closing. */
  reconfigure(capMs: number): void {
    this.#capMs = capMs
  }

  /**
   * Every answer but the probe's. `hintMs`: what it asked for; `null` or 0 = nothing. `suffices`: this answer alone speaks
   * for the upstream as a whole.
   */
  onAnswer(hintMs: number | null, nowMs: number, suffices = false): void {
    this.#answers.add(nowMs)
    if (hintMs === null || hintMs <= 0) return
    this.#hinted.add(nowMs)
    if (suffices || this.#state.kind === 'closed' || this.#manyHinted(nowMs)) this.#close(hintMs, nowMs)
  }

  /** A hint above a cap is passed on, not waited for; the gate closes for that cap (a route may have its own), whatever the other answers said. */
  onTooLong(capMs: number, nowMs: number): void {
    this.#close(capMs, nowMs, capMs)
  }

  /**
   * How long a call has to wait before it may ask again, ms; 0 = go, or take the probe's turn. While a probe is out: until
   * another may start.
   */
  closedForMs(nowMs: number): number {
    switch (this.#state.kind) {
      case 'open':
        return 0
      case 'closed':
        return Math.max(0, this.#state.untilMs - nowMs)
      case 'probing':
        return Math.max(0, this.#state.sinceMs + PROBE_PATIENCE_MS - nowMs)
    }
  }

  /** True for the one call that goes first when the time is over; it must report by `onProbe`. False while open too. */
  takeProbe(nowMs: number): boolean {
    if (this.#state.kind === 'open' || this.closedForMs(nowMs) > 0) return false
    this.#state = { kind: 'probing', sinceMs: nowMs }
    return true
  }

  /** A report that comes after the gate has closed or opened anew is ignored. */
  onProbe(result: ProbeResult, nowMs: number): void {
    if (this.#state.kind !== 'probing') return
    switch (result.kind) {
      case 'good':
        this.#open()
        break
      case 'hinted':
        this.#close(result.hintMs, nowMs)
        break
      case 'nothing':
        this.#state = { kind: 'closed', untilMs: nowMs }
        break
    }
  }

  /** Another target, or the scope went back to `request`. */
  reset(): void {
    this.#open()
  }

  #manyHinted(nowMs: number): boolean {
    const hinted = this.#hinted.total(nowMs)
    return hinted >= LEAST_HINTED && hinted * 2 >= this.#answers.total(nowMs)
  }

  /** A later time wins, an earlier one does not shorten the pause. */
  #close(hintMs: number, nowMs: number, capMs = this.#capMs): void {
    const untilMs = nowMs + Math.min(hintMs, capMs)
    if (this.#state.kind === 'closed' && this.#state.untilMs >= untilMs) return
    this.#state = { kind: 'closed', untilMs }
  }

  /** The answers from before the pause must not close it again. */
  #open(): void {
    this.#state = OPEN
    this.#answers.clear()
    this.#hinted.clear()
  }
}
