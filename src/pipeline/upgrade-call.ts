import type { BreakerPermit, SettledOutcome } from '../core/breaker-rules.js'
import { classifyFailure, classifyResponse } from '../core/classify.js'
import type { Outcome, OwnReason } from '../core/reasons.js'
import type { AttemptTrace, RequestTrace } from '../core/request-trace.js'
import type { EffectivePolicy, UpstreamSnapshot } from '../core/snapshot.js'
import { loggedTraceId } from '../core/trace-context.js'
import { throttleAdmits } from './admission.js'
import { ownAnswer, ownStatus } from './answers.js'
import type { ExchangeDeps } from './exchange-deps.js'
import type { Lane } from './lane.js'
import { finishedTrace, withoutQuery } from './report.js'
import { TunnelSlot } from './tunnel-slot.js'
import type { UpgradeDecision, UpgradeGranted, UpgradeOutcome, UpgradeRequest } from './upgrade-ports.js'
import { FULL_ROOM_RETRY_MS } from './wait.js'

const OUTCOME_OF: Readonly<Record<Exclude<UpgradeOutcome['kind'], 'response'>, Outcome>> = {
  connect: 'connect',
  overloaded: 'overloaded',
  reset: 'reset',
  'bad-response': 'bad-response',
  timeout: 'attempt-timeout',
  aborted: 'aborted',
}

export interface UpgradeContext {
  readonly deps: ExchangeDeps
  readonly generation: number
  readonly upstream: UpstreamSnapshot
  readonly route: string | null
  readonly policy: EffectivePolicy
  readonly lane: Lane
  /** Without the shared port's prefix. */
  readonly path: string
}

/**
 * An Upgrade handshake: gate, limits and breaker apply to it as to a request; it never waits and is never repeated,
 * for an app that opens a socket wants to know at once. Nothing inside the tunnel is looked at.
 */
export class UpgradeCall {
  readonly #context: UpgradeContext
  readonly #request: UpgradeRequest
  readonly #startMs: number
  readonly #trace: RequestTrace | null
  #attempt: AttemptTrace | null = null
  /** It is the one call that a gate lets through. */
  #gateProbe = false

  constructor(context: UpgradeContext, request: UpgradeRequest) {
    this.#context = context
    this.#request = request
    this.#startMs = context.deps.clock.nowMs()
    this.#trace = context.deps.tracing?.begin(request.headers) ?? null
  }

  decide(): UpgradeDecision {
    const { lane, deps } = this.#context
    const { gate, line, breaker } = lane.guard
    if (!gate.isOpen) {
      const closedForMs = gate.closedForMs(this.#startMs)
      this.#gateProbe = lane.guard.takeGateProbe(this.#startMs)
      if (!this.#gateProbe) return this.#refuse('gate-closed', closedForMs)
    }
    // An empty line may be held back for want of a probe, which this may be.
    if (!line.empty || !lane.limiter.free || !lane.limiter.tunnelFree)
      return this.#refuse('overloaded', FULL_ROOM_RETRY_MS)
    if (!lane.guard.pacer.tryTake(this.#startMs)) return this.#refuse('overloaded', FULL_ROOM_RETRY_MS)
    if (!throttleAdmits(lane, this.#startMs, deps.random)) return this.#refusePaced('throttled', null)
    const permit = breaker.acquire('first')
    if (!permit.granted) return this.#refusePaced('breaker-open', permit.retryAfterMs)
    lane.limiter.take()
    lane.onFirstAttempt(this.#startMs)
    return this.#grant(permit)
  }

  #grant(permit: BreakerPermit): UpgradeGranted {
    const { policy, upstream, path, deps, lane, route, generation } = this.#context
    const facts = { upstream: upstream.name, route, method: this.#request.method, path: this.#request.path, generation }
    this.#attempt = this.#trace?.attempt(1, false, this.#startMs) ?? null
    const slot = new TunnelSlot(lane.limiter, deps.clock, deps.sink, facts)
    return {
      proceed: true,
      upstream,
      path,
      set: ['forbear-attempt', '1', ...(this.#attempt === null ? [] : (this.#trace?.fields(this.#attempt) ?? []))],
      extra: ['forbear-attempts', '1', 'forbear-outcome', 'delivered'],
      connectTimeoutMs: policy.timeouts.connectMs,
      handshakeTimeoutMs: Math.min(policy.timeouts.attemptMs, policy.timeouts.totalMs),
      onOutcome: outcome => {
        if (outcome.kind === 'response' && outcome.status === 101) slot.open()
        this.#onOutcome(permit, outcome)
      },
      onClosed: tunnelled => {
        slot.close(tunnelled)
        deps.onFinished(null)
      },
    }
  }

  #onOutcome(permit: BreakerPermit, outcome: UpgradeOutcome): void {
    const { lane, deps, policy } = this.#context
    const nowMs = deps.clock.nowMs()
    lane.limiter.release()
    const status = outcome.kind === 'response' ? outcome.status : null
    if (this.#attempt !== null) this.#attempt.end = { atMs: nowMs, status, result: outcome.kind }
    if (outcome.kind === 'response') {
      const context = { retry: policy.retry, wallNowMs: deps.clock.wallMs(), keyed: false, resend: false }
      const facts = classifyResponse(outcome.status, [], context)
      this.#settle(permit, facts.breaker, nowMs)
      if (facts.breaker === 'success') lane.onFirstSuccess(nowMs)
      this.#settleGateProbe(facts.breaker !== 'failure')
      this.#report(outcome.status, 'delivered', 1)
    } else if (outcome.kind === 'aborted') {
      this.#settle(permit, 'none', nowMs)
      this.#settleGateProbe(false)
      this.#report(499, 'aborted', 1)
    } else {
      this.#settle(permit, classifyFailure(outcome.kind, false, policy.retry).breaker, nowMs)
      this.#settleGateProbe(false)
      const reason = OUTCOME_OF[outcome.kind] as OwnReason
      this.#report(ownStatus(reason), reason, 1)
    }
  }

  /** What the pace has counted is not sent. */
  #refusePaced(reason: OwnReason, retryAfterMs: number | null): UpgradeDecision {
    this.#context.lane.guard.pacer.giveBack(this.#startMs)
    return this.#refuse(reason, retryAfterMs)
  }

  #refuse(reason: OwnReason, retryAfterMs: number | null): UpgradeDecision {
    const answer = ownAnswer(reason, { upstream: this.#context.upstream.name, retryAfterMs })
    this.#settleGateProbe(false)
    this.#report(answer.status, reason, 0)
    this.#context.deps.onFinished(null)
    return { proceed: false, answer }
  }

  #settle(permit: BreakerPermit, outcome: SettledOutcome, nowMs: number): void {
    const { lane } = this.#context
    lane.guard.breaker.record(permit, outcome)
    lane.throttle.settle(this.#startMs, outcome, nowMs)
  }

  #settleGateProbe(good: boolean): void {
    if (!this.#gateProbe) return
    this.#gateProbe = false
    this.#context.lane.guard.onGateProbe({ kind: good ? 'good' : 'nothing' })
  }

  #report(status: number, outcome: Outcome, attempts: number): void {
    const { deps, upstream, route, generation, path } = this.#context
    const trace = this.#trace
    const durationMs = deps.clock.nowMs() - this.#startMs
    deps.sink.emit({
      type: 'request-finished',
      upstream: upstream.name,
      route,
      method: this.#request.method,
      path: withoutQuery(this.#request.path),
      status,
      outcome,
      denied: null,
      attempts,
      hedges: 0,
      polls: 0,
      durationMs,
      headMs: outcome === 'delivered' ? durationMs : null,
      waitedMs: 0,
      responseBytes: 0,
      generation,
      traceId: trace?.context.traceId ?? loggedTraceId(this.#request.headers),
      ...(trace !== null && { trace: finishedTrace(trace, upstream, path) }),
    })
  }
}
