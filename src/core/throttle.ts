import type { SettledOutcome } from './breaker-rules.js'
import { SlidingCounter } from './sliding-counter.js'

export interface ThrottleSettings {
  readonly mode: 'enabled' | 'observe' | 'disabled'
  /** Calls that the upstream may be sent for each that it accepts. */
  readonly k: number
  readonly windowMs: number
}

const BINS = 10
/** Fewer calls in the window say nothing: after a single failure the formula would refuse every second call. */
const MIN_REQUESTS = 20
/** However long it has failed, some calls must find out that it is back. */
const MAX_PROBABILITY = 0.95

/**
 * Client-side throttling (Google, Site Reliability Engineering, ch. 21): a call is refused here with the probability
 * max(0, (requests − k · accepts) / (requests + 1)) over the window, at most 0.95 and 0 below 20 requests. So an upstream that accepts less and less is sent at
 * most k times what it accepts, and the share that is let through finds out when it accepts more.
 *
 * A call counts as a request when it begins and as accepted until the contrary is known: calls on their way are no sign
 * of trouble, and a failure is held against the moment at which its call began (zeromicro/go-zero#5011).
 */
export class AdaptiveThrottle {
  #settings: ThrottleSettings
  #requests: SlidingCounter
  #accepts: SlidingCounter

  constructor(settings: ThrottleSettings) {
    this.#settings = settings
    this.#requests = new SlidingCounter(BINS, settings.windowMs / BINS)
    this.#accepts = new SlidingCounter(BINS, settings.windowMs / BINS)
  }

  get mode(): ThrottleSettings['mode'] {
    return this.#settings.mode
  }

  get counts(): boolean {
    return this.#settings.mode !== 'disabled'
  }

  /** A call begins; false = it is refused. `mayRefuse: false` for one that must go out: it is only counted. */
  admits(nowMs: number, random: () => number, mayRefuse: boolean): boolean {
    const refused = mayRefuse && this.#settings.mode === 'enabled' && random() < this.refusalProbability(nowMs)
    this.#requests.add(nowMs)
    if (!refused) this.#accepts.add(nowMs)
    return !refused
  }

  /** How the call that began at `sinceMs` went. A 429 is no acceptance; of a call without an outcome nothing is known. */
  settle(sinceMs: number, outcome: SettledOutcome, nowMs: number): void {
    if (!this.counts || outcome === 'success' || outcome === 'ratio-failure') return
    this.#accepts.remove(sinceMs, nowMs)
    if (outcome === 'none') this.#requests.remove(sinceMs, nowMs)
  }

  /** 0 … 1 */
  refusalProbability(nowMs: number): number {
    const requests = this.#requests.total(nowMs)
    if (requests < MIN_REQUESTS) return 0
    const probability = (requests - this.#settings.k * this.#accepts.total(nowMs)) / (requests + 1)
    return Math.min(MAX_PROBABILITY, Math.max(0, probability))
  }

  /** The upstream is known to be well again. */
  reset(): void {
    this.#requests.clear()
    this.#accepts.clear()
  }

  /** Counts are kept; a moved window sorts them into its own bins. */
  reconfigure(settings: ThrottleSettings, nowMs: number): void {
    if (settings.windowMs !== this.#settings.windowMs) {
      this.#requests = this.#requests.rebinned(settings.windowMs / BINS, nowMs)
      this.#accepts = this.#accepts.rebinned(settings.windowMs / BINS, nowMs)
    }
    this.#settings = settings
  }
}
