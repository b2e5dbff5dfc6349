import type { SidecarStatus, UpstreamStatus } from '../../src/telemetry/status.js'

export function upstreamStatus(over: Partial<UpstreamStatus> = {}): UpstreamStatus {
  return {
    name: 'payments',
    route: null,
    target: 'https://payments.example.com/base',
    breaker: { state: 'closed', mode: 'enforce', openForMs: 0, failuresInARow: 0, held: null },
    budget: { balance: 5, ratio: 0.2, allowedPerSec: 0.5, spentPerSec: 0 },
    hedge: { mode: 'disabled', afterMs: null, balance: 2.5 },
    gate: { closed: false, closedForMs: 0 },
    pace: { mode: 'disabled', ratePerSec: Number.POSITIVE_INFINITY },
    throttle: { mode: 'disabled', refusalProbability: 0 },
    inFlight: 2,
    inFlightLimit: 1024,
    tunnels: 4,
    waiting: 1,
    waitingBytes: 64,
    connections: 3,
    latencyMs: { p50: 10, p95: 20, p99: null },
    ...over,
  }
}

export function sidecarStatus(over: Partial<SidecarStatus> = {}): SidecarStatus {
  return {
    generation: 3,
    hash: 'c0ffee',
    loadedAt: '2024-05-06T07:08:09.000Z',
    lastReloadError: null,
    noPolicy: [],
    kept: [],
    draining: false,
    retries: 'on',
    faults: 'off',
    upstreams: [upstreamStatus()],
    listeners: new Map(),
    tls: new Map(),
    ...over,
  }
}
