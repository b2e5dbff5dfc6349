import type { Clock, Timer } from '../clock/clock.js'
import type { BreakerSettings } from '../core/breaker-rules.js'
import { Gate, type ProbeResult } from '../core/gate.js'
import { Pacer, type PaceSettings } from '../core/pacer.js'
import type { RetrySettings } from '../core/snapshot.js'
import type { EventSink } from '../telemetry/events.js'
import type { BreakerTransition, ReconfigurableBreaker } from './breaker-port.js'
import { Line } from './line.js'
import type { LineMember } from './member-queue.js'

/** A call that waits, wherever. */
export interface Waiter {
  /** The breaker opened and will not probe before `reopensAtMs`. */
  onBreakerOpen(reopensAtMs: number): void
}

/** A half-open breaker with calls in line is asked again after this long, should its probe tell nothing. */
const PROBE_AGAIN_MS = 250

export interface GuardParts {
  readonly upstream: string
  /** Set when the route has a breaker of its own. */
  readonly route: string | null
  readonly settings: BreakerSettings
  readonly retryAfter: RetrySettings['retryAfter']
  readonly pace: PaceSettings
  readonly makeBreaker: (
    settings: BreakerSettings,
    onTransition: (change: BreakerTransition) => void,
  ) => ReconfigurableBreaker
}

/** What decides whether an upstream may be called now: its breaker, its gate, its pace, and the line of calls they hold back. */
export class Guard {
  readonly upstream: string
  readonly route: string | null
  readonly breaker: ReconfigurableBreaker
  readonly gate: Gate
  readonly pacer: Pacer
  readonly line: Line
  /** Every call that waits for anything. */
  readonly waiters = new Set<Waiter>()
  #settings: BreakerSettings
  #scope: RetrySettings['retryAfter']['scope']
  #disposed = false
  readonly #clock: Clock
  readonly #sink: EventSink
  #probeTimer: Timer | null = null
  #gateTimer: Timer | null = null

  constructor(parts: GuardParts, clock: Clock, sink: EventSink) {
    this.upstream = parts.upstream
    this.route = parts.route
    this.gate = new Gate(parts.retryAfter.capMs)
    this.#scope = parts.retryAfter.scope
    this.#settings = parts.settings
    this.#clock = clock
    this.#sink = sink
    this.pacer = new Pacer(parts.pace, clock.nowMs())
    this.line = new Line(clock, this.pacer)
    this.breaker = parts.makeBreaker(parts.settings, change => this.#onTransition(change))
  }

  get mode(): BreakerSettings['mode'] {
    return this.#settings.mode
  }

  /** Calls wait for an open breaker instead of being refused. */
  get ridesOut(): boolean {
    return this.#settings.whenOpen === 'wait'
  }

  /** Half-open, and nobody in line who could be the probe. */
  get wantsProbe(): boolean {
    return this.breaker.state === 'half-open' && this.line.empty
  }

  /** Why calls stand in line. */
  get heldBy(): 'gate-closed' | 'overloaded' | 'breaker-open' {
    if (!this.gate.isOpen) return 'gate-closed'
    return this.line.pacing && !this.breaker.refusing ? 'overloaded' : 'breaker-open'
  }

  /** Whoever stands in line for what an edit has taken away goes on. */
  reconfigure(settings: BreakerSettings, retryAfter: RetrySettings['retryAfter'], pace: PaceSettings): void {
    this.#settings = settings
    this.breaker.reconfigure(settings)
    this.pacer.reconfigure(pace, this.#clock.nowMs())
    if (this.line.pacing) this.line.pace()
    this.gate.reconfigure(retryAfter.capMs)
    if (retryAfter.scope !== this.#scope) this.#resetGate()
    this.#scope = retryAfter.scope
    this.#openLine('outage')
  }

  /** `returns`: it was let go before and could not start, so it stands in front. */
  joinLine(member: LineMember, returns: boolean): void {
    const free = this.gate.isOpen && !this.breaker.refusing
    const paced = free && !this.line.busy
    // Also a line that paces: an edit may have made a breaker that was open refuse, or its members would go round for ever.
    if (!free) this.line.block()
    if (returns) this.line.rejoin(member)
    else this.line.join(member)
    if (paced) this.line.pace()
    if (this.breaker.state === 'half-open') this.#probeSoon()
  }

  /**
   * An answer under `scope: upstream`. `hintMs`: its `Retry-After`, `null` = none; above `capMs` it closes the gate for the
   * cap. `throttled`: a 429, of which one is enough where a pace shall keep them from coming.
   */
  onAnswer(hintMs: number | null, capMs: number, throttled: boolean, nowMs: number): void {
    if (this.#disposed) return
    const beforeMs = this.gate.closedForMs(nowMs)
    if (hintMs !== null && hintMs > capMs) this.gate.onTooLong(capMs, nowMs)
    else this.gate.onAnswer(hintMs, nowMs, throttled && this.pacer.mode !== 'disabled')
    const closedForMs = this.gate.closedForMs(nowMs)
    if (closedForMs > beforeMs) this.#closeGate(closedForMs)
  }

  /** True for the one call that the gate lets through; should it not be answered, another of the line follows. */
  takeGateProbe(nowMs: number): boolean {
    if (!this.gate.takeProbe(nowMs)) return false
    this.#sendOneAfter(this.gate.closedForMs(nowMs))
    return true
  }

  /** How the one call went that the gate let through. */
  onGateProbe(result: ProbeResult): void {
    // Another has decided in the meantime.
    if (this.gate.state.kind !== 'probing') return
    const nowMs = this.#clock.nowMs()
    this.#gateTimer?.cancel()
    this.gate.onProbe(result, nowMs)
    const closedForMs = this.gate.closedForMs(nowMs)
    if (closedForMs > 0) this.#closeGate(closedForMs)
    else if (this.gate.isOpen) {
      this.#tellGateOpen()
      this.#openLine('pause')
    } else this.line.sendOne()
  }

  /** Everyone in line is answered at once, while it can still be told what held them. */
  dispose(): void {
    this.#disposed = true
    this.#probeTimer?.cancel()
    this.line.dispose()
    this.#resetGate()
    // Whoever is still to be sent to what was removed passes.
    this.pacer.reconfigure({ mode: 'disabled', ratePerSec: 1, burst: 1 }, this.#clock.nowMs())
    this.breaker.retire()
  }

  #resetGate(): void {
    if (this.gate.isOpen) return
    this.#gateTimer?.cancel()
    this.gate.reset()
    this.#tellGateOpen()
  }

  #tellGateOpen(): void {
    this.#sink.emit({ type: 'gate-changed', upstream: this.upstream, to: 'open', closedForMs: null })
  }

  #closeGate(closedForMs: number): void {
    this.pacer.onPause(this.#clock.nowMs() + closedForMs)
    this.line.block()
    this.#sendOneAfter(closedForMs)
    this.#sink.emit({ type: 'gate-changed', upstream: this.upstream, to: 'closed', closedForMs })
  }

  #sendOneAfter(delayMs: number): void {
    this.#gateTimer?.cancel()
    this.#gateTimer = this.#clock.after(delayMs, () => {
      this.#gateTimer = null
      this.line.sendOne()
    })
  }

  #onTransition(change: BreakerTransition): void {
    const { upstream, route } = this
    const observeOnly = this.mode === 'observe'
    this.#sink.emit({ type: 'breaker-changed', upstream, route, ...change, observeOnly })
    if (observeOnly) return
    if (change.to === 'open') this.#onOpen(change.openForMs ?? Number.POSITIVE_INFINITY)
    else if (change.to === 'half-open') this.#onHalfOpen()
    else this.#openLine('outage')
  }

  #onOpen(openForMs: number): void {
    this.#probeTimer?.cancel()
    this.#probeTimer = null
    if (this.ridesOut || this.line.busy) this.line.block()
    this.#refuseLine()
    const reopensAtMs = this.#clock.nowMs() + openForMs
    for (const waiter of [...this.waiters]) waiter.onBreakerOpen(reopensAtMs)
  }

  /** Nobody waits for a breaker that refuses. */
  #refuseLine(): void {
    if (this.gate.isOpen && !this.ridesOut) this.line.dispose()
  }

  #onHalfOpen(): void {
    if (this.line.empty) return
    this.line.sendOne()
    this.#probeSoon()
  }

  #probeSoon(): void {
    if (this.#probeTimer !== null) return
    this.#probeTimer = this.#clock.after(PROBE_AGAIN_MS, () => {
      this.#probeTimer = null
      if (this.breaker.state === 'half-open') this.#onHalfOpen()
    })
  }

  #openLine(after: 'outage' | 'pause'): void {
    if (this.breaker.refusing) this.#refuseLine()
    else if (this.gate.isOpen) this.line.open(after)
    else if (this.gate.closedForMs(this.#clock.nowMs()) === 0) this.line.sendOne()
  }
}
