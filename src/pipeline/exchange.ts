import type { BreakerPermit } from '../core/breaker-rules.js'
import type { AttemptFacts } from '../core/classify.js'
import { repeatable } from '../core/idempotency.js'
import type { DeliveredOutcome, DenialReason, Outcome, OwnReason } from '../core/reasons.js'
import type { EffectivePolicy, UpstreamSnapshot } from '../core/snapshot.js'
import { admit, type Call } from './admission.js'
import { answerFields } from './answer-fields.js'
import { AttemptRun, type RunFailure } from './attempt-run.js'
import { DeadlineTimer } from './deadline-timer.js'
import { answerHeld, answerOwn, type Ending } from './endings.js'
import type { ExchangeDeps } from './exchange-deps.js'
import type { Waiter } from './guard.js'
import type { Lane } from './lane.js'
import type { SlotWaiter } from './limiter.js'
import type { LineMember } from './line.js'
import type { AppListener, CallKind, Downstream, ResponseHead } from './ports.js'
import { reportDenied, reportFinished, reportRetry } from './report.js'
import { type RequestFacts, readRequestFacts } from './request-facts.js'
import { nextStep } from './retry-step.js'
import { RetryTickets } from './retry-tickets.js'
import { Wait, type WaitPlace } from './wait.js'

/** Largest failed answer kept through a wait; a larger one is destroyed, so that waiting calls cost little memory. */
const HELD_ANSWER_BYTES = 16 * 1024
/** Asked again so often when the breaker would rather have a first attempt probe than this retry. */
const MAX_DEFERRALS = 3

/** The life of one request: admit → attempt → decide → wait → attempt … → answer. */
export class Exchange implements AppListener, Call, SlotWaiter, LineMember, Waiter {
  readonly arrivedMs: number
  readonly facts: RequestFacts
  readonly tickets: RetryTickets
  readonly wait: Wait
  /** Calls to the upstream so far, the first included. */
  attempts = 0
  /** From the arrival to the accepted head, ms. */
  headMs: number | null = null
  /** Connections of failed attempts, never used again for this request. */
  readonly avoid: object[] = []
  /** The last failed answer, being kept. */
  held: AttemptRun | null = null
  lastFailure: RunFailure | null = null
  previousDelayMs: number | null = null
  /** The key that we minted; the same on all attempts. */
  readonly mintedKey: string | null
  gateProbe = false
  hasTurn = false
  hasSlot = false
  readonly #deadline: DeadlineTimer
  #phase: 'admitting' | 'attempting' | 'delivering' | 'over' = 'admitting'
  #run: AttemptRun | null = null
  #deferrals = 0

  constructor(
    readonly deps: ExchangeDeps,
    readonly generation: number,
    readonly upstream: UpstreamSnapshot,
    readonly route: string | null,
    readonly policy: EffectivePolicy,
    readonly lane: Lane,
    readonly downstream: Downstream,
  ) {
    this.arrivedMs = deps.clock.nowMs()
    this.facts = readRequestFacts(downstream.method, downstream.headers, policy, deps.clock.wallMs())
    this.tickets = new RetryTickets(lane)
    this.wait = new Wait(deps.clock, lane, this)
    this.mintedKey = this.facts.repeat.kind === 'generate' ? deps.newKey() : null
    this.#deadline = new DeadlineTimer(deps.clock, () => this.#onDeadline())
  }

  get kind(): CallKind {
    if (this.attempts > 0) return 'retry'
    return this.policy.longPoll ? 'long-poll' : 'first'
  }

  get repeatable(): boolean {
    return repeatable(this.facts.repeat.kind)
  }

  get mayRideOut(): boolean {
    return this.attempts === 0 || this.repeatable
  }

  /** `Infinity` while the body is still coming in. */
  get deadlineMs(): number {
    return this.#deadline.atMs
  }

  start(): void {
    const { body } = this.downstream
    if (body !== null) body.capture(this.facts.maxAttempts > 1 ? this.policy.retry.maxBodyBytes : 0)
    if (body === null || body.complete) this.#deadline.set(this.arrivedMs + this.facts.totalMs, this.arrivedMs)
    else body.onComplete(() => this.#onBodyComplete())
    this.#tryStart()
  }

  #onBodyComplete(): void {
    if (this.#phase === 'delivering' || this.#phase === 'over') return
    const nowMs = this.deps.clock.nowMs()
    this.#deadline.set(nowMs + this.facts.totalMs, nowMs)
  }

  #tryStart(): void {
    const nowMs = this.deps.clock.nowMs()
    const admission = admit(this, nowMs)
    if (admission.granted) return this.#launch(admission, nowMs)
    if (admission.next !== 'queue') this.#returnGateProbe()
    switch (admission.next) {
      case 'line':
        return this.#joinLine()
      case 'queue':
        return this.#joinQueue()
      case 'refuse':
        return this.giveUp(admission.reason, admission.retryAfterMs)
      case 'defer':
        if (this.#deferrals++ < MAX_DEFERRALS) this.#backOff(admission.delayMs)
        else this.giveUp('breaker-open', admission.delayMs)
    }
  }

  #launch(permit: BreakerPermit, nowMs: number): void {
    this.wait.leave()
    this.hasTurn = false
    this.attempts += 1
    if (this.attempts === 1) this.lane.onFirstAttempt(nowMs)
    this.tickets.spend()
    // A wait puts a deadline on a call whose body is still coming in; the upload itself is never cut by it.
    if (this.downstream.body?.complete === false) this.#deadline.clear()
    this.#phase = 'attempting'
    this.#run = new AttemptRun(this, permit, nowMs)
    this.#run.start()
  }

  // ---- waiting -----------------------------------------------------------------------------------------------------

  get waitingForSlot(): boolean {
    return this.wait.place === 'slot'
  }

  get inLine(): boolean {
    return this.wait.place === 'line'
  }

  onSlot(): void {
    this.hasSlot = true
    this.#tryStart()
    this.hasSlot = false
  }

  onTurn(): void {
    const nowMs = this.deps.clock.nowMs()
    const p95Ms = this.lane.latency.quantile(0.95, nowMs) ?? 0
    // With less than a typical answer's time left the call would only load the upstream.
    if (this.deadlineMs - nowMs < p95Ms)
      return this.giveUp(this.lane.guard.gate.isOpen ? 'breaker-open' : 'gate-closed')
    this.hasTurn = true
    this.#tryStart()
  }

  #joinQueue(): void {
    if (!this.waitingForSlot && this.#enter('slot')) this.lane.limiter.enqueue(this)
  }

  #joinLine(): void {
    // Whoever comes back was here before everyone who stands in line now.
    const returns = this.hasTurn || this.attempts > 0
    this.hasTurn = false
    if (this.#enter('line')) this.lane.guard.joinLine(this, returns)
  }

  #backOff(delayMs: number): void {
    if (this.#enter('backoff')) this.wait.wakeAfter(delayMs, () => this.#onWake())
  }

  #enter(place: WaitPlace): boolean {
    this.#phase = 'admitting'
    if (!this.wait.enter(place, this.downstream.body?.capturedBytes ?? 0)) {
      this.giveUp('overloaded')
      return false
    }
    const nowMs = this.deps.clock.nowMs()
    if (this.deadlineMs === Number.POSITIVE_INFINITY) this.#deadline.set(nowMs + this.facts.totalMs, nowMs)
    return true
  }

  #onWake(): void {
    this.wait.leave()
    if (this.deps.forbidsRetry(this)) this.#stop('retries-off', 'retries-exhausted')
    else this.#tryStart()
  }

  onBreakerOpen(reopensAtMs: number): void {
    const { place, wakeAtMs } = this.wait
    if (place === null || place === 'line' || this.attempts === 0) return
    if (this.lane.guard.ridesOut && this.repeatable) this.#joinLine()
    else if (place === 'slot' || wakeAtMs < reopensAtMs) this.#stop('breaker-open', 'breaker-open')
  }

  onDrained(): void {
    this.giveUp('draining')
  }

  // ---- what an attempt reports -------------------------------------------------------------------------------------

  onHead(run: AttemptRun, head: ResponseHead, facts: AttemptFacts): void {
    if (!facts.retryable) return this.#commit(run, facts.stop === 'exhausted' ? 'layer' : 'delivered')
    const step = nextStep(this, facts, null)
    if (step.retry) {
      this.held?.discard()
      this.held = run
      run.hold(HELD_ANSWER_BYTES)
      this.#retry(step.delayMs, facts, head.status, null)
    } else {
      reportDenied(this, step.denied)
      this.#commit(run, step.outcome)
    }
  }

  onFailure(failure: RunFailure, facts: AttemptFacts): void {
    this.#run = null
    this.lastFailure = failure
    const step = nextStep(this, facts, failure)
    if (step.retry) this.#retry(step.delayMs, facts, null, failure.text)
    else this.#stop(facts.retryable ? step.denied : null, step.outcome)
  }

  onDeadlineCut(): void {
    this.#run = null
    this.giveUp('deadline')
  }

  onDelivered(status: number, outcome: Outcome, bytes: number): void {
    this.#finish({ status, outcome, bytes })
  }

  #retry(delayMs: number, facts: AttemptFacts, status: number | null, error: string | null): void {
    this.#run = null
    this.previousDelayMs = delayMs
    reportRetry(this, facts, status, error, delayMs)
    if (this.lane.guard.ridesOut && this.lane.guard.breaker.refusing && this.repeatable) this.#joinLine()
    else this.#backOff(delayMs)
  }

  // ---- endings -----------------------------------------------------------------------------------------------------

  #commit(run: AttemptRun, outcome: DeliveredOutcome): void {
    this.#phase = 'delivering'
    this.#deadline.clear()
    this.headMs = this.deps.clock.nowMs() - this.arrivedMs
    run.deliver(outcome, answerFields(this.attempts, outcome, this.facts.maxAttempts))
  }

  /** No further attempt: the last upstream answer, or else what went wrong with the last attempt. */
  #stop(denied: DenialReason | null, outcome: DeliveredOutcome): void {
    if (denied !== null) reportDenied(this, denied)
    this.#finish(answerHeld(this, outcome) ?? answerOwn(this, this.lastFailure?.reason ?? 'bad-response', null))
  }

  /** Ends a request that may not go on now; `retryAfterMs` is told when it is known. */
  giveUp(reason: OwnReason, retryAfterMs: number | null = null): void {
    if (reason === 'breaker-open' && this.attempts > 0) return this.#stop('breaker-open', 'breaker-open')
    this.#finish(answerHeld(this, reason) ?? answerOwn(this, reason, retryAfterMs))
  }

  onAppGone(): void {
    if (this.#phase === 'over') return
    this.#run?.onAppGone()
    this.#finish({ status: 499, outcome: 'aborted', bytes: this.#run?.bytes ?? 0 })
  }

  #onDeadline(): void {
    if (this.#run !== null) this.#run.onDeadline()
    else this.giveUp('deadline')
  }

  #finish(ending: Ending): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.wait.leave()
    this.#deadline.clear()
    this.tickets.giveBack(this.deps.clock.nowMs())
    this.#returnGateProbe()
    this.held?.discard()
    reportFinished(this, ending)
    this.deps.onFinished()
  }

  #returnGateProbe(): void {
    if (!this.gateProbe) return
    this.gateProbe = false
    this.lane.guard.onGateProbe(null)
  }
}
