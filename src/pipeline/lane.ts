import type { Clock, Timer } from '../clock/clock.js'
import type { RetryBudget } from '../core/budget.js'
import type { Gate } from '../core/gate.js'
import type { LatencyWindow } from '../core/latency.js'
import type { BreakerSettings } from '../core/breaker-rules.js'
import type { EventSink } from '../telemetry/events.js'
import type { Limiter } from './limiter.js'
import { Line } from './line.js'
import type { BreakerTransition, ReconfigurableBreaker } from './ports.js'
import type { StaleAllowance } from './stale-allowance.js'

/** A call that waits for its next attempt. */
export interface Backoff {
  /** The breaker opened and will not probe before `reopensAtMs`. */
  onBreakerOpen(reopensAtMs: number): void
  /** The drain period is over. */
  onDrained(): void
}

/** A breaker that let nobody probe is asked again after this long. */
const PROBE_AGAIN_MS = 250

export interface LaneParts {
  readonly upstream: string
  /** Set when the route has instances of its own. */
  readonly route: string | null
  readonly budget: RetryBudget
  readonly parentBudget: RetryBudget | null
  readonly limiter: Limiter
  readonly gate: Gate
  readonly latency: LatencyWindow
  readonly stale: StaleAllowance
  readonly makeBreaker: (onTransition: (change: BreakerTransition) => void) => ReconfigurableBreaker
  readonly breakerSettings: BreakerSettings
}

/**
 * Everything that calls to one upstream (or to a route with its own breaker, limits or budget) share: the mechanisms,
 * and the line of calls that wait for the gate or the breaker.
 */
export class Lane {
  readonly upstream: string
  readonly route: string | null
  readonly budget: RetryBudget
  readonly parentBudget: RetryBudget | null
  readonly limiter: Limiter
  readonly gate: Gate
  readonly latency: LatencyWindow
  readonly stale: StaleAllowance
  readonly breaker: ReconfigurableBreaker
  readonly line: Line
  readonly backoffs = new Set<Backoff>()
  breakerSettings: BreakerSettings
  readonly #clock: Clock
  readonly #sink: EventSink
  #probeTimer: Timer | null = null
  #gateTimer: Timer | null = null

  constructor(parts: LaneParts, clock: Clock, sink: EventSink) {
    this.upstream = parts.upstream
    this.route = parts.route
    this.budget = parts.budget
    this.parentBudget = parts.parentBudget
    this.limiter = parts.limiter
    this.gate = parts.gate
    this.latency = parts.latency
    this.stale = parts.stale
    this.breakerSettings = parts.breakerSettings
    this.#clock = clock
    this.#sink = sink
    this.line = new Line(clock)
    this.breaker = parts.makeBreaker(change => this.#onTransition(change))
  }

  /** Calls wait for an open breaker instead of being refused. */
  get ridesOut(): boolean {
    return this.breakerSettings.whenOpen === 'wait'
  }

  /** A call joined the line while no probe timer or gate timer will wake it. */
  holdLine(): void {
    if (!this.line.busy) this.line.block()
    if (this.breaker.state === 'half-open') this.#probeSoon()
  }

  /** An answer of the upstream, hinted or not, under `scope: upstream`. */
  onHint(hintMs: number | null, tooLong: boolean, capMs: number): void {
    const nowMs = this.#clock.nowMs()
    const before = this.gate.closedForMs(nowMs)
    if (tooLong) this.gate.onTooLong(capMs, nowMs)
    else this.gate.onAnswer(hintMs, nowMs)
    const closedForMs = this.gate.closedForMs(nowMs)
    if (closedForMs > before) this.#closeGate(closedForMs)
  }

  /** How the one call went that the gate let through; `null` = it told nothing. */
  onGateProbe(good: boolean | null): void {
    const nowMs = this.#clock.nowMs()
    this.gate.onProbe(good, nowMs)
    if (this.gate.closedForMs(nowMs) > 0) return
    if (good === true) {
      this.#sink.emit({ type: 'gate-changed', upstream: this.upstream, to: 'open', closedForMs: null })
      this.#openLine()
    } else this.line.sendOne()
  }

  onDrained(): void {
    for (const waiter of [...this.backoffs]) waiter.onDrained()
  }

  dispose(): void {
    this.#probeTimer?.cancel()
    this.#gateTimer?.cancel()
    this.breaker.dispose()
    this.line.dispose()
  }

  #closeGate(closedForMs: number): void {
    this.line.block()
    this.#gateTimer?.cancel()
    this.#gateTimer = this.#clock.after(closedForMs, () => {
      this.#gateTimer = null
      this.line.sendOne()
    })
    this.#sink.emit({ type: 'gate-changed', upstream: this.upstream, to: 'closed', closedForMs })
  }

  #onTransition(change: BreakerTransition): void {
    const observeOnly = this.breakerSettings.mode === 'observe'
    this.#sink.emit({
      type: 'breaker-changed',
      upstream: this.upstream,
      route: this.route,
      from: change.from,
      to: change.to,
      reason: change.reason,
      openForMs: change.openForMs,
      observeOnly,
    })
    if (observeOnly) return
    if (change.to === 'open') this.#onOpen(change.openForMs ?? 0)
    else if (change.to === 'half-open') this.#onHalfOpen()
    else this.#openLine()
  }

  #onOpen(openForMs: number): void {
    this.#probeTimer?.cancel()
    this.#probeTimer = null
    if (this.ridesOut || this.line.busy) this.line.block()
    const reopensAtMs = this.#clock.nowMs() + openForMs
    for (const waiter of [...this.backoffs]) waiter.onBreakerOpen(reopensAtMs)
  }

  #onHalfOpen(): void {
    if (this.line.length === 0) return
    this.line.sendOne()
    this.#probeSoon()
  }

  /** While half-open with calls in line, one of them probes whenever the breaker grants it. */
  #probeSoon(): void {
    if (this.#probeTimer !== null) return
    this.#probeTimer = this.#clock.after(PROBE_AGAIN_MS, () => {
      this.#probeTimer = null
      if (this.breaker.state === 'half-open') this.#onHalfOpen()
    })
  }

  #openLine(): void {
    if (this.gate.isOpen && !this.breaker.refusing) this.line.open()
  }
}
