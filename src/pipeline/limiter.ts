import { AdaptiveLimit } from '../core/adaptive-limit.js'
import type { LimitSettings } from '../core/snapshot.js'

/** Something that waits for a slot; called once when it may try again. */
export interface SlotWaiter {
  onSlot(): void
  /** Waits no longer; skipped when its turn comes. */
  readonly waitingForSlot: boolean
}

/**
 * Attempts on the wire, and everyone who waits for whatever reason. A slot is a right to a connection, so an
 * upstream's pool is the parent of the limits that its routes have of their own.
 */
export class Limiter {
  #settings: LimitSettings
  #adaptive: AdaptiveLimit | null = null
  readonly #parent: Limiter | null
  readonly #children = new Set<Limiter>()
  #detached = false
  #queue: SlotWaiter[] = []
  #queueHead = 0
  inFlight = 0
  /** Tunnels that stand; they hold no slot, for they may do so for hours. */
  tunnels = 0
  tunnelsOpening = 0
  waiting = 0
  waitingBytes = 0

  constructor(settings: LimitSettings, parent: Limiter | null, nowMs: number) {
    this.#settings = settings
    this.#parent = parent
    if (settings.adaptive) this.#adaptive = new AdaptiveLimit(nowMs)
    if (parent !== null) parent.#children.add(this)
  }

  reconfigure(settings: LimitSettings, nowMs: number): void {
    this.#settings = settings
    this.#adaptive = settings.adaptive ? (this.#adaptive ?? new AdaptiveLimit(nowMs)) : null
    // More slots of the pool serve whoever queues for them, whichever limits those stand under.
    ;(this.#parent ?? this).#drainInTurns()
  }

  /** No new call will come, but the pool's slots still serve those in its queue. */
  detach(): void {
    this.#detached = true
    this.#drain()
  }

  /** Slots that there are now. */
  get limit(): number {
    const { maxInFlight } = this.#settings
    return this.#adaptive === null ? maxInFlight : Math.min(maxInFlight, this.#adaptive.limit)
  }

  /** An attempt that holds a slot is settled; `tookMs` is what a limit that learns goes by. */
  onSettled(tookMs: number, failed: boolean, nowMs: number): void {
    this.#adaptive?.onSettled(tookMs, failed, this.inFlight, nowMs)
  }

  /** A slot is free and nobody waits for it. */
  get free(): boolean {
    return this.#queueHead === this.#queue.length && this.#hasSlot()
  }

  /** One more tunnel may be opened. */
  get tunnelFree(): boolean {
    return this.tunnels + this.tunnelsOpening < this.#settings.maxTunnels
  }

  /** Takes a slot; over the limit only for a breaker's probe, which must not wait. */
  take(): void {
    this.inFlight += 1
    if (this.#parent !== null) this.#parent.inFlight += 1
  }

  release(): void {
    this.inFlight -= 1
    if (this.#parent !== null) this.#parent.inFlight -= 1
    const root = this.#parent ?? this
    if (root.#someoneQueues()) root.#drainInTurns()
  }

  /** Asked after every attempt, so it allocates nothing. */
  #someoneQueues(): boolean {
    if (this.#queueHead < this.#queue.length) return true
    for (const child of this.#children) if (child.#queueHead < child.#queue.length) return true
    return false
  }

  /** One slot at a time to each of those that share the pool, so that no route starves behind the busiest. */
  #drainInTurns(): void {
    this.#drain()
    for (let given = true; given && this.#hasSlot(); ) {
      given = false
      for (const child of [...this.#children]) {
        if (!child.#giveOne()) continue
        given = true
        // Next time the others come first.
        if (this.#children.delete(child)) this.#children.add(child)
        break
      }
    }
  }

  /** Lets the first in the queue go; `false` when nobody waits or it may not. */
  #giveOne(): boolean {
    while (this.#queueHead < this.#queue.length && this.#hasSlot()) {
      const waiter = this.#queue[this.#queueHead++]
      if (!waiter?.waitingForSlot) continue
      waiter.onSlot()
      this.#tidy()
      return true
    }
    this.#tidy()
    return false
  }

  /** Queues for a slot, first come first served. The waiter must have entered the room before. */
  enqueue(waiter: SlotWaiter): void {
    while (this.#queue[this.#queueHead]?.waitingForSlot === false) this.#queueHead += 1
    this.#compact()
    this.#queue.push(waiter)
    if (this.#detached && this.#parent !== null) this.#parent.#children.add(this)
  }

  /** Enters the waiting room with so many body bytes in memory; `false` when it is full. */
  enter(bytes: number): boolean {
    const { maxWaiting, maxWaitingBytes } = this.#settings
    if (this.waiting >= maxWaiting || this.waitingBytes + bytes > maxWaitingBytes) return false
    this.waiting += 1
    this.waitingBytes += bytes
    return true
  }

  /** Someone in the room holds another number of bytes now; `false` when that is too many. */
  recount(before: number, after: number): boolean {
    if (this.waitingBytes - before + after > this.#settings.maxWaitingBytes) return false
    this.waitingBytes += after - before
    return true
  }

  leave(bytes: number): void {
    this.waiting -= 1
    this.waitingBytes -= bytes
  }

  #hasSlot(): boolean {
    return this.inFlight < this.limit && (this.#parent === null || this.#parent.#hasSlot())
  }

  #drain(): void {
    while (this.#giveOne()) {}
  }

  #tidy(): void {
    this.#compact()
    if (this.#detached && this.#parent !== null && this.#queue.length === 0) this.#parent.#children.delete(this)
  }

  #compact(): void {
    const head = this.#queueHead
    if (head === 0 || (head < this.#queue.length && head <= 1024)) return
    this.#queue = this.#queue.slice(this.#queueHead)
    this.#queueHead = 0
  }
}
