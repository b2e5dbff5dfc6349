/** Metrics of the process as a whole: its policies, stores, listeners and exports. */
import { type MetricFamily, sidecarGauge, tlsTime } from './metric-family.js'

const RELOAD_RESULTS = ['applied', 'unchanged', 'partial', 'rejected'] as const

const POLICY_RELOADS: MetricFamily = {
  name: 'forbear_policy_reloads_total',
  type: 'counter',
  help: 'Readings of the policy directory, the first included.',
  samples: ({ reloads }) => RELOAD_RESULTS.map(result => ({ value: reloads.get(result) ?? 0, labels: { result } })),
}

export const SIDECAR_GAUGES: readonly MetricFamily[] = [
  sidecarGauge({
    name: 'forbear_policy_generation',
    help: 'Number of the policy set in force.',
    of: status => status.generation,
  }),
  sidecarGauge({
    name: 'forbear_policy_loaded_timestamp_seconds',
    help: 'Unix time at which the policy set in force was loaded.',
    of: status => Date.parse(status.loadedAt) / 1000,
  }),
  sidecarGauge({
    name: 'forbear_policy_last_reload_successful',
    help: '0 while the latest policies on disk were not accepted as a whole.',
    of: status => Number(status.lastReloadError === null),
  }),
  sidecarGauge({
    name: 'forbear_retries_enabled',
    help: '0 while retries are switched off by hand.',
    of: status => Number(status.retries === 'on'),
  }),
  sidecarGauge({
    name: 'forbear_faults_enabled',
    help: '1 while the faults of the policies are rehearsed.',
    of: status => Number(status.faults === 'on'),
  }),
  {
    name: 'forbear_parked_entries',
    type: 'gauge',
    help: 'Parked calls in the stores that this sidecar uses.',
    samples: ({ status: { parked } }) =>
      parked === undefined
        ? []
        : (['waiting', 'dead'] as const).map(state => ({ value: parked[state], labels: { state } })),
  },
  {
    name: 'forbear_parked_bytes',
    type: 'gauge',
    help: 'What the parked calls take of maxBytes.',
    samples: ({ status: { parked } }) => (parked === undefined ? [] : [{ value: parked.bytes, labels: {} }]),
  },
  {
    name: 'forbear_listener_up',
    type: 'gauge',
    help: '0 while the own port of an upstream cannot be opened as its policy wants it.',
    samples: ({ status }) =>
      [...status.listeners].map(([upstream, { state }]) => ({ value: Number(state === 'open'), labels: { upstream } })),
  },
  tlsTime({
    name: 'forbear_tls_files_loaded_timestamp_seconds',
    help: 'Unix time at which the tls files in force were read.',
    of: status => status.loadedAt,
  }),
  tlsTime({
    name: 'forbear_tls_certificate_expiry_timestamp_seconds',
    help: 'Unix time at which the client certificate in force ends.',
    of: status => status.certificateExpiresAt,
  }),
  {
    name: 'forbear_policy_info',
    type: 'gauge',
    help: 'Always 1; hash is that of the policy set in force.',
    samples: ({ status }) => [{ value: 1, labels: { hash: status.hash } }],
  },
]

const TRACE_SPANS: MetricFamily = {
  name: 'forbear_trace_spans_total',
  type: 'counter',
  help: 'Spans by what became of them: exported, failed (the collector did not take them) or dropped (no room in the queue).',
  samples: ({ status: { traces } }) =>
    traces === undefined
      ? []
      : (['exported', 'failed', 'dropped'] as const).map(result => ({ value: traces[result], labels: { result } })),
}

export const SIDECAR_COUNTERS = [POLICY_RELOADS, TRACE_SPANS]
