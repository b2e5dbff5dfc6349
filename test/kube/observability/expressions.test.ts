import { describe, expect, it } from 'vitest'
import { brokenLinks, read as readDocument } from '../../docs/samples.js'
import { upstreamDoc } from '../../e2e/harness/policies.js'
import { test } from '../../e2e/harness/stage.js'
import { readPrometheusText, type Sample } from '../../telemetry/prometheus-text.js'
import { WebhookProcess } from '../webhook/support/webhook-process.js'
import { alerts, dashboard, expressions, rules, selectorsOf } from './support.js'

/** Given by Prometheus from the pod, the recording of rules and the writing of histograms. */
const ADDED_LABELS = ['namespace', 'pod', 'policies']

describe('the expressions of alerts and dashboard', () => {
  it.each(expressions)('$at is PromQL', ({ expr }) => {
    expect(selectorsOf(expr).length).toBeGreaterThan(0)
  })

  it('would be seen if they were not', () => {
    expect(() => selectorsOf('sum by (upstream) (rate(forbear_requests_total[5m])')).toThrow('no PromQL')
    expect(() => selectorsOf('sum(forbear_requests_total{upstream="a)')).toThrow('no PromQL')
  })

  test('name only metrics and labels that a running sidecar or webhook has', async ({ stage }) => {
    const upstream = await stage.upstream()
    upstream.plays({ status: 503 })
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, { retry: { maxAttempts: 2 } })])
    for (let call = 0; call < 12; call++) await sidecar.call('/payments/')
    const webhook = await WebhookProcess.start()
    stage.later(() => webhook.stop())
    const served = [
      readPrometheusText((await sidecar.admin('/metrics')).text),
      readPrometheusText((await webhook.health('/metrics')).text),
    ]
    const known = new Map(served.flatMap(({ types }) => [...types]))
    const samples = served.flatMap(one => one.samples)
    const recorded = new Set(rules.map(({ record }) => record))
    const selectors = expressions.flatMap(({ expr }) => selectorsOf(expr)).filter(({ metric }) => !recorded.has(metric))
    expect(selectors.length).toBeGreaterThan(40)
    expect(selectors.flatMap(({ metric }) => (isServed(metric, known) ? [] : metric))).toEqual([])
    expect(selectors.flatMap(selector => unknownLabels(selector, samples))).toEqual([])
  })
})

describe('every alert', () => {
  it.each(alerts)('$alert says what is wrong, what to do, how bad it is and where to read on', alert => {
    const { summary = '', description = '', runbook_url = '' } = alert.annotations ?? {}
    expect(summary.length).toBeGreaterThan(20)
    expect(description).toContain('What to do: ')
    expect(alert.labels?.['severity']).toMatch(/^(warning|critical)$/)
    expect(readDocument('deploy/README.md')).toMatch(/^## Troubleshooting$/m)
    expect(runbook_url).toMatch(/#troubleshooting$/)
    expect(brokenLinks('README.md', `[runbook](${runbook_url})`)).toEqual([])
  })

  it('is in the table of the guide', () => {
    const guide = readDocument('deploy/observability/README.md')
    expect(alerts.flatMap(({ alert }) => (guide.includes(`| \`${alert}\` |`) ? [] : alert))).toEqual([])
  })
})

describe('the dashboard', () => {
  it('can be imported: one id a panel, no overlap, a data source and the variables of namespace, pod and upstream', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(dashboard).toMatchObject({ uid: 'forbear', schemaVersion: 42 })
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'namespace', 'pod', 'upstream'])
    const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })

  it('explains each of its panels', () => {
    const silent = dashboard.panels.filter(({ type, description = '' }) => type !== 'row' && description === '')
    expect(silent).toEqual([])
  })
})

function isServed(metric: string, types: ReadonlyMap<string, string>): boolean {
  if (types.has(metric)) return types.get(metric) !== 'histogram'
  return types.get(metric.replace(/_(bucket|sum|count)$/, '')) === 'histogram'
}

/** Only of metrics that have a series; the others have nothing to compare with. */
function unknownLabels({ metric, labels }: { metric: string; labels: readonly string[] }, samples: readonly Sample[]) {
  const sample = samples.find(({ name }) => name === metric)
  if (sample === undefined) return []
  const unknown = labels.filter(label => !(label in sample.labels) && !ADDED_LABELS.includes(label))
  return unknown.map(label => `${metric}{${label}}`)
}
