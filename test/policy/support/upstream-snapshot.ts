import type { UpstreamSnapshot } from '../../../src/core/snapshot.js'
import { effectivePolicy } from './effective-policy.js'

export const upstreamSnapshot = (name: string, changes: Partial<UpstreamSnapshot> = {}): UpstreamSnapshot => ({
  name,
  target: {
    protocol: 'http:',
    hostname: `${name}.example.com`,
    port: 80,
    authority: `${name}.example.com`,
    basePath: '',
  },
  listen: null,
  match: { hosts: [], pathPrefix: `/${name}` },
  hostHeader: 'target',
  tls: {},
  pool: { maxConnections: 256, maxAgeMs: 300_000 },
  policy: effectivePolicy(),
  routes: [],
  ...changes,
})
