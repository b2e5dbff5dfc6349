/**
 * Counts events and shows them, with gauges read from the status, to Prometheus. Label values come from the
 * configuration and from closed lists only, never from a request (linkerd/linkerd2#1378).
 */
import { UNMATCHED } from '../core/unmatched.js'
import { type Counts, countsOf } from './counts.js'
import type { EventSink, ForbearEvent, Notice } from './events.js'
import { ScopeTally } from './scope-tally.js'
import { type Scrape, scrape } from './scrape.js'
import type { SidecarStatus } from './status.js'
import { SeriesCap } from './tally.js'

export interface MetricsOptions {
  /** Read at each scrape. */
  readonly status: () => SidecarStatus
  /** Counter and histogram series of upstreams and routes; default 20 000. What is beyond it counts as upstream `_overflow`. */
  readonly maxSeries?: number
}

export interface MetricsSource {
  scrape(): Promise<Scrape>
  /** By upstream; that of requests which matched none is `null`. */
  counts(upstream: string | null): Counts
}

/** By upstream, then by route; `''` = none. */
export type Tallies = ReadonlyMap<string, ReadonlyMap<string, ScopeTally>>

export interface Metrics extends EventSink, MetricsSource {
  /** As they are now; read, never changed, by others. */
  readonly tallies: Tallies
}

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
    } else if (event.type === 'notice') {
      if (event.refused !== undefined) countRefused(event.refused)
    } else if ('route' in event) {
      count(event, scopeOf(event.upstream, event.route), overflow)
    }
  }

  function countRefused({ upstream, reason, status }: NonNullable<Notice['refused']>): void {
    const request = { method: '', status, outcome: reason }
    if (!scopeOf(upstream, null).request(request)) overflow.request(request)
  }

  /** Upstreams without a place in the status any more, if there was a reload since the last scrape. */
  function removed(current: SidecarStatus): readonly string[] {
    if (!pruneDue) return []
    pruneDue = false
    const names = new Set([NO_UPSTREAM, UNMATCHED, ...current.upstreams.map(each => each.name)])
    return [...scopes.keys()].filter(upstream => !names.has(upstream))
  }

  function forget(upstream: string): void {
    for (const scope of scopes.get(upstream)?.values() ?? []) cap.giveBack(scope.series)
    scopes.delete(upstream)
  }

  return {
    emit,
    tallies: scopes,
    counts: upstream => countsOf([...(scopes.get(upstream ?? NO_UPSTREAM)?.values() ?? [])]),
    async scrape() {
      const current = status()
      const gone = removed(current)
      const all = [...scopes.values()].flatMap(routes => [...routes.values()])
      const answer = await scrape({ scopes: [...all, overflow], reloads, status: current })
      // Their last counts were shown once more.
      gone.forEach(forget)
      return answer
    },
  }
}

/** What happened to a request, an attempt or a breaker, and so has a route or `null`. */
type Counted = Extract<ForbearEvent, { route: string | null }>

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
    case 'fallback-given':
      if (!scope.fallback(event)) overflow.fallback(event)
      break
    case 'fault-injected':
      if (!scope.fault(event)) overflow.fault(event)
      break
    case 'hedge-decided':
      if (!scope.hedge(event)) overflow.hedge(event)
      break
    case 'poll-judged':
      if (!scope.poll(event)) overflow.poll(event)
      break
    case 'parked-call':
      if (!scope.parkedCall(event)) overflow.parkedCall(event)
      break
    case 'breaker-changed':
      if (!scope.transition(event)) overflow.transition(event)
      break
  }
}
