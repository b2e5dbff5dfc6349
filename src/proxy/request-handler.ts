import type { UpgradeDecision, UpgradeRequest } from '../pipeline/ports.js'
import type { AppListener } from './downstream.js'
import type { ProxyDownstream } from './downstream-port.js'

/** How the app addressed its request. */
export interface RequestAddress {
  /** Authority of an absolute-form target, else `null`. */
  readonly authority: string | null
  /** The Host field. */
  readonly host: string | undefined
  readonly forbearUpstream: string | undefined
  /** Set on an own port. */
  readonly upstreamName: string | null
}

/** What the server does with requests that may be forwarded. */
export interface RequestHandler {
  /** Called as soon as the head is there; may answer before it returns. */
  handle(downstream: ProxyDownstream, address: RequestAddress): AppListener
  upgrade(request: UpgradeRequest, address: RequestAddress): UpgradeDecision
}
