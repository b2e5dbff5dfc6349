import type { Clock, Timer } from '../clock/clock.js'

/** Fires once when nothing was touched for `limitMs`. Touching is cheap: the timer is re-armed only when it rings. */
export class IdleTimer {
  private lastMs: number
  private timer: Timer

  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
    private readonly onIdle: () => void,
  ) {
    this.lastMs = clock.nowMs()
    this.timer = clock.after(limitMs, this.ring)
  }

  touch(): void {
    this.lastMs = this.clock.nowMs()
  }

  cancel(): void {
    this.timer.cancel()
  }

  private readonly ring = (): void => {
    const leftMs = this.lastMs + this.limitMs - this.clock.nowMs()
    // Timers may ring a fraction of a millisecond early.
    if (leftMs <= 1) this.onIdle()
    else this.timer = this.clock.after(leftMs, this.ring)
  }
}
