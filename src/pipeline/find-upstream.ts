import { isLoop } from '../core/layers.js'
import type { OwnReason } from '../core/reasons.js'
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { towards } from '../core/unmatched.js'
import type { Downstream, RequestAddress } from './ports.js'
import { compileRouter } from './route.js'

export type Found = { readonly upstream: UpstreamSnapshot } | Nowhere

export interface Nowhere {
  readonly reason: OwnReason
  readonly upstream: string | null
  readonly detail?: string
  readonly retryAfterMs?: number
}

/** Which upstream a request is meant for, by one snapshot. */
export class UpstreamFinder {
  readonly #snapshot: Snapshot
  readonly #pseudonym: string
  readonly #router

  /** `unmatched`: what a CONNECT to an undeclared host is called under; `null` = it is refused. */
  constructor(
    snapshot: Snapshot,
    pseudonym: string,
    private readonly unmatched: UpstreamSnapshot | null,
  ) {
    this.#snapshot = snapshot
    this.#pseudonym = pseudonym
    this.#router = compileRouter(snapshot)
  }

  /** Strips a matched prefix from the path. */
  find(request: Pick<Downstream, 'method' | 'path' | 'headers' | 'setPath'>, address: RequestAddress): Found {
    if (isLoop(request.headers, this.#pseudonym)) return { reason: 'loop', upstream: address.upstreamName }
    if (address.upstreamName !== null) return this.#ofOwnPort(address.upstreamName)
    if (request.method === 'CONNECT') return this.#ofTunnel(address.authority ?? '')
    const match = this.#router.matchShared({
      authority: address.authority,
      forbearUpstream: address.forbearUpstream ?? null,
      host: address.host ?? null,
      path: request.path,
    })
    if (match === null) return { reason: 'no-route', upstream: null, ...hintFor(address.authority) }
    if ('invalid' in match) return { reason: 'no-policy', upstream: match.invalid }
    request.setPath(match.path)
    return match
  }

  #ofTunnel(authority: string): Found {
    const match = this.#router.matchTunnel(authority)
    if (match === null) {
      if (this.unmatched !== null) return { upstream: towards(this.unmatched, authority) }
      return { reason: 'no-route', upstream: null, ...hintFor(authority) }
    }
    if ('invalid' in match) return { reason: 'no-policy', upstream: match.invalid }
    const { name, target } = match.upstream
    if (target.protocol === 'http:' || !authority.endsWith(':80')) return match
    const detail = `A tunnel for plain HTTP would end at the https target of ${name}; send the URL itself to this proxy, without CONNECT.`
    return { reason: 'bad-request', upstream: name, detail }
  }

  #ofOwnPort(name: string): Found {
    const upstream = this.#snapshot.upstreams.get(name)
    if (upstream !== undefined) return { upstream }
    return { reason: this.#snapshot.invalid.has(name) ? 'no-policy' : 'no-route', upstream: name }
  }
}

/** For an app that uses this as its proxy; `authority` is its own. */
function hintFor(authority: string | null): { readonly detail?: string } {
  if (authority === null) return {}
  const detail = `No declared upstream has ${authority} as its target or its host in match.hosts; NO_PROXY keeps a host from this proxy.`
  return { detail }
}
