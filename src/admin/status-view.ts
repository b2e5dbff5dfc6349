import type { Counts } from '../telemetry/counts.js'
import type { SidecarStatus, UpstreamStatus } from '../telemetry/status.js'

/**
 * `/status`: upstreams by name, each with its own port, its counts and its routes that have instances of their own.
 * `counts`: of an upstream; `null` = of requests that matched none.
 */
export function statusView({ listeners, tls, ...status }: SidecarStatus, counts: (upstream: string | null) => Counts) {
  const rows = status.upstreams
  return {
    ...status,
    unrouted: { counts: counts(null) },
    noPolicy: Object.fromEntries(status.noPolicy.map(name => [name, { listen: listeners.get(name) ?? null }])),
    upstreams: Object.fromEntries(
      rows
        .filter(row => row.route === null)
        .map(row => [
          row.name,
          {
            ...view(row),
            counts: counts(row.name),
            listen: listeners.get(row.name) ?? null,
            tls: tls.get(row.name) ?? null,
            routes: routesOf(row.name, rows),
          },
        ]),
    ),
  }
}

function routesOf(upstream: string, rows: readonly UpstreamStatus[]) {
  return Object.fromEntries(
    rows.flatMap(row => (row.name === upstream && row.route !== null ? [[row.route, view(row)] as const] : [])),
  )
}

function view({ route: _route, ...rest }: UpstreamStatus) {
  return rounded(rest)
}

/** Two decimals are all that a reader can use. */
function rounded<T>(value: T): T {
  if (typeof value === 'number') return (Math.round(value * 100) / 100) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rounded(item)])) as T
}
