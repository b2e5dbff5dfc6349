/** Names, types and help of all metrics. */
import { UNMATCHED } from '../core/unmatched.js'
import { type MetricFamily, scopeCounter, scopeHistogram, upstreamGauge } from './metric-family.js'
import { BREAKER_STATES, CODE_CLASSES, METHOD_CLASSES } from './scope-tally.js'
import { SIDECAR_COUNTERS, SIDECAR_GAUGES } from './sidecar-families.js'

const byReason = (reason: string) => ({ reason })

const COUNTERS: readonly MetricFamily[] = [
  scopeCounter({
    name: 'forbear_requests_total',
    help: 'Requests of the app by how they ended; upstream _none: no upstream matched; _unmatched: tunnelled by --unmatched tunnel.',
    of: scope => scope.requests,
    labels: (outcome, slot) => ({
      method: METHOD_CLASSES[Math.floor(slot / CODE_CLASSES.length)] ?? 'OTHER',
      code: CODE_CLASSES[slot % CODE_CLASSES.length] ?? '',
      outcome,
    }),
  }),
  scopeCounter({
    name: 'forbear_attempts_total',
    help: 'Calls to the upstream, the first of each request included; code is empty when no response head came.',
    of: scope => scope.attempts,
    labels: (result, slot) => ({ code: CODE_CLASSES[slot] ?? '', result }),
  }),
  scopeCounter({
    name: 'forbear_retries_total',
    help: 'Further attempts by why they were worth making.',
    of: scope => scope.retries,
    labels: byReason,
  }),
  scopeCounter({
    name: 'forbear_retries_denied_total',
    help: 'Retryable failures after which no further attempt was made, by why not.',
    of: scope => scope.denied,
    labels: byReason,
  }),
  scopeCounter({
    name: 'forbear_fallbacks_total',
    help: 'Failures that the policy answered by itself, by their cause.',
    of: scope => scope.fallbacks,
    labels: cause => ({ cause }),
  }),
  scopeCounter({
    name: 'forbear_faults_injected_total',
    help: 'Attempts hit by a rehearsed fault, by its kind.',
    of: scope => scope.faults,
    labels: kind => ({ kind }),
  }),
  scopeCounter({
    name: 'forbear_polls_total',
    help: 'Answers to polls: done, final (it never will be), repeated, or pending when the app got one that said not yet.',
    of: scope => scope.polls,
    labels: result => ({ result }),
  }),
  scopeCounter({
    name: 'forbear_hedges_total',
    help: 'Attempts sent beside a late one: won, lost, failed or aborted; observed, or the reason for which one that was due was not sent.',
    of: scope => scope.hedges,
    labels: result => ({ result }),
  }),
  scopeCounter({
    name: 'forbear_parked_calls_total',
    help: 'Calls on routes that park, by what became of them: parked or refused, then failed (a redelivery), delivered, cancelled or dead.',
    of: scope => scope.parked,
    labels: step => ({ step }),
  }),
  scopeCounter({
    name: 'forbear_breaker_transitions_total',
    help: 'Changes of breaker state; mode observe: counted only, nothing was refused.',
    of: scope => scope.transitions,
    labels: (reason, slot) => ({
      to: BREAKER_STATES[Math.floor(slot / 2)] ?? '',
      reason,
      mode: slot % 2 === 1 ? 'observe' : 'enforce',
    }),
  }),
]

const HISTOGRAMS: readonly MetricFamily[] = [
  scopeHistogram({
    name: 'forbear_request_duration_seconds',
    help: 'From the arrival of the request head to the end of the answer, waits included.',
    of: scope => scope.requestSeconds,
  }),
  scopeHistogram({
    name: 'forbear_attempt_duration_seconds',
    help: 'Duration of single attempts.',
    of: scope => scope.attemptSeconds,
  }),
  scopeHistogram({
    name: 'forbear_backoff_seconds',
    help: 'Waits before a further attempt.',
    of: scope => scope.backoffSeconds,
  }),
]

const UPSTREAM_GAUGES: readonly MetricFamily[] = [
  upstreamGauge({
    name: 'forbear_breaker_state',
    help: '0 closed (healthy), 1 half-open, 2 open.',
    of: status => BREAKER_STATES.indexOf(status.breaker.state),
  }),
  upstreamGauge({
    name: 'forbear_budget_balance',
    help: 'Retries that the budget would allow now.',
    of: status => status.budget.balance,
  }),
  upstreamGauge({
    name: 'forbear_budget_ratio',
    help: 'budget.ratio: retries allowed for each first attempt that succeeds.',
    of: status => status.budget.ratio,
  }),
  upstreamGauge({
    name: 'forbear_gate_closed',
    help: '1 while calls pause because the upstream asked for it.',
    of: status => Number(status.gate.closed),
  }),
  upstreamGauge({
    name: 'forbear_pace_rate',
    help: 'Calls a second that the pace allows; +Inf while it knows no limit.',
    of: status => status.pace.ratePerSec,
  }),
  upstreamGauge({
    name: 'forbear_throttle_probability',
    help: 'Share of calls that the throttle refuses now; under mode observe, would refuse.',
    of: status => status.throttle.refusalProbability,
  }),
  upstreamGauge({ name: 'forbear_in_flight', help: 'Attempts on the wire.', of: status => status.inFlight }),
  {
    name: 'forbear_tunnels_open',
    type: 'gauge',
    help: 'Tunnels (CONNECT, WebSocket) that stand; upstream _unmatched: to undeclared hosts.',
    samples: ({ status: { upstreams, unmatchedTunnels } }) => [
      ...upstreams.map(row => ({ value: row.tunnels, labels: { upstream: row.name, route: row.route ?? '' } })),
      ...(unmatchedTunnels === undefined
        ? []
        : [{ value: unmatchedTunnels, labels: { upstream: UNMATCHED, route: '' } }]),
    ],
  },
  upstreamGauge({
    name: 'forbear_in_flight_limit',
    help: 'Attempts that may be on the wire: limits.maxInFlight, or what auto has learned.',
    of: status => status.inFlightLimit,
  }),
  upstreamGauge({
    name: 'forbear_waiting',
    help: 'Requests in back-off, queue, gate or room.',
    of: status => status.waiting,
  }),
]

export const METRIC_FAMILIES = [...COUNTERS, ...HISTOGRAMS, ...SIDECAR_COUNTERS, ...UPSTREAM_GAUGES, ...SIDECAR_GAUGES]
