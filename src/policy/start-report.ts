import type { Snapshot } from '../core/snapshot.js'
import type { PolicyReloaded } from '../telemetry/events.js'
import { formatMessage, type PolicyMessage } from './messages.js'

/** The first policies come into force as later ones do; `whole`: none of them was left out. */
export function startReport(snapshot: Snapshot, whole: boolean, messages: readonly PolicyMessage[]): PolicyReloaded {
  return {
    type: 'policy-reloaded',
    result: whole ? 'applied' : 'partial',
    trigger: 'start',
    generation: snapshot.generation,
    hash: snapshot.hash,
    upstreams: snapshot.upstreams.size,
    durationMs: 0,
    messages: messages.map(formatMessage),
    noPolicy: [...snapshot.invalid.keys()],
    kept: [],
  }
}
