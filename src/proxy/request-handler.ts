import type { AppListener, RequestAddress } from '../pipeline/ports.js'
import type { UpgradeDecision, UpgradeRequest } from '../pipeline/upgrade-ports.js'
import type { ConnectDownstream } from './connect-downstream.js'
import type { ProxyDownstream } from './downstream-port.js'

/** What the server does with requests that may be forwarded. */
export interface RequestHandler {
  /** Called as soon as the head is there; may answer before it returns. */
  handle(downstream: ProxyDownstream | ConnectDownstream, address: RequestAddress): AppListener
  upgrade(request: UpgradeRequest, address: RequestAddress): UpgradeDecision
}
