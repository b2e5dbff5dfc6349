/** The columns of the table, and which of them a width has room for. Pure. */
import { countdown, millis, percent, perSecond, short, times } from './figures.js'
import type { Row } from './rows.js'
import { printable, widthOf } from './text-width.js'
import type { Tone } from './verdict.js'

export interface Column {
  readonly head: string
  readonly cells: number
  readonly align: 'left' | 'right'
  /** Where there is no room for all, those with the highest number go first. */
  readonly rank: number
  readonly text: (row: Row) => string
  readonly tone?: (row: Row) => Tone | null
}

const GAP = 1
const MIN_NAME_CELLS = 8
const USUAL_NAME_CELLS = 16
/** Of breaker, rate and success, with their gaps. */
const FIRST_CELLS = 23

const left = (head: string, cells: number, rank: number, text: Column['text'], tone?: Column['tone']): Column => ({
  ...{ head, cells, rank, text, align: 'left' },
  ...(tone !== undefined && { tone }),
})
const right = (...column: Parameters<typeof left>): Column => ({ ...left(...column), align: 'right' })

const COLUMNS: readonly Column[] = [
  left('BREAKER', 10, 1, ({ state }) => breakerText(state.breaker), breakerTone),
  right('RPS', 5, 2, row => perSecond(row.requestsPerSec)),
  right('OK', 4, 3, row => percent(row.success), successTone),
  right('RETRY/BUDGET', 12, 4, row => `${percent(row.retryShare)}/${percent(row.state.budget.ratio)}`, retryTone),
  right('AMPL', 5, 6, row => times(row.amplification)),
  right('P50', 5, 9, row => millis(row.state.latencyMs.p50)),
  right('P95', 5, 7, row => millis(row.state.latencyMs.p95)),
  right('P99', 5, 10, row => millis(row.state.latencyMs.p99)),
  right('GATE', 5, 11, ({ state: { gate } }) => (gate.closed ? countdown(gate.closedForMs) : '-'), gateTone),
  right('PACE', 6, 13, ({ state: { pace } }) => paceText(pace)),
  right('IN-FLIGHT', 11, 8, ({ state }) => `${short(state.inFlight)}/${short(state.inFlightLimit)}`, slotTone),
  right('WAIT', 5, 12, ({ state }) => short(state.waiting)),
  left('LAST REASON', 20, 5, ({ reason }) => reason ?? '-'),
]

/** @param width `null` = whatever all of them take */
export function columnsFor(rows: readonly Row[], width: number | null): Column[] {
  const longest = Math.max(MIN_NAME_CELLS, ...rows.map(row => widthOf(nameOf(row))))
  const wanted = width === null ? longest : Math.min(longest, Math.max(MIN_NAME_CELLS, nameRoom(width)))
  const kept = new Set(COLUMNS)
  const total = (): number => [...kept].reduce((sum, { cells }) => sum + cells + GAP, wanted)
  for (const column of [...COLUMNS].sort((a, b) => b.rank - a.rank)) {
    if (width === null || total() <= width) break
    kept.delete(column)
  }
  return [left('UPSTREAM', wanted, 0, nameOf), ...COLUMNS.filter(column => kept.has(column))]
}

/** A quarter, but enough for most names where the first columns leave it. */
function nameRoom(width: number): number {
  return Math.min(width - FIRST_CELLS, Math.max(USUAL_NAME_CELLS, Math.floor(width / 4)))
}

export function nameOf({ upstream, route }: Row): string {
  return route === null ? printable(upstream) : `  ${printable(route)}`
}

function breakerText({ state, openForMs, held, mode }: Row['state']['breaker']): string {
  if (mode === 'disabled') return 'off'
  if (held !== null) return `held ${held === 'open' ? 'open' : 'shut'}`
  const observed = mode === 'observe' ? '~' : ''
  return `${observed}${state === 'open' ? `open ${countdown(openForMs)}` : state}`
}

/** An open one that only observes refuses nobody. */
function breakerTone({ state: { breaker } }: Row): Tone | null {
  if (breaker.state === 'closed') return breaker.held === null ? null : 'warn'
  return breaker.state === 'open' && breaker.mode !== 'observe' ? 'bad' : 'warn'
}

function successTone({ success }: Row): Tone | null {
  if (success === null || success >= 0.99) return null
  return success < 0.95 ? 'bad' : 'warn'
}

function retryTone({ retryShare, budgetSpent, state }: Row): Tone | null {
  if (budgetSpent) return 'bad'
  return retryShare !== null && retryShare > state.budget.ratio / 2 ? 'warn' : null
}

function gateTone({ state: { gate } }: Row): Tone | null {
  return gate.closed ? 'warn' : null
}

function slotTone({ state: { inFlight, inFlightLimit } }: Row): Tone | null {
  return inFlight >= inFlightLimit ? 'bad' : null
}

function paceText({ mode, ratePerSec }: Row['state']['pace']): string {
  return mode === 'disabled' || ratePerSec === 'none' ? '-' : `${perSecond(ratePerSec)}/s`
}
