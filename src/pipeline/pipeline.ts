import { isLoop } from '../core/layers.js'
import type { DenialReason, OwnReason } from '../core/reasons.js'
import type { RouteSnapshot, Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import type { UpstreamStatus } from '../telemetry/events.js'
import { ActiveCalls } from './active-calls.js'
import { ownAnswer, ownStatus } from './answers.js'
import { Exchange } from './exchange.js'
import type { ExchangeDeps } from './exchange-deps.js'
import type { Lane } from './lane.js'
import type { AppListener, Downstream, RequestAddress, UpgradeDecision, UpgradeRequest } from './ports.js'
import { withoutQuery } from './report.js'
import { compileRouter, matchRoute, type Router } from './route.js'
import { UpgradeCall } from './upgrade-call.js'
import { type StateDeps, UpstreamState } from './upstream-state.js'

export interface PipelineDeps extends StateDeps, Omit<ExchangeDeps, 'retriesOff' | 'whyNoRetry' | 'onFinished'> {
  /** Our name in `Via`; tells our own passes from those of other sidecars. */
  readonly pseudonym: string
}

type Found = { readonly upstream: UpstreamSnapshot } | { readonly reason: OwnReason; readonly upstream: string | null }

const NOBODY: AppListener = Object.freeze({ onAnswered() {}, onAppGone() {} })

/** Route → admit → attempts → answer, for whatever snapshot is in force. */
export class Pipeline {
  readonly #deps: PipelineDeps
  readonly #exchangeDeps: ExchangeDeps
  readonly #exchanges = new ActiveCalls<Exchange>()
  readonly #states = new Map<string, UpstreamState>()
  #snapshot: Snapshot
  #router: Router
  #retriesOffUntilMs = Number.NEGATIVE_INFINITY
  #drained = false
  /** Requests not yet answered. */
  active = 0
  /** When the last request came or ended, monotonic ms. */
  lastCallMs: number

  constructor(deps: PipelineDeps, snapshot: Snapshot) {
    this.#deps = deps
    this.#snapshot = snapshot
    this.#router = compileRouter(snapshot)
    this.lastCallMs = deps.clock.nowMs()
    this.#exchangeDeps = {
      ...deps,
      retriesOff: () => this.retriesOff,
      whyNoRetry: exchange => this.#whyNoRetry(exchange),
      onFinished: exchange => this.#onEnd(exchange),
    }
    this.apply(snapshot)
  }

  get snapshot(): Snapshot {
    return this.#snapshot
  }

  get retriesOff(): boolean {
    return this.#deps.clock.nowMs() < this.#retriesOffUntilMs
  }

  /** One reference is swapped; what upstreams have learnt is carried over. */
  apply(snapshot: Snapshot): void {
    for (const [name, upstream] of snapshot.upstreams) {
      const state = this.#states.get(name)
      if (state === undefined) this.#states.set(name, new UpstreamState(upstream, this.#deps))
      else state.reconcile(upstream)
    }
    for (const [name, state] of this.#states) {
      if (snapshot.upstreams.has(name) || snapshot.invalid.has(name)) continue
      state.dispose()
      this.#states.delete(name)
    }
    this.#router = compileRouter(snapshot)
    this.#snapshot = snapshot
  }

  handle(downstream: Downstream, address: RequestAddress): AppListener {
    this.#onBegin()
    const appPath = downstream.path
    const found = this.#find(downstream, address)
    if ('reason' in found) {
      this.#refuse(downstream, found.reason, found.upstream)
      return NOBODY
    }
    const { upstream } = found
    const route = matchRoute(upstream, downstream.method, downstream.path, downstream.headers)
    const exchange = this.#exchange(downstream, upstream, route, appPath)
    this.#exchanges.add(exchange)
    exchange.start()
    return exchange
  }

  upgrade(request: UpgradeRequest, address: RequestAddress): UpgradeDecision {
    this.#onBegin()
    let path = request.path
    const target = { path, headers: request.headers, setPath: (stripped: string) => (path = stripped) }
    const found = this.#find(target, address)
    if ('reason' in found) {
      const answer = ownAnswer(found.reason, { upstream: found.upstream })
      this.#reportRefused({ method: request.method, path }, found.reason, found.upstream, answer.body.length)
      return { proceed: false, answer }
    }
    const { upstream } = found
    const route = matchRoute(upstream, request.method, path, request.headers)
    const context = {
      deps: this.#exchangeDeps,
      generation: this.#snapshot.generation,
      upstream,
      route: route?.name ?? null,
      policy: route?.policy ?? upstream.policy,
      lane: this.#lane(upstream, route),
      path,
    }
    return new UpgradeCall(context, request).decide()
  }

  /** Which upstream is meant; strips a matched prefix from the path. */
  #find(request: Pick<Downstream, 'path' | 'headers' | 'setPath'>, address: RequestAddress): Found {
    if (this.#drained) return { reason: 'draining', upstream: address.upstreamName }
    if (isLoop(request.headers, this.#deps.pseudonym)) {
      return { reason: 'loop', upstream: address.upstreamName }
    }
    if (address.upstreamName !== null) return this.#ofOwnPort(address.upstreamName)
    const match = this.#router.matchShared({
      authority: address.authority,
      forbearUpstream: address.forbearUpstream ?? null,
      host: address.host ?? null,
      path: request.path,
    })
    if (match === null) return { reason: 'no-route', upstream: null }
    if ('invalid' in match) return { reason: 'no-policy', upstream: match.invalid }
    request.setPath(match.path)
    return match
  }

  #lane(upstream: UpstreamSnapshot, route: RouteSnapshot | null): Lane {
    return (this.#states.get(upstream.name) as UpstreamState).lane(route?.name ?? null)
  }

  #onBegin(): void {
    this.active += 1
    this.lastCallMs = this.#deps.clock.nowMs()
  }

  #onEnd(exchange: Exchange | null): void {
    if (exchange !== null) this.#exchanges.remove(exchange)
    this.active -= 1
    this.lastCallMs = this.#deps.clock.nowMs()
  }

  /** The kill switch: no retries for so long; 0 = on again. */
  switchRetriesOff(forMs: number): void {
    this.#retriesOffUntilMs = this.#deps.clock.nowMs() + forMs
  }

  /** `false` when there is no such upstream. */
  forceBreaker(upstream: string, state: 'open' | 'closed' | 'auto'): boolean {
    const found = this.#states.get(upstream)
    found?.force(state)
    return found !== undefined
  }

  /** The drain period is over: what has no answer yet gets one, new calls are refused. */
  drain(): void {
    this.#drained = true
    const all = this.#exchanges.snapshot()
    // Whoever waits goes first: else a slot that is left would start a call only to end it.
    for (const exchange of all) if (exchange.wait?.waits) exchange.onDrained()
    for (const exchange of all) exchange.onDrained()
  }

  dispose(): void {
    for (const state of this.#states.values()) state.dispose()
  }

  statuses(): UpstreamStatus[] {
    return [...this.#states.values()].flatMap(state => state.statuses())
  }

  #exchange(
    downstream: Downstream,
    upstream: UpstreamSnapshot,
    route: RouteSnapshot | null,
    appPath: string,
  ): Exchange {
    return new Exchange(
      this.#exchangeDeps,
      this.#snapshot.generation,
      upstream,
      route?.name ?? null,
      route?.policy ?? upstream.policy,
      this.#lane(upstream, route),
      downstream,
      appPath,
    )
  }

  #ofOwnPort(name: string): Found {
    const upstream = this.#snapshot.upstreams.get(name)
    if (upstream !== undefined) return { upstream }
    return { reason: this.#snapshot.invalid.has(name) ? 'no-policy' : 'no-route', upstream: name }
  }

  /** Before a further attempt, a request also obeys what the policy in force now tightens. */
  #whyNoRetry(exchange: Exchange): DenialReason | 'not-retryable' | null {
    if (this.retriesOff) return 'retries-off'
    if (exchange.generation === this.#snapshot.generation) return null
    const now = this.#snapshot.upstreams.get(exchange.upstream.name)
    if (now === undefined) return 'retries-exhausted'
    const route = now.routes.find(candidate => candidate.name === exchange.route)
    const { retry } = route?.policy ?? now.policy
    if (exchange.attempts >= retry.maxAttempts) return 'retries-exhausted'
    return exchange.memory?.stillWorthIt(retry) === false ? 'not-retryable' : null
  }

  #refuse(downstream: Downstream, reason: OwnReason, upstream: string | null): void {
    const { status, statusText, headers, body } = ownAnswer(reason, { upstream })
    downstream.answer({ status, statusText, headers }, [], body)
    this.#reportRefused(downstream, reason, upstream, body.length)
  }

  #reportRefused(
    request: Pick<Downstream, 'method' | 'path'>,
    reason: OwnReason,
    upstream: string | null,
    responseBytes: number,
  ): void {
    this.#deps.sink.emit({
      type: 'request-finished',
      upstream: this.#snapshot.upstreams.has(upstream ?? '') ? upstream : null,
      route: null,
      method: request.method,
      path: withoutQuery(request.path),
      status: ownStatus(reason),
      outcome: reason,
      denied: null,
      attempts: 0,
      durationMs: 0,
      headMs: null,
      waitedMs: 0,
      responseBytes,
      generation: this.#snapshot.generation,
      traceId: null,
    })
    this.#onEnd(null)
  }
}
