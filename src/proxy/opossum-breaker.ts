import { MAX_DELAY_MS } from '../clock/system-clock.js'
import {
  type BreakerPermit,
  type BreakerSettings,
  type BreakerState,
  type FailureRun,
  failsProbe,
  NO_RUN,
  nextRun,
  type Outage,
  openTimeMs,
  outageSinceMs,
  probeWaitMs,
  type SettledOutcome,
  type TransitionReason,
  tripReason,
} from '../core/breaker-rules.js'
import type { BreakerRefusal, BreakerTransition, CallKind, ReconfigurableBreaker } from '../pipeline/breaker-port.js'
import { OpossumCircuit } from './opossum-circuit.js'

export interface BreakerDeps {
  /** Monotonic, ms. Must run with Node's timers: opossum ends an opening by one. */
  readonly nowMs: () => number
  /** In [0, 1). */
  readonly random: () => number
  /** 95th percentile of successful attempts, ms; `null` = not known yet. */
  readonly p95Ms: () => number | null
  readonly onTransition: (change: BreakerTransition) => void
}

/** An opening by hand is renewed when it ends. */
const HELD_OPEN_MS = MAX_DELAY_MS

/** Generations begin at 1, so an outcome under this permit is always ignored. */
const UNWATCHED: BreakerPermit = Object.freeze({ granted: true, generation: 0, probe: false, first: false })

export function createBreaker(settings: BreakerSettings, deps: BreakerDeps): ReconfigurableBreaker {
  return new OpossumBreaker(settings, deps)
}

/**
 * The breaker port on opossum. opossum never sees a call, only outcomes: so calls in flight do not dilute the ratio,
 * refusals are not counted, and answers from before a transition are dropped by their generation.
 */
class OpossumBreaker implements ReconfigurableBreaker {
  readonly #deps: BreakerDeps
  #settings: BreakerSettings
  #circuit: OpossumCircuit
  #generation = 0
  /** One object each for all calls of a generation: the way of a healthy call allocates none. */
  #firstPermit = UNWATCHED
  #retryPermit = UNWATCHED
  #run: FailureRun = NO_RUN
  #outage: Outage | null = null
  #closedAtMs: number | null = null
  #openUntilMs = 0
  #quietSinceMs = 0
  #probe: { readonly permit: BreakerPermit; readonly sinceMs: number } | null = null
  #forced: 'open' | 'closed' | null = null

  constructor(settings: BreakerSettings, deps: BreakerDeps) {
    this.#settings = settings
    this.#deps = deps
    this.#circuit = this.#newCircuit()
    this.#nextGeneration()
  }

  acquire(kind: CallKind): BreakerPermit | BreakerRefusal {
    if (this.#settings.mode === 'disabled') return UNWATCHED
    if (this.#circuit.closed) return kind === 'retry' ? this.#retryPermit : this.#firstPermit
    const waitMs = this.state === 'half-open' ? this.#probeWaitMs(kind) : Math.max(1, this.openForMs)
    if (waitMs === 0) return this.#startProbe(kind)
    if (this.#settings.mode === 'observe') return kind === 'retry' ? this.#retryPermit : this.#firstPermit
    return { granted: false, retryAfterMs: waitMs }
  }

  record(permit: BreakerPermit, outcome: SettledOutcome, tookMs = 0): void {
    if (permit.generation !== this.#generation) return
    const slow = tookMs >= this.#settings.slowCall.afterMs
    if (permit.probe) this.#settleProbe(permit, outcome, slow)
    else if (outcome !== 'none' && this.#circuit.closed) this.#count(permit.first, outcome, slow)
  }

  get state(): BreakerState {
    return this.#circuit.state
  }

  get openForMs(): number {
    if (this.#circuit.state !== 'open') return 0
    return this.#forced === 'open' ? this.#settings.openForMs : Math.max(0, this.#openUntilMs - this.#deps.nowMs())
  }

  get refusing(): boolean {
    return this.#settings.mode === 'enforce' && !this.#circuit.closed
  }

  get failuresInARow(): number {
    return this.#run.count
  }

  reconfigure(settings: BreakerSettings): void {
    const before = this.#settings
    this.#settings = settings
    if (settings.mode === 'disabled' && before.mode !== 'disabled') {
      this.#forced = null
      this.#outage = null
      this.#close('manual')
    } else if (settings.windowMs !== before.windowMs && this.#circuit.closed) {
      const old = this.#circuit
      this.#circuit = this.#newCircuit()
      this.#circuit.adopt(old, this.#deps.nowMs())
      old.retire()
    }
  }

  force(state: 'open' | 'closed' | 'auto'): void {
    if (this.#settings.mode === 'disabled') return
    const before = this.#forced
    this.#forced = state === 'auto' ? null : state
    if (state === 'open') this.#holdOpen()
    else if (state === 'closed' && !this.#circuit.closed) this.#close('manual')
    else if (state === 'auto' && before === 'open') {
      // Time held by hand is no age of an outage.
      this.#outage = null
      this.#circuit.open(this.#nextOpening(this.#deps.nowMs()))
    }
  }

  retire(): void {
    this.#settings = { ...this.#settings, mode: 'disabled' }
    this.#circuit.retire()
    this.#circuit = this.#newCircuit()
    this.#nextGeneration()
  }

  /** A closed breaker takes in one outcome. */
  #count(first: boolean, outcome: SettledOutcome, slow: boolean): void {
    const nowMs = this.#deps.nowMs()
    const failed = outcome === 'failure' || outcome === 'ratio-failure'
    this.#run = nextRun(this.#run, outcome, nowMs)
    if (first) {
      if (failed) this.#circuit.fail(nowMs)
      else this.#circuit.succeed(nowMs)
      if (slow) this.#circuit.addSlow(nowMs)
    }
    if ((!failed && !slow) || this.#forced === 'closed') return
    const reason = tripReason(this.#settings, this.#run, this.#circuit.counts(nowMs), this.#deps.p95Ms)
    if (reason === null) return
    const openForMs = this.#nextOpening(nowMs)
    this.#circuit.open(openForMs)
    this.#opened('closed', reason, openForMs)
  }

  #probeWaitMs(kind: CallKind): number {
    const nowMs = this.#deps.nowMs()
    const halfOpen = { quietSinceMs: this.#quietSinceMs, probeSinceMs: this.#probe?.sinceMs ?? null }
    if (kind === 'first') this.#quietSinceMs = nowMs
    return probeWaitMs(halfOpen, kind === 'first', this.#settings, nowMs, this.#deps.p95Ms)
  }

  #startProbe(kind: CallKind): BreakerPermit {
    const permit = Object.freeze({
      granted: true,
      generation: this.#generation,
      probe: true,
      first: kind !== 'retry',
    } as const)
    this.#probe = { permit, sinceMs: this.#deps.nowMs() }
    return permit
  }

  /**
   * A probe that was given up as too slow still decides if it is answered in the same half-open phase: else an upstream
   * that came back slower than the limit would never be found well, nor one that hangs be found ill.
   */
  #settleProbe(permit: BreakerPermit, outcome: SettledOutcome, slow: boolean): void {
    if (outcome === 'none') {
      if (this.#probe?.permit === permit) this.#probe = null
      return
    }
    const nowMs = this.#deps.nowMs()
    if (!failsProbe(outcome, slow)) {
      this.#circuit.succeed(nowMs)
      this.#close('probe-succeeded', 'half-open')
      return
    }
    this.#run = nextRun(this.#run, outcome, nowMs)
    const openForMs = this.#nextOpening(nowMs)
    this.#circuit.failProbe(openForMs)
    this.#opened('half-open', 'probe-failed', openForMs)
  }

  #holdOpen(): void {
    const from = this.state
    this.#circuit.open(HELD_OPEN_MS)
    if (from !== 'open') this.#opened(from, 'manual', null)
  }

  /** Draws the length of an opening that begins now. */
  #nextOpening(nowMs: number): number {
    const sinceMs = outageSinceMs(this.#outage, this.#closedAtMs, nowMs)
    const lastOpenForMs = openTimeMs(this.#settings, nowMs - sinceMs, this.#deps.random())
    this.#outage = { sinceMs, lastOpenForMs }
    this.#openUntilMs = nowMs + lastOpenForMs
    return lastOpenForMs
  }

  #opened(from: BreakerState, reason: TransitionReason, openForMs: number | null): void {
    this.#closedAtMs = null
    this.#nextGeneration()
    this.#deps.onTransition({ from, to: 'open', reason, openForMs })
  }

  /** Closes with an empty window. `from` = the state before, if the circuit has already left it. */
  #close(reason: TransitionReason, from: BreakerState = this.state): void {
    this.#circuit.retire()
    this.#circuit = this.#newCircuit()
    this.#run = NO_RUN
    this.#closedAtMs = this.#deps.nowMs()
    this.#nextGeneration()
    if (from !== 'closed') this.#deps.onTransition({ from, to: 'closed', reason, openForMs: null })
  }

  #halfOpened(): void {
    if (this.#forced === 'open') {
      this.#circuit.open(HELD_OPEN_MS)
      return
    }
    this.#quietSinceMs = this.#deps.nowMs()
    this.#deps.onTransition({ from: 'open', to: 'half-open', reason: 'time', openForMs: null })
  }

  #nextGeneration(): void {
    this.#generation += 1
    this.#probe = null
    this.#firstPermit = Object.freeze({ granted: true, generation: this.#generation, probe: false, first: true })
    this.#retryPermit = Object.freeze({ granted: true, generation: this.#generation, probe: false, first: false })
  }

  #newCircuit(): OpossumCircuit {
    return new OpossumCircuit(this.#settings.windowMs, this.#deps.nowMs(), () => this.#halfOpened())
  }
}
