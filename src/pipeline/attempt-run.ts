import type { Timer } from '../clock/clock.js'
import type { BreakerPermit, SettledOutcome } from '../core/breaker-rules.js'
import { classifyFailure, type FailureKind } from '../core/classify.js'
import type { Outcome } from '../core/reasons.js'
import type { AttemptTrace } from '../core/request-trace.js'
import type { AttemptFinished } from '../telemetry/events.js'
import { attemptRequest } from './attempt-fields.js'
import {
  classifyHead,
  deadlineOutcome,
  learnFromAnswer,
  mayStartFresh,
  type RunFailure,
  reportAttempt,
  runFailure,
  settleAttempt,
  settleGateProbe,
} from './attempt-report.js'
import type { Exchange } from './exchange.js'
import type { Attempt, AttemptFailure, AttemptListener, HeldResponse, RawHeaders, ResponseHead } from './ports.js'
import type { Running, RunOwner } from './run-owner.js'

const NONE: readonly object[] = Object.freeze([])

/** One attempt: its clocks, its permit, and what it tells the breaker, the budget and the log. */
export class AttemptRun implements AttemptListener, Running {
  readonly hedge: boolean
  readonly #exchange: Exchange
  readonly #owner: RunOwner
  readonly #permit: BreakerPermit
  readonly #number: number
  readonly #trace: AttemptTrace | null
  #startMs: number
  #sentMs: number | null = null
  #attempt: Attempt | null = null
  #clock: Timer | null = null
  #status = 0
  #outcome: Outcome = 'delivered'
  #settled = false
  #onWire = true
  #fresh = false

  constructor(exchange: Exchange, owner: RunOwner, permit: BreakerPermit, nowMs: number, hedge: boolean) {
    this.#exchange = exchange
    this.hedge = hedge
    this.#owner = owner
    this.#permit = permit
    this.#number = exchange.attempts
    this.#trace = exchange.facts.trace?.attempt(exchange.attempts, hedge, nowMs) ?? null
    this.#startMs = nowMs
    exchange.paced = false
    exchange.lane.limiter.take()
  }

  get connection(): object | null {
    return this.#attempt?.connection ?? null
  }

  get bytes(): number {
    return this.#attempt?.bytes ?? 0
  }

  get sent(): boolean {
    return this.#sentMs !== null
  }

  /** Since its request had gone out. */
  ranMs(nowMs: number): number {
    return nowMs - (this.#sentMs ?? this.#startMs)
  }

  start(avoid: readonly object[] = this.#exchange.memory?.avoid ?? NONE): void {
    const request = attemptRequest(this.#exchange, this.#startMs, this.#trace, avoid, this.#fresh)
    this.#attempt = this.#exchange.deps.transport.send(request, this)
  }

  onSent(): void {
    const { deps, policy, deadlineMs } = this.#exchange
    const nowMs = deps.clock.nowMs()
    this.#sentMs = nowMs
    this.#owner.onSent?.()
    const { attemptMs } = policy.timeouts
    if (policy.longPoll || nowMs + attemptMs >= deadlineMs || attemptMs === Number.POSITIVE_INFINITY) return
    this.#clock = deps.clock.after(attemptMs, () => this.#onAttemptTimeout())
  }

  onInterim(status: number, headers: RawHeaders): void {
    this.#exchange.downstream.interim(status, headers)
  }

  onHead(head: ResponseHead): void {
    const exchange = this.#exchange
    const nowMs = exchange.deps.clock.nowMs()
    this.#clock?.cancel()
    this.#status = head.status
    const outcome = classifyHead(exchange, head)
    this.#settle(outcome.breaker, 'response', nowMs)
    learnFromAnswer(exchange, this.#number, outcome, this.#sentMs ?? this.#startMs, nowMs)
    this.#owner.onHead(this, head, outcome)
  }

  onFailure(failure: AttemptFailure): void {
    if (failure.byApp) {
      this.abandon()
      return this.#owner.onEnded('bad-request', this)
    }
    if (failure.refused === true) return this.#endRefused(failure.message)
    if (!this.#settled && mayStartFresh(this.#exchange, failure)) return this.#startFresh()
    this.#fail(failure.kind, failure.permanent, runFailure(failure))
  }

  onDelivered(bytes: number): void {
    this.#clock?.cancel()
    this.#leaveWire()
    this.#owner.onDelivered(this.#status, this.#outcome, bytes)
  }

  onCut(_code: string, byApp: boolean): void {
    const nowMs = this.#exchange.deps.clock.nowMs()
    this.#clock?.cancel()
    if (!byApp) settleAttempt(this.#exchange, this.#permit, this.connection, 'failure', 0, nowMs)
    this.#report('cut', nowMs)
    this.#leaveWire()
    this.#owner.onDelivered(this.#status, 'cut', this.bytes)
  }

  /** Commits: from here on the app sees this answer. */
  deliver(outcome: Outcome, extra: RawHeaders): void {
    const { deps, policy, deadline } = this.#exchange
    this.#outcome = outcome
    const { responseMs } = policy.timeouts
    if (responseMs !== Number.POSITIVE_INFINITY) {
      const leftMs = Math.max(0, responseMs - deadline.elapsedMs(deps.clock.nowMs()))
      this.#clock = deps.clock.after(leftMs, () => this.#onResponseTimeout())
    }
    this.#attempt?.deliver(extra)
  }

  hold(maxBytes: number): void {
    this.#attempt?.hold(maxBytes)
    this.#leaveWire()
  }

  read(maxBytes: number): void {
    this.#attempt?.read(maxBytes)
  }

  onRead(whole: boolean): void {
    if (whole) this.#leaveWire()
    this.#exchange.poll?.onRead(this, whole)
  }

  held(): HeldResponse | null {
    return this.#attempt?.held() ?? null
  }

  discard(): void {
    this.#attempt?.abort()
  }

  abandon(why: 'aborted' | 'lost' = 'aborted'): void {
    this.#clock?.cancel()
    this.#attempt?.abort()
    this.#settle('none', why, this.#exchange.deps.clock.nowMs())
    this.#leaveWire()
  }

  /** With no tighter attempt clock, a first attempt that never waited has used up its own clock too. */
  onDeadline(): void {
    const { deps, policy, facts, wait } = this.#exchange
    const nowMs = deps.clock.nowMs()
    const { attemptMs, totalMs } = policy.timeouts
    const hadItAll = this.#number === 1 && wait === null && attemptMs >= totalMs && facts.totalMs >= totalMs
    if (hadItAll && !policy.longPoll) return this.#onAttemptTimeout()
    this.#clock?.cancel()
    this.#attempt?.abort()
    this.#settle(deadlineOutcome(this.#exchange, this.ranMs(nowMs), nowMs), 'deadline', nowMs)
    this.#leaveWire()
    this.#owner.onEnded('deadline', this)
  }

  /** Nobody was called: it was no attempt. */
  #endRefused(text: string): void {
    const exchange = this.#exchange
    exchange.attempts -= 1
    this.#settled = true
    settleAttempt(exchange, this.#permit, null, 'none', 0, exchange.deps.clock.nowMs())
    this.#leaveWire()
    const facts = classifyFailure('connect', true, exchange.policy.retry)
    this.#owner.onFailure({ reason: 'no-route', text, nothingSent: true }, facts, this)
  }

  #onAttemptTimeout(): void {
    this.#attempt?.abort()
    const text = `no answer within ${Math.round(this.#exchange.policy.timeouts.attemptMs)} ms`
    this.#fail('timeout', false, { reason: 'attempt-timeout', text, nothingSent: false })
  }

  #onResponseTimeout(): void {
    this.#attempt?.abort()
    this.#exchange.downstream.destroy()
    this.onCut('RESPONSE_TIMEOUT', this.#attempt?.heldByApp === true)
  }

  #fail(kind: FailureKind, permanent: boolean, failure: RunFailure): void {
    const exchange = this.#exchange
    this.#clock?.cancel()
    const facts = classifyFailure(kind, permanent, exchange.policy.retry)
    this.#settle(facts.breaker, kind as AttemptFinished['result'], exchange.deps.clock.nowMs())
    this.#leaveWire()
    if (exchange.gateProbe) settleGateProbe(exchange, null, false)
    this.#owner.onFailure(failure, facts, this)
  }

  /** Tells everyone who must know how the attempt went, once; and that its answer broke while it was being read. */
  #settle(outcome: SettledOutcome, result: AttemptFinished['result'], nowMs: number): void {
    const hadHead = this.#settled
    if (hadHead && outcome !== 'failure') return
    this.#settled = true
    settleAttempt(this.#exchange, this.#permit, this.connection, outcome, hadHead ? 0 : this.ranMs(nowMs), nowMs)
    this.#report(hadHead ? 'cut' : result, nowMs)
  }

  #report(result: AttemptFinished['result'], nowMs: number): void {
    reportAttempt(this.#exchange, this.#number, this.#status, result, nowMs - this.#startMs)
    if (this.#trace !== null) this.#trace.end = { atMs: nowMs, status: this.#status || null, result }
  }

  #leaveWire(): void {
    if (!this.#onWire) return
    this.#onWire = false
    this.#exchange.lane.limiter.release()
  }

  #startFresh(): void {
    this.#fresh = true
    this.#clock?.cancel()
    this.#sentMs = null
    this.#startMs = this.#exchange.deps.clock.nowMs()
    this.start()
  }
}
