/** What is shown of an upstream when it is looked into. */
import type { UpstreamStatus } from '../../telemetry/status.js'
import { findingsOf } from './findings.js'
import { type HistoryView, STEP_MS } from './history.js'
import type { Observer } from './observer.js'
import { noTotals } from './totals.js'
import { type EventView, eventView } from './views.js'
import { duration, perSecond } from './words.js'

export interface UpstreamDetail {
  readonly name: string
  readonly stepMs: number
  /** `null` until something was to be remembered. */
  readonly history: HistoryView | null
  readonly events: readonly EventView[]
  /** Routes with instances of their own: a table, its head first. */
  readonly routes: readonly (readonly string[])[]
}

const NO_CALLS = { ...noTotals(), seconds: 0 }
const HEAD = ['Route', 'State', 'Budget', 'In flight', 'Waiting', 'p95']

export function detailOf({ history, happenings, status }: Observer, name: string): UpstreamDetail {
  const routes = status().upstreams.filter(row => row.name === name && row.route !== null)
  return {
    name,
    stepMs: STEP_MS,
    history: rounded(history.of(name)),
    events: happenings.of(name).map(eventView),
    routes: routes.length === 0 ? [] : [HEAD, ...routes.map(cells)],
  }
}

function cells(row: UpstreamStatus): string[] {
  const { route, breaker, budget, inFlight, inFlightLimit, waiting, latencyMs } = row
  const state = findingsOf([{ ...row, route: null }], NO_CALLS)[0]?.text ?? `breaker ${breaker.state}`
  const spent = `${perSecond(budget.spentPerSec)} of ${perSecond(budget.allowedPerSec)}`
  const p95 = latencyMs.p95 === null ? '–' : duration(latencyMs.p95)
  return [route ?? '', state, spent, `${inFlight} of ${inFlightLimit}`, String(waiting), p95]
}

/** Single precision makes 0.1 long; three decimals are all that a plot can use. */
function rounded(view: HistoryView | null): HistoryView | null {
  if (view === null) return null
  const short = (value: number | null) => (value === null ? null : Math.round(value * 1000) / 1000)
  const columns = Object.entries(view.columns).map(([name, values]) => [name, values.map(short)])
  return { ...view, columns: Object.fromEntries(columns) }
}
