import { readCounts } from '../../src/top/read-counts.js'
import type { InstancesView, Look, StatusView } from '../../src/top/sidecar-view.js'
import { upstreamStatus } from '../telemetry/status.js'

export function instances(over: Partial<InstancesView> = {}): InstancesView {
  const { route: _, ...status } = upstreamStatus()
  return { ...status, pace: { mode: 'disabled', ratePerSec: 'none' }, ...over }
}

export function statusOf(
  upstreams: Readonly<Record<string, Partial<InstancesView>>>,
  over: Partial<StatusView> = {},
): StatusView {
  return {
    generation: 3,
    hash: 'c0ffee',
    loadedAt: '2024-05-06T07:08:09.000Z',
    lastReloadError: null,
    noPolicy: {},
    kept: [],
    draining: false,
    retries: 'on',
    faults: 'off',
    upstreams: Object.fromEntries(
      Object.entries(upstreams).map(([name, its]) => [name, { ...instances(its), routes: {} }]),
    ),
    ...over,
  }
}

/** @param metrics lines of /metrics without `forbear_` */
export function lookAt(second: number, status: StatusView, metrics: readonly string[], startedAt = 1): Look {
  const text = metrics.map(line => `forbear_${line}`).join('\n')
  const { counts } = readCounts(text)
  return { atMs: second * 1000, tickMs: second * 1000, status, counts, startedAt }
}
