import type { Snapshot } from '../core/snapshot.js'
import type { PolicyReloaded } from '../telemetry/events.js'
import { formatMessage, type PolicyMessage } from './messages.js'

/** The first policies come into force as later ones do. */
export function startReport(snapshot: Snapshot, messages: readonly PolicyMessage[]): PolicyReloaded {
  return {
    type: 'policy-reloaded',
    result: snapshot.invalid.size > 0 ? 'partial' : 'applied',
    trigger: 'start',
    generation: snapshot.generation,
    hash: snapshot.hash,
    upstreams: snapshot.upstreams.size,
    durationMs: 0,
    messages: messages.map(formatMessage),
  }
}
