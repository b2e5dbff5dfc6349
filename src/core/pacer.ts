import { SlidingCounter } from './sliding-counter.js'

export interface PaceSettings {
  /** `auto` learns the rate from 429s, `fixed` is told it. */
  readonly mode: 'auto' | 'fixed' | 'disabled'
  /** Calls a second, `fixed` only. */
  readonly ratePerSec: number
  /** Calls at once after a pause, `fixed` only. */
  readonly burst: number
}

/** After a 429 the rate is this share of what was sent (RFC 9438 §4.6: 0.7). */
const DECREASE = 0.7
/** After so long without a 429 the rate is again what it was at the last one … */
const REGAIN_MS = 10_000
/** … and once more as long as this it is as far above as it was below at first; from there on it is not long to any rate. */
const EXCEED_MS = 5000
/** As long as no limit was met under the pace, only without it, the rate doubles in this time. */
const DOUBLE_MS = 2000
const MIN_RATE_PER_SEC = 0.5
/** What a timer that is late by so much would lose is made up for, in whole calls: slow paces stay even. */
const TIMER_SLACK_MS = 20

/** What was learnt at a 429. */
interface Cut {
  readonly atMs: number
  /** The end of the pause that it asked for: until then nothing is learnt. */
  readonly growsFromMs: number
  readonly ratePerSec: number
  /** The pace was what was sent; otherwise the app sent what it had, in whatever bursts, and the rate is but a guess. */
  readonly paced: boolean
}

/**
 * How fast an upstream that limits its callers may be sent. `auto` begins without a limit; a 429 cuts the rate to 0.7 of
 * what was sent, from where it grows on a cubic curve as CUBIC does (RFC 9438 §4.2, but in a fixed time): slowly near the
 * rate that brought the 429, fast away from it. So it keeps just under a limit, and finds out in half a minute that there
 * is none any more. After a first 429, whose rate is a guess, it doubles until the next, as a slow start. A bucket of tokens spaces what is sent; in `auto` it holds one, for how an upstream counts is not known.
 */
export class Pacer {
  #settings: PaceSettings
  #cut: Cut | null = null
  #tokens: number
  #filledAtMs: number
  readonly #sent = new SlidingCounter(10, 100)

  constructor(settings: PaceSettings, nowMs: number) {
    this.#settings = settings
    this.#tokens = settings.burst
    this.#filledAtMs = nowMs
  }

  get mode(): PaceSettings['mode'] {
    return this.#settings.mode
  }

  /** Calls a second that may be sent now; `Infinity` = no limit is known. */
  ratePerSec(nowMs: number): number {
    switch (this.#settings.mode) {
      case 'fixed':
        return this.#settings.ratePerSec
      case 'auto':
        return this.#cut === null ? Number.POSITIVE_INFINITY : regained(this.#cut, nowMs)
      case 'disabled':
        return Number.POSITIVE_INFINITY
    }
  }

  /** One call wants to be sent now: true = it may. */
  tryTake(nowMs: number): boolean {
    if (this.#settings.mode === 'disabled') return true
    if (this.waitMs(nowMs) > 0) return false
    this.take(nowMs)
    return true
  }

  /** One call is sent, whether it may or not: a probe must go. */
  take(nowMs: number): void {
    if (this.#settings.mode === 'disabled') return
    this.#fill(nowMs)
    this.#tokens -= 1
    this.#sent.add(nowMs)
  }

  /** The call was not sent after all. */
  giveBack(nowMs: number): void {
    if (this.#settings.mode === 'disabled') return
    this.#tokens += 1
    this.#sent.remove(nowMs, nowMs)
  }

  /** Until the next call may be sent, ms; 0 = now. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs)
    if (this.#tokens >= 1) return 0
    return Math.ceil(((1 - this.#tokens) * 1000) / this.ratePerSec(nowMs))
  }

  /** A 429 to a call that was sent at `sentMs`. Calls from before the last cut tell nothing new. */
  onThrottled(sentMs: number, nowMs: number): void {
    const cut = this.#cut
    if (this.#settings.mode !== 'auto' || (cut !== null && sentMs < cut.atMs)) return
    const allowed = this.ratePerSec(nowMs)
    // Just after a pause the last second tells too little, but then the app had all that it was allowed.
    const paced = cut !== null && allowed <= 2 * cut.ratePerSec
    const ratePerSec = Math.max(MIN_RATE_PER_SEC, paced ? allowed : Math.min(allowed, this.#sent.total(nowMs)))
    this.#cut = { atMs: nowMs, growsFromMs: nowMs, ratePerSec, paced }
    this.#tokens = 0
    this.#filledAtMs = nowMs
  }

  /** The upstream asked for a pause. */
  onPause(untilMs: number): void {
    if (this.#cut !== null && untilMs > this.#cut.growsFromMs) this.#cut = { ...this.#cut, growsFromMs: untilMs }
  }

  reconfigure(settings: PaceSettings, nowMs: number): void {
    this.#fill(nowMs)
    if (settings.mode !== this.#settings.mode) {
      this.#cut = null
      this.#tokens = settings.burst
    }
    this.#settings = settings
  }

  #fill(nowMs: number): void {
    const ratePerSec = this.ratePerSec(nowMs)
    const burst = this.#settings.mode === 'fixed' ? this.#settings.burst : 1
    const most = burst + Math.floor((ratePerSec * TIMER_SLACK_MS) / 1000)
    const gained = ratePerSec === Number.POSITIVE_INFINITY ? burst : ((nowMs - this.#filledAtMs) / 1000) * ratePerSec
    this.#tokens = Math.min(most, this.#tokens + gained)
    this.#filledAtMs = nowMs
  }
}

function regained({ ratePerSec, growsFromMs, paced }: Cut, nowMs: number): number {
  const sinceMs = Math.max(0, nowMs - growsFromMs)
  if (!paced) return ratePerSec * DECREASE * 2 ** (sinceMs / DOUBLE_MS)
  // Two cubics that meet, without slope, where the rate is that of the cut: one comes from below, the other goes above.
  const beyondMs = sinceMs - REGAIN_MS
  const distance = beyondMs / (beyondMs < 0 ? REGAIN_MS : EXCEED_MS)
  return ratePerSec * (1 + (1 - DECREASE) * distance ** 3)
}
