import type { UpstreamSnapshot } from '../../../src/core/snapshot.js'

interface Overrides {
  hostname?: string
  hostHeader?: 'target' | 'preserve'
  basePath?: string
  protocol?: 'http:' | 'https:'
  tls?: UpstreamSnapshot['tls']
}

/** An upstream on a loopback port, as far as a tunnel looks at it. */
export function upstreamAt(port: number, overrides: Overrides = {}): UpstreamSnapshot {
  const part: Omit<UpstreamSnapshot, 'policy'> = {
    name: 'ws',
    target: {
      protocol: overrides.protocol ?? 'http:',
      hostname: overrides.hostname ?? '127.0.0.1',
      port,
      authority: `127.0.0.1:${port}`,
      basePath: overrides.basePath ?? '',
    },
    listen: null,
    match: { hosts: [], pathPrefix: '/ws' },
    hostHeader: overrides.hostHeader ?? 'target',
    tls: overrides.tls ?? {},
    pool: { maxConnections: 1, maxAgeMs: 1 },
    routes: [],
  }
  return part as UpstreamSnapshot
}
