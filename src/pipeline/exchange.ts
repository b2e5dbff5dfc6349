import type { BreakerPermit } from '../core/breaker-rules.js'
import type { AttemptFacts } from '../core/classify.js'
import { repeatable } from '../core/idempotency.js'
import type { DeliveredOutcome, DenialReason, Outcome, OwnReason } from '../core/reasons.js'
import type { EffectivePolicy, UpstreamSnapshot } from '../core/snapshot.js'
import type { ActiveCall } from './active-calls.js'
import { admit, type Call } from './admission.js'
import { answerFieldsOf } from './answer-fields.js'
import { type RunFailure, returnTurn } from './attempt-report.js'
import { AttemptRun } from './attempt-run.js'
import { DeadlineTimer } from './deadline-timer.js'
import { type Ending, endGivenUp, endStopped, settle, settleFinal } from './endings.js'
import type { ExchangeDeps } from './exchange-deps.js'
import { mayHedge } from './hedge-step.js'
import type { Lane } from './lane.js'
import { type Poll, pollOf } from './poll.js'
import type { AppListener, Downstream, ResponseHead } from './ports.js'
import { Race } from './race.js'
import { reportDenied, reportFinished, reportRetry } from './report.js'
import { type RequestFacts, readRequestFacts } from './request-facts.js'
import { RetryMemory } from './retry-memory.js'
import { nextStep, stoppedBeforeSending } from './retry-step.js'
import type { Running, RunOwner } from './run-owner.js'
import { Wait, type WaitPlace } from './wait.js'

/** The life of one request: admit → attempt → decide → wait → attempt … → answer. */
export class Exchange implements AppListener, Call, ActiveCall, RunOwner {
  readonly arrivedMs: number
  readonly facts: RequestFacts
  readonly repeatable: boolean
  /** Made at the first wait. */
  wait: Wait | null = null
  place = 0
  /** Calls to the upstream so far, the first included; of a poll, those of this round. */
  attempts = 0
  /** Those of them that were sent beside another. */
  hedges = 0
  /** From the arrival to the accepted head, ms. */
  headMs: number | null = null
  /** Made at the first failure. */
  memory: RetryMemory | null = null
  /** The key that we minted; the same on all attempts. */
  readonly mintedKey: string | null
  gateProbe = false
  paced = false
  hasTurn = false
  hasSlot = false
  /** The free attempt after a stale connection, one a request. */
  freshUsed = false
  readonly deadline: DeadlineTimer
  readonly poll: Poll | null
  #phase: 'admitting' | 'attempting' | 'delivering' | 'over' = 'admitting'
  #run: Running | null = null

  constructor(
    readonly deps: ExchangeDeps,
    readonly generation: number,
    readonly upstream: UpstreamSnapshot,
    readonly route: string | null,
    readonly policy: EffectivePolicy,
    readonly lane: Lane,
    readonly downstream: Downstream,
    /** As the app sent it, prefix included. */
    readonly appPath: string,
  ) {
    this.arrivedMs = deps.clock.nowMs()
    this.facts = readRequestFacts(downstream.method, downstream.headers, policy, deps.clock.wallMs(), deps.tracing)
    this.repeatable = repeatable(this.facts.repeat.kind)
    this.mintedKey = this.facts.repeat.kind === 'generate' ? deps.newKey() : null
    this.deadline = new DeadlineTimer(deps.clock, () => (this.#run ? this.#run.onDeadline() : this.giveUp('deadline')))
    this.poll = pollOf(this)
  }

  get kind(): Call['kind'] {
    if (this.attempts > 0 || this.downstream.redelivery) return 'retry'
    return this.policy.longPoll ? 'long-poll' : 'first'
  }

  get over(): boolean {
    return this.#phase === 'over'
  }
  get mayRideOut(): boolean {
    return !this.downstream.redelivery && (this.repeatable || !this.memory?.reached)
  }
  /** `Infinity` while the body is still coming in. */
  get deadlineMs(): number {
    return this.deadline.atMs
  }

  start(): void {
    const { body } = this.downstream
    body?.capture(this.facts.maxAttempts > 1 || this.facts.park !== null ? this.policy.retry.maxBodyBytes : 0)
    if (body === null || body.complete) this.#startTotal(this.arrivedMs)
    else body.onComplete(() => this.#startTotal(this.deps.clock.nowMs()))
    this.#tryStart()
  }

  /** At the end of the request body. */
  #startTotal(nowMs: number): void {
    if (this.#phase !== 'delivering' && this.#phase !== 'over') this.deadline.start(this.facts.totalMs, nowMs)
    this.wait?.recount()
  }

  #tryStart(): void {
    const nowMs = this.deps.clock.nowMs()
    if (stoppedBeforeSending(this, nowMs)) return
    const admission = admit(this, nowMs, this.deps.random)
    if (admission.granted) return this.#launch(admission, nowMs)
    if (admission.next !== 'queue') returnTurn(this)
    switch (admission.next) {
      case 'line':
        // A parked call waits in its store, not among those whose app waits.
        return this.downstream.redelivery ? this.giveUp('overloaded') : this.waiting.joinLine()
      case 'queue':
        return this.waiting.joinQueue()
      case 'refuse':
        return this.giveUp(admission.reason, admission.retryAfterMs)
      case 'defer':
        this.waiting.defer(admission.delayMs)
    }
  }

  #launch(permit: BreakerPermit, nowMs: number): void {
    this.wait?.leave()
    this.hasTurn = false
    if (++this.attempts === 1 && !this.downstream.redelivery) this.lane.onFirstAttempt(nowMs)
    this.memory?.spend()
    // A wait puts a deadline on a call whose body is still coming in; the upload itself is never cut by it.
    if (this.downstream.body?.complete === false) this.deadline.clear()
    this.#phase = 'attempting'
    const run = mayHedge(this) ? new Race(this, permit, nowMs) : new AttemptRun(this, this, permit, nowMs, false)
    this.#run = run
    run.start()
  }

  remember(): RetryMemory {
    return (this.memory ??= new RetryMemory(this.lane))
  }

  get waiting(): Wait {
    return (this.wait ??= new Wait(this))
  }

  /** The line or the queue lets it go, or its back-off is over. */
  resume(granted: 'turn' | 'slot' | 'wake'): void {
    if (granted === 'turn') this.hasTurn = true
    else this.hasSlot = granted === 'slot'
    this.#tryStart()
    this.hasSlot = false
  }

  onWait(place: WaitPlace, nowMs: number): void {
    this.#phase = 'admitting'
    this.#run = null
    // Let go by the line, it may still wait for a slot; it need not stand in line again for that.
    if (place !== 'slot') this.hasTurn = false
    if (this.deadlineMs === Number.POSITIVE_INFINITY && this.downstream.body?.complete === false)
      this.#startTotal(nowMs)
  }

  onHead(run: AttemptRun, head: ResponseHead, facts: AttemptFacts): void {
    this.#run = run
    if (this.poll?.onHead(run, head, facts)) return
    if (!facts.retryable) return settleFinal(this, run, head, facts)
    const step = nextStep(this, this.remember(), facts, null)
    if (step.retry) {
      this.remember().hold(run, head)
      return this.#retry(step.delayMs, facts, head.status, null)
    }
    if (step.denied !== null) reportDenied(this, step.denied)
    settle(this, run, head, step.outcome, step.denied)
  }

  /** It is being parked: answered once it is safe, and until then by nothing else. */
  onParking(): void {
    this.#phase = 'delivering'
    this.#run = null
    this.wait?.leave()
    this.deadline.clear()
  }

  onFailure(failure: RunFailure, facts: AttemptFacts): void {
    this.remember().fail(failure)
    const step = nextStep(this, this.remember(), facts, failure)
    if (step.retry) this.#retry(step.delayMs, facts, null, failure.text)
    else this.stop(step.denied, step.outcome)
  }

  onEnded(reason: 'deadline' | 'bad-request'): void {
    this.giveUp(reason)
  }
  onDelivered(status: number, outcome: Outcome, bytes: number): void {
    this.finish({ status, outcome, bytes })
  }

  #retry(delayMs: number, facts: AttemptFacts, status: number | null, error: string | null): void {
    this.remember().plan(delayMs, facts.why)
    reportRetry(this, facts, status, error, delayMs)
    this.waiting.backOff(delayMs)
  }

  commit(run: AttemptRun, outcome: DeliveredOutcome): void {
    this.#phase = 'delivering'
    this.deadline.clear()
    this.headMs = this.deps.clock.nowMs() - this.arrivedMs
    run.deliver(outcome, answerFieldsOf(this, outcome))
  }

  /** No further attempt: the last upstream answer, or else what went wrong with the last attempt. */
  stop(denied: DenialReason | null, outcome: DeliveredOutcome): void {
    if (denied !== null) reportDenied(this, denied)
    endStopped(this, outcome)
  }

  /** Ends a request that may not go on now; `retryAfterMs` is told when it is known. */
  giveUp(reason: OwnReason, retryAfterMs: number | null = null): void {
    if (reason === 'breaker-open' && this.attempts > 0) return this.stop('breaker-open', 'breaker-open')
    endGivenUp(this, reason, retryAfterMs)
  }

  onAnswered(): void {
    this.deps.onFinished(this)
  }

  onAppGone(): void {
    this.deps.onFinished(this)
    if (this.#phase === 'over') return
    this.#run?.abandon()
    this.finish({ status: 499, outcome: 'aborted', bytes: this.#run?.bytes ?? 0 })
  }

  /** The drain period is over: whatever has no answer yet gets one now. */
  onDrained(): void {
    if (this.#phase === 'delivering' || this.#phase === 'over') return
    this.#run?.abandon()
    this.giveUp('draining')
  }

  finish(ending: Ending): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.wait?.leave()
    this.deadline.clear()
    this.memory?.end(this.deps.clock.nowMs())
    returnTurn(this)
    reportFinished(this, ending)
    // Nothing else is told after the connection was destroyed.
    if (ending.outcome === 'cut') this.deps.onFinished(this)
  }
}
