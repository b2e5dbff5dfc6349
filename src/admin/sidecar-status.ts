import type { ParkedStatus } from '../core/park.js'
import type { Snapshot } from '../core/snapshot.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { PolicyRecord } from '../policy/policy-record.js'
import type { ListenerStatus, SidecarStatus, TlsStatus, TraceStatus } from '../telemetry/status.js'

export interface StatusParts {
  readonly pipeline: Pick<Pipeline, 'snapshot' | 'switches' | 'statuses' | 'unmatchedTunnels'>
  readonly record: PolicyRecord
  readonly listeners: { statuses(): ReadonlyMap<string, ListenerStatus> }
  readonly tls: { statuses(snapshot: Snapshot): ReadonlyMap<string, TlsStatus> }
  readonly draining: boolean
  readonly parked: ParkedStatus | undefined
  readonly traces: TraceStatus | undefined
}

/** Everything that an operator may see of now. */
export function sidecarStatus(parts: StatusParts): SidecarStatus {
  const { pipeline, record, listeners, tls, draining, parked, traces } = parts
  const { snapshot, switches, unmatchedTunnels } = pipeline
  return {
    generation: snapshot.generation,
    hash: snapshot.hash,
    ...record.status(),
    noPolicy: [...snapshot.invalid.keys()],
    kept: [...(snapshot.kept ?? [])],
    draining,
    retries: switches.retriesOff ? 'off' : 'on',
    faults: switches.faultsOn ? 'on' : 'off',
    ...(parked !== undefined && { parked }),
    upstreams: pipeline.statuses(),
    ...(traces !== undefined && { traces }),
    ...(unmatchedTunnels !== null && { unmatchedTunnels }),
    listeners: listeners.statuses(),
    tls: tls.statuses(snapshot),
  }
}
