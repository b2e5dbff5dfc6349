/** Reads what `/metrics` has counted. Of a large sidecar that text has megabytes, so only four families are looked into. */
import type { AllCounts, Counts } from './sidecar-view.js'

type Labels = Readonly<Record<string, string>>
type Count = (counts: Counts, labels: Labels, value: number) => void

const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g
const SAMPLE = /^(forbear_[a-z_]+_total)\{(.*)\} (\S+)$/
const STARTED = 'process_start_time_seconds '
const HEDGES_SENT: ReadonlySet<string> = new Set(['won', 'lost', 'failed', 'aborted'])
/** Outcomes that say nothing went wrong. */
const WELL: ReadonlySet<string> = new Set(['delivered', 'hedge-won'])

const FAMILIES: Readonly<Record<string, Count>> = {
  forbear_requests_total: (counts, { outcome = '', code = '' }, value) => {
    if (outcome === 'aborted') return
    const failed = code === '5xx' || code === '' || outcome === 'cut'
    counts.requests += value
    if (failed) counts.failed += value
    if (!WELL.has(outcome)) addReason(counts, outcome, value)
  },
  forbear_attempts_total: (counts, _, value) => {
    counts.attempts += value
  },
  forbear_retries_total: (counts, _, value) => {
    counts.retries += value
  },
  forbear_retries_denied_total: (counts, { reason = '' }, value) => addReason(counts, reason, value),
  forbear_hedges_total: (counts, { result = '' }, value) => {
    if (HEDGES_SENT.has(result)) counts.hedges += value
  },
}

export function readCounts(metrics: string): { readonly counts: AllCounts; readonly startedAt: number } {
  const counts = new Map<string, Map<string, Counts>>()
  let startedAt = 0
  for (const line of metrics.split('\n')) {
    if (line.startsWith(STARTED)) startedAt = Number(line.slice(STARTED.length))
    const [, family = '', labelText = '', value = ''] = SAMPLE.exec(line) ?? []
    const count = FAMILIES[family]
    if (count === undefined) continue
    const labels = readLabels(labelText)
    count(countsOf(counts, labels['upstream'] ?? '', labels['route'] ?? ''), labels, Number(value))
  }
  return { counts, startedAt }
}

export function noCounts(): Counts {
  return { requests: 0, failed: 0, attempts: 0, retries: 0, hedges: 0, reasons: new Map() }
}

export function addReason(counts: Counts, reason: string, value: number): void {
  counts.reasons.set(reason, (counts.reasons.get(reason) ?? 0) + value)
}

function countsOf(all: Map<string, Map<string, Counts>>, upstream: string, route: string): Counts {
  const routes = all.get(upstream) ?? new Map<string, Counts>()
  const counts = routes.get(route) ?? noCounts()
  all.set(upstream, routes.set(route, counts))
  return counts
}

function readLabels(text: string): Labels {
  return Object.fromEntries(Array.from(text.matchAll(LABEL), ([, name = '', value = '']) => [name, value]))
}
