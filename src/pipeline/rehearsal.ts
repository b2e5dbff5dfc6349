import { drawFault, type Fault } from '../core/fault.js'
import type { Exchange } from './exchange.js'

/** Draws the fault of the next attempt and tells of it: nobody shall take a rehearsal for an outage. */
export function rehearse(exchange: Exchange): Fault | null {
  const { deps, policy, upstream, route, downstream, facts } = exchange
  // Nothing inside a tunnel is touched.
  if (downstream.method === 'CONNECT') return null
  const fault = drawFault(policy.fault, deps.random)
  if (fault === null) return null
  const kind = fault.then.kind === 'call' ? 'delay' : fault.then.kind
  deps.sink.emit({ type: 'fault-injected', upstream: upstream.name, route, kind, traceId: facts.traceId })
  return fault
}
