import type { Timer } from '../clock/clock.js'
import type { Exchange } from './exchange.js'
import type { Waiter } from './guard.js'
import type { SlotWaiter } from './limiter.js'
import type { LineMember } from './member-queue.js'

/** `backoff` before the next attempt · `slot` for the limit · `line` for the gate or the breaker. */
export type WaitPlace = 'backoff' | 'slot' | 'line'

/** After so many deferrals the breaker is taken at its word. */
const MAX_DEFERRALS = 3

/** When to call again after a full room. */
export const FULL_ROOM_RETRY_MS = 1000

/** One request's stays in the waiting room: counted, bounded, timed, and ended by whatever makes them pointless. */
export class Wait implements SlotWaiter, LineMember, Waiter {
  /** Time spent waiting so far, ms. */
  totalMs = 0
  readonly #exchange: Exchange
  #place: WaitPlace | null = null
  #sinceMs = 0
  /** When the back-off ends; `Infinity` in the other places. */
  #wakeAtMs = Number.POSITIVE_INFINITY
  #bytes = 0
  #timer: Timer | null = null
  #deferrals = 0

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  get waits(): boolean {
    return this.#place !== null
  }

  get waitingForSlot(): boolean {
    return this.#place === 'slot'
  }

  get inLine(): boolean {
    return this.#place === 'line'
  }

  backOff(delayMs: number): void {
    if (!this.#enter('backoff')) return
    this.#wakeAtMs = this.#sinceMs + delayMs
    this.#timer = this.#exchange.deps.clock.after(delayMs, () => {
      this.leave()
      this.#exchange.resume('wake')
    })
  }

  /** The breaker would rather have a first attempt probe than this call. */
  defer(delayMs: number): void {
    this.#deferrals += 1
    if (this.#deferrals <= MAX_DEFERRALS) this.backOff(delayMs)
    else this.#exchange.giveUp('breaker-open', delayMs)
  }

  joinQueue(): void {
    if (!this.waitingForSlot && this.#enter('slot')) this.#exchange.lane.limiter.enqueue(this)
  }

  joinLine(): void {
    const { hasTurn, attempts, lane } = this.#exchange
    // Whoever comes back was here before everyone who stands in line now.
    if (this.#enter('line')) lane.guard.joinLine(this, hasTurn || attempts > 0)
  }

  onSlot(): void {
    this.#exchange.resume('slot')
  }

  onTurn(): boolean {
    const { deps, lane, deadlineMs } = this.#exchange
    const nowMs = deps.clock.nowMs()
    const p95Ms = lane.latency.quantile(0.95, nowMs) ?? 0
    this.#exchange.paced = true
    // With less than a typical answer's time left the call would only load the upstream.
    if (deadlineMs - nowMs >= p95Ms) this.#exchange.resume('turn')
    else this.#exchange.giveUp(lane.guard.heldBy)
    return !this.#exchange.over
  }

  onBreakerOpen(reopensAtMs: number): void {
    const { attempts, lane, mayRideOut } = this.#exchange
    if (this.#place === 'line' || attempts === 0) return
    // The line lets nobody go before the probe; a longer back-off may have been told by the upstream.
    if (this.#place === 'backoff' && this.#wakeAtMs >= reopensAtMs) return
    if (lane.guard.ridesOut && mayRideOut) this.joinLine()
    else this.#exchange.stop('breaker-open', 'breaker-open')
  }

  /** What it waits for will never come: its upstream has gone or moved. */
  onDismissed(): void {
    this.#exchange.giveUp(this.#exchange.lane.guard.heldBy, FULL_ROOM_RETRY_MS)
  }

  /** More of the body has come into memory. */
  recount(): void {
    const { lane } = this.#exchange
    const bytes = keptBytes(this.#exchange)
    if (this.#place === null || bytes === this.#bytes) return
    if (lane.limiter.recount(this.#bytes, bytes)) this.#bytes = bytes
    else this.#exchange.giveUp('overloaded', FULL_ROOM_RETRY_MS)
  }

  leave(): void {
    if (this.#place === null) return
    const { deps, lane } = this.#exchange
    if (this.#place === 'line') lane.guard.line.onLeft()
    const nowMs = deps.clock.nowMs()
    this.#exchange.facts.trace?.waited(this.#place, this.#sinceMs, nowMs)
    this.#place = null
    this.#timer?.cancel()
    this.#timer = null
    this.#wakeAtMs = Number.POSITIVE_INFINITY
    this.totalMs += nowMs - this.#sinceMs
    lane.limiter.leave(this.#bytes)
    lane.guard.waiters.delete(this)
  }

  /** Ends the request when the room is full. */
  #enter(place: WaitPlace): boolean {
    this.leave()
    const { deps, lane } = this.#exchange
    const bytes = keptBytes(this.#exchange)
    if (!lane.limiter.enter(bytes)) {
      this.#exchange.giveUp('overloaded', FULL_ROOM_RETRY_MS)
      return false
    }
    this.#place = place
    this.#bytes = bytes
    this.#sinceMs = deps.clock.nowMs()
    lane.guard.waiters.add(this)
    this.#exchange.onWait(place, this.#sinceMs)
    return true
  }
}

/** Of the app's body, and of the answer that a poll keeps. */
function keptBytes({ downstream, poll }: Exchange): number {
  return (downstream.body?.capturedBytes ?? 0) + (poll?.pending?.body.byteLength ?? 0)
}
