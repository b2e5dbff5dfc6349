/**
 * Counts events and renders them, with gauges read from the status, as Prometheus text. Label values come from the
 * configuration and from closed lists only, never from a request (linkerd/linkerd2#1378).
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import type { EventSink, ForbearEvent, SidecarStatus } from './events.js'
import { CONTENT_TYPE, Exposition } from './exposition.js'
import { metricFamilies } from './metric-families.js'
import { ScopeTally } from './scope-tally.js'
import { SeriesCap } from './tally.js'

export interface MetricsOptions {
  /** Read at each scrape. */
  readonly status: () => SidecarStatus
  /** Counter and histogram series of upstreams and routes; default 20 000. What is beyond it counts as upstream `_overflow`. */
  readonly maxSeries?: number
}

export interface MetricsSource {
  readonly contentType: string
  render(): Promise<string>
}

export interface Metrics extends EventSink, MetricsSource {}

/** Upstream label of a request that matched none. DNS names have no underscore. */
const NO_UPSTREAM = '_none'
const OVERFLOW = '_overflow'

export function createMetrics({ status, maxSeries = 20_000 }: MetricsOptions): Metrics {
  const cap = new SeriesCap(maxSeries)
  const scopes = new Map<string, Map<string, ScopeTally>>()
  const overflow = new ScopeTally(OVERFLOW, '', new SeriesCap(Number.POSITIVE_INFINITY))
  const reloads = new Map<string, number>()
  let pruneDue = false

  function scopeOf(upstream: string | null, route: string | null): ScopeTally {
    return scopes.get(upstream ?? NO_UPSTREAM)?.get(route ?? '') ?? newScope(upstream ?? NO_UPSTREAM, route ?? '')
  }

  /** A scope without a series costs no room; the cap is asked for each of its series. */
  function newScope(upstream: string, route: string): ScopeTally {
    const routes = scopes.get(upstream) ?? new Map<string, ScopeTally>()
    const scope = new ScopeTally(upstream, route, cap)
    scopes.set(upstream, routes.set(route, scope))
    return scope
  }

  function emit(event: ForbearEvent): void {
    if (event.type === 'policy-reloaded') {
      reloads.set(event.result, (reloads.get(event.result) ?? 0) + 1)
      pruneDue = true
    } else if (event.type !== 'listening' && event.type !== 'notice' && event.type !== 'gate-changed') {
      count(event, scopeOf(event.upstream, event.route), overflow)
    }
  }

  /** Upstreams that a reload removed are shown once more with their last counts. */
  function prune(current: SidecarStatus): void {
    if (!pruneDue) return
    pruneDue = false
    const names = new Set([NO_UPSTREAM, ...current.upstreams.map(each => each.name)])
    for (const [upstream, routes] of scopes) {
      if (names.has(upstream)) continue
      scopes.delete(upstream)
      for (const scope of routes.values()) cap.giveBack(scope.series)
    }
  }

  async function render(): Promise<string> {
    const out = new Exposition()
    const current = status()
    const all = [...scopes.values()].flatMap(routes => [...routes.values()])
    for (const write of metricFamilies([...all, overflow], reloads, current)) {
      write(out)
      await nextTurn()
    }
    prune(current)
    return `${out.text()}${await (await processRegistry()).metrics()}`
  }

  return { emit, render, contentType: CONTENT_TYPE }
}

type Counted = Extract<
  ForbearEvent,
  { type: 'request-finished' | 'attempt-finished' | 'retry-scheduled' | 'retry-denied' | 'breaker-changed' }
>

function count(event: Counted, scope: ScopeTally, overflow: ScopeTally): void {
  switch (event.type) {
    case 'request-finished':
      if (!scope.request(event)) overflow.request(event)
      if (!scope.requestTime(event)) overflow.requestTime(event)
      break
    case 'attempt-finished':
      if (!scope.attempt(event)) overflow.attempt(event)
      if (!scope.attemptTime(event)) overflow.attemptTime(event)
      break
    case 'retry-scheduled':
      if (!scope.retry(event)) overflow.retry(event)
      if (!scope.backoff(event)) overflow.backoff(event)
      break
    case 'retry-denied':
      if (!scope.denial(event)) overflow.denial(event)
      break
    case 'breaker-changed':
      if (!scope.transition(event)) overflow.transition(event)
      break
  }
}

let registry: Promise<Registry> | undefined

/**
 * CPU, memory and event-loop lag of this process, from the first scrape on: prom-client takes 45 ms to load and samples
 * the event loop, which a sidecar that nobody scrapes need not pay.
 */
function processRegistry(): Promise<Registry> {
  registry ??= import('prom-client').then(({ default: client }) => {
    const own = new client.Registry()
    client.collectDefaultMetrics({ register: own, eventLoopMonitoringPrecision: 50 })
    return own
  })
  return registry
}
