/** What `--unmatched tunnel` lets the app reach: hosts that nobody declared, by CONNECT alone. */
import type { EffectivePolicy, TargetSnapshot, UpstreamSnapshot } from './snapshot.js'

/** Their common label. No upstream can be called so: DNS names have no underscore. */
export const UNMATCHED = '_unmatched'

const NOWHERE: TargetSnapshot = { protocol: 'http:', hostname: '', port: 0, authority: '', basePath: '' }

/** One attempt each and no breaker: they have nothing in common but that nobody knows them. */
export function unmatchedUpstream(policy: EffectivePolicy): UpstreamSnapshot {
  return {
    name: UNMATCHED,
    target: NOWHERE,
    listen: null,
    match: { hosts: [], pathPrefix: '' },
    hostHeader: 'target',
    tls: {},
    pool: { maxConnections: policy.limits.maxInFlight, maxAgeMs: 0 },
    policy: {
      ...policy,
      retry: { ...policy.retry, maxAttempts: 1 },
      breaker: { ...policy.breaker, mode: 'disabled' },
    },
    routes: [],
  }
}

/** @param authority `host:port` of a CONNECT, IPv6 in brackets */
export function towards(unmatched: UpstreamSnapshot, authority: string): UpstreamSnapshot {
  const colon = authority.lastIndexOf(':')
  const hostname = authority.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  const target = { ...unmatched.target, hostname, port: Number(authority.slice(colon + 1)), authority }
  return { ...unmatched, target }
}
