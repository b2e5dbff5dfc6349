/** prom-client writes the text of a scrape: our families and its own metrics of the process. */
import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Metric, Registry } from 'prom-client'
import { METRIC_FAMILIES } from './metric-families.js'
import type { MetricFamily, MetricsView, Sample } from './metric-family.js'

export interface Scrape {
  readonly contentType: string
  readonly body: string
}

/** All that a Registry uses of a metric to write it. */
interface ReadableMetric extends Pick<MetricFamily, 'name'> {
  get(): Promise<Pick<MetricFamily, 'name' | 'type' | 'help'> & { readonly values: readonly Sample[] }>
}

export async function scrape(view: MetricsView): Promise<Scrape> {
  const { client, ofProcess } = (library ??= load())
  const own = new client.Registry()
  for (const metric of readable(view)) {
    // Its type wants a Counter, Gauge or Histogram of the library, whose counting costs a hash of all labels per event.
    own.registerMetric(metric as unknown as Metric)
  }
  const all = client.Registry.merge([own, ofProcess])
  return { body: await all.metrics(), contentType: all.contentType }
}

/** The Registry asks for all metrics at once; they answer one a turn of the event loop, to let requests pass. */
function readable(view: MetricsView): ReadableMetric[] {
  let turn = Promise.resolve()
  return METRIC_FAMILIES.map(({ name, type, help, samples }) => ({
    name,
    get() {
      turn = turn.then(() => nextTurn())
      return turn.then(() => ({ name, type, help, values: samples(view) }))
    },
  }))
}

let library: ReturnType<typeof load> | undefined

/**
 * At the first scrape only: prom-client takes 45 ms to load and samples the event loop from then on, which a sidecar
 * that nobody scrapes need not pay. Not by `import()`: of a CommonJS package Node 20 now and then makes an empty namespace
 * on a busy host, and keeps that for good.
 */
function load(): { client: typeof import('prom-client'); ofProcess: Registry } {
  const client = createRequire(import.meta.url)('prom-client') as typeof import('prom-client')
  const ofProcess = new client.Registry()
  client.collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: 50 })
  return { client, ofProcess }
}
