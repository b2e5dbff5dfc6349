import type { Clock } from '../clock/clock.js'
import type { BreakerSettings } from '../core/breaker-rules.js'
import { RetryBudget } from '../core/budget.js'
import { hedgeDelayMs } from '../core/hedge.js'
import { LatencyWindow } from '../core/latency.js'
import type { EffectivePolicy, LimitSettings, RouteSnapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { targetText } from '../core/target-text.js'
import { AdaptiveThrottle } from '../core/throttle.js'
import type { EventSink } from '../telemetry/events.js'
import type { UpstreamStatus } from '../telemetry/status.js'
import type { BreakerTransition, ReconfigurableBreaker } from './breaker-port.js'
import { Guard } from './guard.js'
import { Lane } from './lane.js'
import { Limiter } from './limiter.js'
import { StaleAllowance } from './stale-allowance.js'

export type MakeBreaker = (
  settings: BreakerSettings,
  latency: LatencyWindow,
  onTransition: (change: BreakerTransition) => void,
) => ReconfigurableBreaker

export interface StateDeps {
  readonly clock: Clock
  readonly sink: EventSink
  readonly makeBreaker: MakeBreaker
  /** Open connections of an upstream. */
  readonly connections: (upstream: string) => number
}

/** Everything of one upstream that lives longer than a request and than a policy. */
export class UpstreamState {
  #snapshot: UpstreamSnapshot
  #lane: Lane
  readonly #deps: StateDeps
  /** A slot is a right to a connection: the pool bounds the upstream's limits and those of its routes together. */
  readonly #pool: Limiter
  #routes = new Map<string, Lane>()
  /** By hand, until it is let go by hand. */
  #held: 'open' | 'closed' | null = null

  constructor(snapshot: UpstreamSnapshot, deps: StateDeps) {
    this.#snapshot = snapshot
    this.#deps = deps
    const nowMs = deps.clock.nowMs()
    this.#pool = new Limiter(poolLimits(snapshot), null, nowMs)
    const { policy } = snapshot
    const budget = new RetryBudget(policy.budget, nowMs)
    this.#lane = this.#newLane(null, policy, budget, null, new Limiter(policy.limits, this.#pool, nowMs))
    this.#reconcileRoutes()
  }

  lane(route: string | null): Lane {
    return (route === null ? undefined : this.#routes.get(route)) ?? this.#lane
  }

  /** Takes an edit over: counts survive, limits move; another target or other TLS makes what was learnt worthless. */
  reconcile(snapshot: UpstreamSnapshot): void {
    // A reload keeps the object where nothing was edited.
    if (snapshot === this.#snapshot) return
    const moved = !sameTarget(this.#snapshot, snapshot)
    this.#snapshot = snapshot
    const nowMs = this.#deps.clock.nowMs()
    this.#pool.reconfigure(poolLimits(snapshot), nowMs)
    const { policy } = snapshot
    this.#lane.budget.reconfigure(policy.budget, nowMs)
    this.#lane.limiter.reconfigure(policy.limits, nowMs)
    this.#lane.throttle.reconfigure(policy.throttle, nowMs)
    if (moved) this.#forget()
    else this.#lane.guard.reconfigure(policy.breaker, policy.retry.retryAfter, policy.pace)
    this.#reconcileRoutes()
    if (this.#held !== null) this.#forceAll(this.#held)
  }

  force(state: 'open' | 'closed' | 'auto'): true {
    this.#held = state === 'auto' ? null : state
    this.#forceAll(state)
    return true
  }

  resetBudgets(): true {
    for (const lane of this.#lanes()) lane.budget.reset(this.#deps.clock.nowMs())
    return true
  }

  #forceAll(state: 'open' | 'closed' | 'auto'): void {
    for (const lane of this.#lanes()) lane.guard.breaker.force(state)
  }

  dispose(): void {
    for (const guard of new Set([...this.#lanes()].map(lane => lane.guard))) guard.dispose()
  }

  /** Of the upstream itself, then of every route with instances of its own. */
  statuses(): UpstreamStatus[] {
    return [this.#status(null, this.#lane), ...[...this.#routes].map(([route, lane]) => this.#status(route, lane))]
  }

  *#lanes(): Iterable<Lane> {
    yield this.#lane
    yield* this.#routes.values()
  }

  #forget(): void {
    const old = this.#lane
    for (const guard of new Set([...this.#lanes()].map(lane => lane.guard))) guard.dispose()
    for (const lane of this.#routes.values()) if (lane.limiter !== old.limiter) lane.limiter.detach()
    this.#routes = new Map()
    this.#lane = this.#newLane(null, this.#snapshot.policy, old.budget, null, old.limiter)
  }

  #reconcileRoutes(): void {
    const routes = new Map<string, Lane>()
    for (const route of this.#snapshot.routes) {
      if (!Object.values(route.own).includes(true)) continue
      routes.set(route.name, this.#reconcileRoute(route, this.#routes.get(route.name)))
    }
    for (const [name, lane] of this.#routes) {
      if (routes.has(name)) continue
      if (lane.guard !== this.#lane.guard) lane.guard.dispose()
      if (lane.limiter !== this.#lane.limiter) lane.limiter.detach()
    }
    this.#routes = routes
  }

  #reconcileRoute(route: RouteSnapshot, old: Lane | undefined): Lane {
    const { own, policy, name } = route
    const ownGuard = own.breaker || own.pace
    const parent = this.#lane
    const nowMs = this.#deps.clock.nowMs()
    const oldBudget = old !== undefined && old.parentBudget !== null ? old.budget : undefined
    oldBudget?.reconfigure(policy.budget, nowMs)
    const oldLimiter = old !== undefined && old.limiter !== parent.limiter ? old.limiter : undefined
    if (own.limits) oldLimiter?.reconfigure(policy.limits, nowMs)
    const oldGuard = old !== undefined && old.guard !== parent.guard ? old.guard : undefined
    if (ownGuard) oldGuard?.reconfigure(policy.breaker, policy.retry.retryAfter, policy.pace)
    else oldGuard?.dispose()
    const oldThrottle = old !== undefined && old.throttle !== parent.throttle ? old.throttle : undefined
    oldThrottle?.reconfigure(policy.throttle, nowMs)
    const latency = ownGuard ? (old?.latency ?? new LatencyWindow()) : parent.latency
    return new Lane(
      ownGuard ? (oldGuard ?? this.#newGuard(name, policy, latency)) : parent.guard,
      own.limits ? (oldLimiter ?? new Limiter(policy.limits, this.#pool, nowMs)) : parent.limiter,
      own.budget ? (oldBudget ?? new RetryBudget(policy.budget, nowMs)) : parent.budget,
      own.budget ? parent.budget : null,
      latency,
      own.hedge ? (ownLatency(old, parent) ?? new LatencyWindow()) : latency,
      parent.stale,
      own.throttle ? (oldThrottle ?? new AdaptiveThrottle(policy.throttle)) : parent.throttle,
    )
  }

  #newLane(
    route: string | null,
    policy: EffectivePolicy,
    budget: RetryBudget,
    parentBudget: RetryBudget | null,
    limiter: Limiter,
  ): Lane {
    const latency = new LatencyWindow()
    const guard = this.#newGuard(route, policy, latency)
    const stale = new StaleAllowance(this.#deps.clock.nowMs())
    const throttle = new AdaptiveThrottle(policy.throttle)
    return new Lane(guard, limiter, budget, parentBudget, latency, latency, stale, throttle)
  }

  #newGuard(route: string | null, policy: EffectivePolicy, latency: LatencyWindow): Guard {
    const { clock, sink, makeBreaker } = this.#deps
    const parts = {
      upstream: this.#snapshot.name,
      route,
      settings: policy.breaker,
      retryAfter: policy.retry.retryAfter,
      pace: policy.pace,
      makeBreaker: (settings: BreakerSettings, onTransition: (change: BreakerTransition) => void) =>
        makeBreaker(settings, latency, change => {
          if (change.to === 'closed') this.#onClosed(guard)
          onTransition(change)
        }),
    }
    const guard = new Guard(parts, clock, sink)
    return guard
  }

  /** Proof of life: what was refused in the outage shall not count against the calls after it. */
  #onClosed(guard: Guard): void {
    for (const lane of this.#lanes()) if (lane.guard === guard) lane.throttle.reset()
  }

  #status(route: string | null, lane: Lane): UpstreamStatus {
    const nowMs = this.#deps.clock.nowMs()
    const { guard, limiter, budget, latency } = lane
    const { target, policy, name, routes } = this.#snapshot
    const { hedge, budget: settings } = routes.find(own => own.name === route)?.policy ?? policy
    const closedForMs = guard.gate.closedForMs(nowMs)
    return {
      name,
      route,
      target: targetText(target),
      breaker: {
        state: guard.breaker.state,
        mode: guard.mode,
        openForMs: guard.breaker.openForMs,
        failuresInARow: guard.breaker.failuresInARow,
        held: this.#held,
      },
      budget: { balance: budget.balance(nowMs), ratio: settings.ratio, ...budget.rates(nowMs) },
      hedge: {
        mode: hedge.mode,
        afterMs: hedge.mode === 'disabled' ? null : hedgeDelayMs(hedge, lane.hedgeLatency, nowMs),
        balance: budget.hedgeBalance(nowMs),
      },
      gate: { closed: !guard.gate.isOpen, closedForMs },
      pace: { mode: guard.pacer.mode, ratePerSec: guard.pacer.ratePerSec(nowMs) },
      throttle: { mode: lane.throttle.mode, refusalProbability: lane.throttle.refusalProbability(nowMs) },
      inFlight: limiter.inFlight,
      inFlightLimit: limiter.limit,
      tunnels: limiter.tunnels,
      waiting: limiter.waiting,
      waitingBytes: limiter.waitingBytes,
      connections: this.#deps.connections(name),
      latencyMs: {
        p50: latency.quantile(0.5, nowMs),
        p95: latency.quantile(0.95, nowMs),
        p99: latency.quantile(0.99, nowMs),
      },
    }
  }
}

/** What a route with a hedge section knew before an edit. */
function ownLatency(old: Lane | undefined, parent: Lane): LatencyWindow | null {
  return old === undefined || old.hedgeLatency === parent.latency ? null : old.hedgeLatency
}

function poolLimits(snapshot: UpstreamSnapshot): LimitSettings {
  const none = Number.POSITIVE_INFINITY
  return {
    maxInFlight: snapshot.pool.maxConnections,
    adaptive: false,
    maxTunnels: none,
    maxWaiting: none,
    maxWaitingBytes: none,
  }
}

function sameTarget(a: UpstreamSnapshot, b: UpstreamSnapshot): boolean {
  return JSON.stringify([a.target, a.tls]) === JSON.stringify([b.target, b.tls])
}
