/** Names, types and help of all metrics, and how each is read from the tallies or from the status. */
import type { SidecarStatus, UpstreamStatus } from './events.js'
import { type Exposition, labels } from './exposition.js'
import { BREAKER_STATES, CODE_CLASSES, METHOD_CLASSES, type ScopeTally } from './scope-tally.js'
import type { Histogram, WordCounts } from './tally.js'

const RELOAD_RESULTS = ['applied', 'unchanged', 'partial', 'rejected'] as const

interface Counter {
  readonly name: string
  readonly help: string
  readonly of: (scope: ScopeTally) => WordCounts
  readonly labels: (word: string, slot: number) => Readonly<Record<string, string>>
}

const byReason = (reason: string) => ({ reason })

const COUNTERS: readonly Counter[] = [
  {
    name: 'forbear_requests_total',
    help: 'Requests of the app by how they ended; upstream _none: no upstream matched.',
    of: scope => scope.requests,
    labels: (outcome, slot) => ({
      method: METHOD_CLASSES[Math.floor(slot / CODE_CLASSES.length)] ?? 'OTHER',
      code: CODE_CLASSES[slot % CODE_CLASSES.length] ?? '',
      outcome,
    }),
  },
  {
    name: 'forbear_attempts_total',
    help: 'Calls to the upstream, the first of each request included; code is empty when no response head came.',
    of: scope => scope.attempts,
    labels: (result, slot) => ({ code: CODE_CLASSES[slot] ?? '', result }),
  },
  {
    name: 'forbear_retries_total',
    help: 'Further attempts by why they were worth making.',
    of: scope => scope.retries,
    labels: byReason,
  },
  {
    name: 'forbear_retries_denied_total',
    help: 'Retryable failures after which no further attempt was made, by why not.',
    of: scope => scope.denied,
    labels: byReason,
  },
  {
    name: 'forbear_breaker_transitions_total',
    help: 'Changes of breaker state; mode observe: counted only, nothing was refused.',
    of: scope => scope.transitions,
    labels: (reason, slot) => ({
      to: BREAKER_STATES[Math.floor(slot / 2)] ?? '',
      reason,
      mode: slot % 2 === 1 ? 'observe' : 'enforce',
    }),
  },
]

const HISTOGRAMS: readonly { name: string; help: string; of: (scope: ScopeTally) => Histogram }[] = [
  {
    name: 'forbear_request_duration_seconds',
    help: 'From the arrival of the request head to the end of the answer, waits included.',
    of: scope => scope.requestSeconds,
  },
  {
    name: 'forbear_attempt_duration_seconds',
    help: 'Duration of single attempts.',
    of: scope => scope.attemptSeconds,
  },
  {
    name: 'forbear_backoff_seconds',
    help: 'Waits before a further attempt.',
    of: scope => scope.backoffSeconds,
  },
]

const UPSTREAM_GAUGES: readonly { name: string; help: string; of: (status: UpstreamStatus) => number }[] = [
  {
    name: 'forbear_breaker_state',
    help: '0 closed (healthy), 1 half-open, 2 open.',
    of: status => BREAKER_STATES.indexOf(status.breaker.state),
  },
  {
    name: 'forbear_budget_balance',
    help: 'Retries that the budget would allow now.',
    of: status => status.budget.balance,
  },
  {
    name: 'forbear_gate_closed',
    help: '1 while calls pause because the upstream asked for it.',
    of: status => Number(status.gate.closed),
  },
  { name: 'forbear_in_flight', help: 'Attempts on the wire.', of: status => status.inFlight },
  { name: 'forbear_waiting', help: 'Requests in back-off, queue, gate or room.', of: status => status.waiting },
]

const SIDECAR_GAUGES: readonly { name: string; help: string; of: (status: SidecarStatus) => number }[] = [
  {
    name: 'forbear_policy_generation',
    help: 'Number of the policy set in force.',
    of: status => status.generation,
  },
  {
    name: 'forbear_policy_loaded_timestamp_seconds',
    help: 'Unix time at which the policy set in force was loaded.',
    of: status => Date.parse(status.loadedAt) / 1000,
  },
  {
    name: 'forbear_policy_last_reload_successful',
    help: '0 while the latest policies on disk were not accepted as a whole.',
    of: status => Number(status.lastReloadError === null),
  },
  {
    name: 'forbear_retries_enabled',
    help: '0 while retries are switched off by hand.',
    of: status => Number(status.retries === 'on'),
  },
]

/** One function a family, so that the caller can let requests pass in between. */
export function metricFamilies(
  scopes: readonly ScopeTally[],
  reloads: ReadonlyMap<string, number>,
  status: SidecarStatus,
): readonly ((out: Exposition) => void)[] {
  return [
    ...COUNTERS.map(each => (out: Exposition) => writeCounter(out, each, scopes)),
    ...HISTOGRAMS.map(({ name, help, of }) => (out: Exposition) => {
      out.family(name, 'histogram', help)
      for (const scope of scopes) if (of(scope).count > 0) out.histogram(name, scope.labels, of(scope))
    }),
    out => writeReloads(out, reloads),
    ...UPSTREAM_GAUGES.map(({ name, help, of }) => (out: Exposition) => {
      out.family(name, 'gauge', help)
      for (const row of status.upstreams) {
        out.sample(name, labels({ upstream: row.name, route: row.route ?? '' }), of(row))
      }
    }),
    out => writeSidecar(out, status),
  ]
}

function writeCounter(out: Exposition, counter: Counter, scopes: readonly ScopeTally[]): void {
  out.family(counter.name, 'counter', counter.help)
  for (const scope of scopes) {
    for (const { word, slot, count } of counter.of(scope).entries()) {
      out.sample(counter.name, `${scope.labels},${labels(counter.labels(word, slot))}`, count)
    }
  }
}

function writeReloads(out: Exposition, reloads: ReadonlyMap<string, number>): void {
  out.family('forbear_policy_reloads_total', 'counter', 'Readings of the policy directory, the first included.')
  for (const result of RELOAD_RESULTS) {
    out.sample('forbear_policy_reloads_total', labels({ result }), reloads.get(result) ?? 0)
  }
}

function writeSidecar(out: Exposition, status: SidecarStatus): void {
  for (const { name, help, of } of SIDECAR_GAUGES) {
    out.family(name, 'gauge', help)
    out.sample(name, '', of(status))
  }
  out.family('forbear_policy_info', 'gauge', 'Always 1; hash is that of the policy set in force.')
  out.sample('forbear_policy_info', labels({ hash: status.hash }), 1)
}
