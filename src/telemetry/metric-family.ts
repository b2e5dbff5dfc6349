/** The kinds of metric families, and how each reads its samples from the tallies or from the status. */

import type { ScopeTally } from './scope-tally.js'
import type { SidecarStatus, TlsStatus, UpstreamStatus } from './status.js'
import type { Histogram, WordCounts } from './tally.js'

/** What a scrape shows. */
export interface MetricsView {
  readonly scopes: readonly ScopeTally[]
  /** Readings of the policy directory by result. */
  readonly reloads: ReadonlyMap<string, number>
  readonly status: SidecarStatus
}

type Labels = Readonly<Record<string, string | number>>

export interface Sample {
  readonly value: number
  readonly labels?: Labels
  /** Labels that many samples have in common. Turned into text once an object: it must not change. */
  readonly sharedLabels?: Labels
  /** Default: the name of the family. */
  readonly metricName?: string
}

export interface MetricFamily {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: (view: MetricsView) => readonly Sample[]
}

type NameAndHelp = Pick<MetricFamily, 'name' | 'help'>

/** Counts by upstream, route and what `labels` makes of word and slot. */
export function scopeCounter({
  of,
  labels,
  ...named
}: NameAndHelp & {
  readonly of: (scope: ScopeTally) => WordCounts
  readonly labels: (word: string, slot: number) => Labels
}): MetricFamily {
  const samples = (scope: ScopeTally): Sample[] =>
    Array.from(of(scope).entries(), ({ word, slot, count }) => ({
      value: count,
      labels: labels(word, slot),
      sharedLabels: scope.labels,
    }))
  return { ...named, type: 'counter', samples: ({ scopes }) => scopes.flatMap(samples) }
}

export function scopeHistogram({
  of,
  ...named
}: NameAndHelp & { readonly of: (scope: ScopeTally) => Histogram }): MetricFamily {
  const samples = (scope: ScopeTally) => histogramSamples(named.name, scope.labels, of(scope))
  return { ...named, type: 'histogram', samples: ({ scopes }) => scopes.flatMap(samples) }
}

export function upstreamGauge({
  of,
  ...named
}: NameAndHelp & { readonly of: (status: UpstreamStatus) => number }): MetricFamily {
  const sample = (row: UpstreamStatus): Sample => ({
    value: of(row),
    labels: { upstream: row.name, route: row.route ?? '' },
  })
  return { ...named, type: 'gauge', samples: ({ status }) => status.upstreams.map(sample) }
}

/** Of the upstreams for which the time is known. */
export function tlsTime({
  of,
  ...named
}: NameAndHelp & { readonly of: (status: TlsStatus) => string | null }): MetricFamily {
  const samples = ([upstream, row]: readonly [string, TlsStatus]): Sample[] => {
    const time = of(row)
    return time === null ? [] : [{ value: Date.parse(time) / 1000, labels: { upstream } }]
  }
  return { ...named, type: 'gauge', samples: ({ status }) => [...status.tls].flatMap(samples) }
}

export function sidecarGauge({
  of,
  ...named
}: NameAndHelp & { readonly of: (status: SidecarStatus) => number }): MetricFamily {
  return { ...named, type: 'gauge', samples: ({ status }) => [{ value: of(status) }] }
}

function histogramSamples(name: string, sharedLabels: Labels, { bounds, buckets, sum, count }: Histogram): Sample[] {
  if (count === 0) return []
  const bucket = `${name}_bucket`
  let below = 0
  const samples: Sample[] = bounds.map((le, slot) => {
    below += buckets[slot] ?? 0
    return { metricName: bucket, value: below, labels: { le }, sharedLabels }
  })
  samples.push(
    { metricName: bucket, value: count, labels: { le: '+Inf' }, sharedLabels },
    { metricName: `${name}_sum`, value: sum, sharedLabels },
    { metricName: `${name}_count`, value: count, sharedLabels },
  )
  return samples
}
