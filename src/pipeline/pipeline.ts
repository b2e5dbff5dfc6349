import type { HedgeDenial } from '../core/reasons.js'
import type { RouteSnapshot, Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import type { UpstreamStatus } from '../telemetry/status.js'
import { ActiveCalls } from './active-calls.js'
import { ownAnswer } from './answers.js'
import { ConnectCall } from './connect-call.js'
import { Exchange } from './exchange.js'
import type { ExchangeDeps } from './exchange-deps.js'
import { type Found, type Nowhere, UpstreamFinder } from './find-upstream.js'
import type { Lane } from './lane.js'
import type { AppListener, Downstream, RequestAddress } from './ports.js'
import { type NotTried, redeliveryOf } from './redelivery.js'
import { rehearse } from './rehearsal.js'
import { reportRefused } from './report.js'
import { matchRoute } from './route.js'
import { Switches } from './switches.js'
import { pollNow, whyNoHedgeNow, whyNoRetryNow } from './tightened.js'
import { UpgradeCall } from './upgrade-call.js'
import type { UpgradeDecision, UpgradeRequest } from './upgrade-ports.js'
import { type StateDeps, UpstreamState } from './upstream-state.js'
import { FULL_ROOM_RETRY_MS } from './wait.js'

export interface PipelineDeps
  extends StateDeps,
    Omit<ExchangeDeps, 'retriesOff' | 'nextFault' | 'whyNoRetry' | 'whyNoHedge' | 'pollNow' | 'onFinished'> {
  /** Our name in `Via`; tells our own passes from those of other sidecars. */
  readonly pseudonym: string
  /** Set: a CONNECT to an undeclared host is tunnelled under this name and policy. Default: it is refused. */
  readonly unmatched?: UpstreamSnapshot
}

const NOBODY: AppListener = Object.freeze({ onAnswered() {}, onAppGone() {} })

/** Route → admit → attempts → answer, for whatever snapshot is in force. */
export class Pipeline {
  readonly #deps: PipelineDeps
  readonly #exchangeDeps: ExchangeDeps
  readonly #exchanges = new ActiveCalls<Exchange>()
  readonly #states = new Map<string, UpstreamState>()
  readonly #unmatched: UpstreamState | null
  readonly switches: Switches
  #snapshot: Snapshot
  #finder: UpstreamFinder
  #drained = false
  /** We are leaving: what can be done without is left out. */
  draining = false
  /** Requests not yet answered. */
  active = 0
  /** When the last request came or ended, monotonic ms. */
  lastCallMs: number

  constructor(deps: PipelineDeps, snapshot: Snapshot) {
    this.#deps = deps
    this.#snapshot = snapshot
    this.switches = new Switches(deps.clock, deps.sink)
    this.#unmatched = deps.unmatched === undefined ? null : new UpstreamState(deps.unmatched, deps)
    this.#finder = this.#finderOf(snapshot)
    this.lastCallMs = deps.clock.nowMs()
    this.#exchangeDeps = {
      ...deps,
      retriesOff: () => this.switches.retriesOff,
      nextFault: exchange => (this.switches.faultsOn ? rehearse(exchange) : null),
      whyNoRetry: exchange => (this.switches.retriesOff ? 'retries-off' : whyNoRetryNow(exchange, this.#snapshot)),
      whyNoHedge: exchange => this.#whyNoHedge(exchange),
      pollNow: exchange => (this.draining ? null : pollNow(exchange, this.#snapshot)),
      onFinished: exchange => this.#onEnd(exchange),
    }
    this.apply(snapshot)
  }

  get snapshot(): Snapshot {
    return this.#snapshot
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
    this.#finder = this.#finderOf(snapshot)
    this.#snapshot = snapshot
  }

  handle(downstream: Downstream, address: RequestAddress): AppListener {
    this.#onBegin()
    const appPath = downstream.path
    const found = this.#find(downstream, address)
    if ('reason' in found) {
      this.#refuse(downstream, found)
      return NOBODY
    }
    const { upstream } = found
    const route = matchRoute(upstream, downstream.method, downstream.path, downstream.headers)
    const exchange = this.#exchange(downstream, upstream, route, appPath)
    if (downstream.method === 'CONNECT') return this.#connect(exchange)
    this.#exchanges.add(exchange)
    exchange.start()
    return exchange
  }

  #connect(exchange: Exchange): AppListener {
    const { downstream, upstream, lane } = exchange
    if (!lane.limiter.tunnelFree) {
      this.#refuse(downstream, { reason: 'overloaded', upstream: upstream.name, retryAfterMs: FULL_ROOM_RETRY_MS })
      return NOBODY
    }
    const call = new ConnectCall(exchange)
    this.#exchanges.add(exchange)
    exchange.start()
    return call
  }

  /** Sends a parked call once more; `downstream` hears how it went, unless a word says why it was not tried. */
  redeliver(downstream: Downstream, name: string): AppListener | NotTried {
    const { generation, upstreams } = this.#snapshot
    const upstream = upstreams.get(name)
    if (this.#drained || this.switches.retriesOff) return this.#drained ? 'draining' : 'retries-off'
    if (upstream === undefined) return 'no-route'
    const route = matchRoute(upstream, downstream.method, downstream.path, downstream.headers)
    const deps = { ...this.#exchangeDeps, onFinished: (done: Exchange | null) => done && this.#exchanges.remove(done) }
    const exchange = redeliveryOf(deps, generation, upstream, route, this.#lane(upstream, route), downstream)
    if (exchange === null) return 'budget-exhausted'
    this.#exchanges.add(exchange)
    exchange.start()
    return exchange
  }

  upgrade(request: UpgradeRequest, address: RequestAddress): UpgradeDecision {
    this.#onBegin()
    let path = request.path
    const target = {
      method: request.method,
      path,
      headers: request.headers,
      setPath: (stripped: string) => (path = stripped),
    }
    const found = this.#find(target, address)
    if ('reason' in found) {
      const answer = ownAnswer(found.reason, found)
      this.#reportRefused({ ...request, path }, found, answer.body.length)
      return { proceed: false, answer }
    }
    const { upstream } = found
    const route = matchRoute(upstream, request.method, path, request.headers)
    const context = { deps: this.#exchangeDeps, generation: this.#snapshot.generation, upstream, path }
    const policy = route?.policy ?? upstream.policy
    const where = { route: route?.name ?? null, policy, lane: this.#lane(upstream, route) }
    return new UpgradeCall({ ...context, ...where }, request).decide()
  }

  #find(request: Pick<Downstream, 'method' | 'path' | 'headers' | 'setPath'>, address: RequestAddress): Found {
    if (this.#drained) return { reason: 'draining', upstream: address.upstreamName }
    return this.#finder.find(request, address)
  }

  #finderOf(snapshot: Snapshot): UpstreamFinder {
    return new UpstreamFinder(snapshot, this.#deps.pseudonym, this.#deps.unmatched ?? null)
  }

  #lane(upstream: UpstreamSnapshot, route: RouteSnapshot | null): Lane {
    return ((this.#states.get(upstream.name) ?? this.#unmatched) as UpstreamState).lane(route?.name ?? null)
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

  /** `false` when there is no such upstream. */
  forceBreaker(upstream: string, state: 'open' | 'closed' | 'auto'): boolean {
    return this.#states.get(upstream)?.force(state) ?? false
  }

  resetBudget(upstream: string): boolean {
    return this.#states.get(upstream)?.resetBudgets() ?? false
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
    this.#unmatched?.dispose()
  }

  /** To hosts that nobody declared; `null` = those are refused. */
  get unmatchedTunnels(): number | null {
    return this.#unmatched?.lane(null).limiter.tunnels ?? null
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

  #whyNoHedge(exchange: Exchange): HedgeDenial | null {
    if (this.draining) return 'draining'
    return this.switches.retriesOff ? 'retries-off' : whyNoHedgeNow(exchange, this.#snapshot)
  }

  #refuse(downstream: Downstream, found: Nowhere): void {
    const { status, statusText, headers, body } = ownAnswer(found.reason, found)
    downstream.answer({ status, statusText, headers }, [], body)
    this.#reportRefused(downstream, found, body.length)
  }

  #reportRefused(request: UpgradeRequest, { reason, upstream }: Nowhere, bytes: number): void {
    const { snapshot } = this
    const known = snapshot.upstreams.has(upstream ?? '') || upstream === this.#deps.unmatched?.name
    const facts = { reason, upstream: known ? upstream : null, generation: snapshot.generation, bytes }
    reportRefused(this.#deps, request, facts)
    this.#onEnd(null)
  }
}
