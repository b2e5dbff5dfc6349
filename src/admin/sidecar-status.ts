import type { Pipeline } from '../pipeline/pipeline.js'
import type { PolicyRecord } from '../policy/policy-record.js'
import type { ListenerStatus, ParkedStatus, SidecarStatus } from '../telemetry/events.js'

export interface StatusParts {
  readonly pipeline: Pick<Pipeline, 'snapshot' | 'switches' | 'statuses'>
  readonly record: PolicyRecord
  readonly listeners: { statuses(): ReadonlyMap<string, ListenerStatus> }
  readonly draining: boolean
  readonly parked: ParkedStatus | undefined
}

/** Everything that an operator may see of now. */
export function sidecarStatus({ pipeline, record, listeners, draining, parked }: StatusParts): SidecarStatus {
  const { snapshot, switches } = pipeline
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
    listeners: listeners.statuses(),
  }
}
