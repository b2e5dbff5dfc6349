import type { Timer } from '../clock/clock.js'
import type { BreakerPermit } from '../core/breaker-rules.js'
import type { AttemptFacts } from '../core/classify.js'
import { asksForPatience, bringsForward, hedgeDelayMs, lostSampleMs, mergedFacts } from '../core/hedge.js'
import type { Outcome } from '../core/reasons.js'
import type { RunFailure } from './attempt-report.js'
import { AttemptRun } from './attempt-run.js'
import type { Exchange } from './exchange.js'
import { claimHedge } from './hedge-step.js'
import type { ResponseHead } from './ports.js'
import { reportHedge } from './report.js'
import type { Running, RunOwner } from './run-owner.js'

/** A first attempt and the hedges sent beside it: to the exchange, one run, whose answer is the first good one. */
export class Race implements RunOwner, Running {
  readonly #exchange: Exchange
  readonly #first: AttemptRun
  /** Without an answer so far, in the order of their start. */
  #running: AttemptRun[] = []
  #winner: AttemptRun | null = null
  #timer: Timer | null = null
  /** How late an attempt had to be when that was last asked; `Infinity` = not known, so a failure brings nothing forward. */
  #delayMs = Number.POSITIVE_INFINITY
  /** What the failed ones say together. */
  #failed: AttemptFacts | null = null
  /** No further hedge. */
  #closed = false

  constructor(exchange: Exchange, permit: BreakerPermit, nowMs: number) {
    this.#exchange = exchange
    this.#first = new AttemptRun(exchange, this, permit, nowMs, false)
  }

  get bytes(): number {
    return this.#winner?.bytes ?? 0
  }

  start(): void {
    this.#launch(this.#first)
  }

  /** The next hedge may not open a body that another attempt is still reading. */
  onSent(): void {
    if (this.#exchange.downstream.body !== null) this.#arm()
  }

  onHead(run: AttemptRun, head: ResponseHead, facts: AttemptFacts): void {
    this.#leave(run)
    if (!facts.retryable && facts.stop === null) return this.#win(run, head, facts)
    const together = this.#onFailed(run, facts)
    const permit = bringsForward(together) ? this.#claim() : null
    if (permit === null && this.#running.length === 0) {
      this.#close()
      return this.#exchange.onHead(run, head, together)
    }
    this.#exchange.remember().hold(run, head)
    if (permit !== null) this.#launchHedge(permit)
  }

  onFailure(failure: RunFailure, facts: AttemptFacts, run: AttemptRun): void {
    this.#leave(run)
    const together = this.#onFailed(run, facts)
    const permit = bringsForward(together) && failure.reason !== 'overloaded' ? this.#claim() : null
    if (permit === null && this.#running.length === 0) {
      this.#close()
      return this.#exchange.onFailure(failure, together)
    }
    this.#exchange.remember().lastFailure = failure
    if (permit !== null) this.#launchHedge(permit)
  }

  onEnded(reason: 'deadline' | 'bad-request', run: AttemptRun): void {
    this.#leave(run)
    if (run.hedge && run !== this.#winner) reportHedge(this.#exchange, 'aborted')
    // Without the app's body none can go on.
    if (reason === 'bad-request') this.abandon()
    if (this.#running.length > 0) return
    this.#close()
    this.#exchange.onEnded(reason)
  }

  onDelivered(status: number, outcome: Outcome, bytes: number): void {
    this.#exchange.onDelivered(status, outcome, bytes)
  }

  /** The first attempt last: it knows best why there was no answer in time. */
  onDeadline(): void {
    this.#close()
    for (const run of [...this.#running].reverse()) run.onDeadline()
  }

  abandon(): void {
    this.#close()
    for (const run of this.#running.splice(0)) {
      run.abandon()
      if (run.hedge) reportHedge(this.#exchange, 'aborted')
    }
    this.#winner?.abandon()
  }

  #launch(run: AttemptRun): void {
    const beside = this.#running.flatMap(({ connection }) => (connection === null ? [] : [connection]))
    this.#running.push(run)
    run.start([...(this.#exchange.memory?.avoid ?? []), ...beside])
    if (this.#exchange.downstream.body === null) this.#arm()
  }

  #launchHedge(permit: BreakerPermit): void {
    const exchange = this.#exchange
    exchange.attempts += 1
    exchange.hedges += 1
    this.#launch(new AttemptRun(exchange, this, permit, exchange.deps.clock.nowMs(), true))
  }

  /** From now, the start of the last attempt. */
  #arm(): void {
    this.#timer?.cancel()
    this.#timer = null
    const { deps, policy, lane, hedges, facts, attempts, deadlineMs } = this.#exchange
    if (this.#closed || hedges >= policy.hedge.maxHedges || attempts >= facts.maxAttempts) return
    const nowMs = deps.clock.nowMs()
    const delayMs = hedgeDelayMs(policy.hedge, lane.hedgeLatency, nowMs)
    // The attempt, or the request, is over by then.
    if (delayMs === null || delayMs >= policy.timeouts.attemptMs || nowMs + delayMs >= deadlineMs) return
    this.#delayMs = delayMs
    this.#timer = deps.clock.after(delayMs, () => {
      const permit = this.#claim()
      if (permit !== null) this.#launchHedge(permit)
    })
  }

  /** The right to one more attempt, or `null`. */
  #claim(): BreakerPermit | null {
    this.#timer?.cancel()
    this.#timer = null
    const { policy, hedges, downstream } = this.#exchange
    if (this.#closed || this.#delayMs === Number.POSITIVE_INFINITY || hedges >= policy.hedge.maxHedges) return null
    if (downstream.body !== null && !this.#running.every(run => run.sent)) return null
    const claim = claimHedge(this.#exchange)
    if (claim === null || typeof claim === 'object') return claim
    reportHedge(this.#exchange, claim)
    // Whatever is running goes on; what was denied once is not asked for again.
    this.#close()
    return null
  }

  #win(run: AttemptRun, head: ResponseHead, facts: AttemptFacts): void {
    this.#close()
    this.#winner = run
    for (const loser of this.#running.splice(0)) this.#lose(loser)
    if (run.hedge) reportHedge(this.#exchange, 'won')
    this.#exchange.onHead(run, head, facts)
  }

  #lose(run: AttemptRun): void {
    const { lane, deps } = this.#exchange
    const nowMs = deps.clock.nowMs()
    const sampleMs = run.sent ? lostSampleMs(run.ranMs(nowMs), this.#delayMs) : null
    if (sampleMs !== null) lane.recordLatency(sampleMs, nowMs)
    run.abandon('lost')
    if (run.hedge) reportHedge(this.#exchange, 'lost')
  }

  #onFailed(run: AttemptRun, facts: AttemptFacts): AttemptFacts {
    // One that won was told of; a poll may still have been reading its answer.
    if (run.hedge && run !== this.#winner) reportHedge(this.#exchange, 'failed')
    if (asksForPatience(facts)) this.#close()
    this.#failed = mergedFacts(this.#failed, facts)
    return this.#failed
  }

  #leave(run: AttemptRun): void {
    this.#running = this.#running.filter(other => other !== run)
  }

  #close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#timer = null
  }
}
