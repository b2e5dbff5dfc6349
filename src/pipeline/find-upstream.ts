import { isLoop } from '../core/layers.js'
import type { OwnReason } from '../core/reasons.js'
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import type { Downstream, RequestAddress } from './ports.js'
import { compileRouter } from './route.js'

export type Found =
  | { readonly upstream: UpstreamSnapshot }
  | { readonly reason: OwnReason; readonly upstream: string | null; readonly detail?: string }

/** Which upstream a request is meant for, by one snapshot. */
export class UpstreamFinder {
  readonly #snapshot: Snapshot
  readonly #pseudonym: string
  readonly #router

  constructor(snapshot: Snapshot, pseudonym: string) {
    this.#snapshot = snapshot
    this.#pseudonym = pseudonym
    this.#router = compileRouter(snapshot)
  }

  /** Strips a matched prefix from the path. */
  find(request: Pick<Downstream, 'path' | 'headers' | 'setPath'>, address: RequestAddress): Found {
    if (isLoop(request.headers, this.#pseudonym)) return { reason: 'loop', upstream: address.upstreamName }
    if (address.upstreamName !== null) return this.#ofOwnPort(address.upstreamName)
    const match = this.#router.matchShared({
      authority: address.authority,
      forbearUpstream: address.forbearUpstream ?? null,
      host: address.host ?? null,
      path: request.path,
    })
    if (match === null) return { reason: 'no-route', upstream: null }
    if ('invalid' in match) return { reason: 'no-policy', upstream: match.invalid }
    request.setPath(match.path)
    return match
  }

  #ofOwnPort(name: string): Found {
    const upstream = this.#snapshot.upstreams.get(name)
    if (upstream !== undefined) return { upstream }
    return { reason: this.#snapshot.invalid.has(name) ? 'no-policy' : 'no-route', upstream: name }
  }
}
