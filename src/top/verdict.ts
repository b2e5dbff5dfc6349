/** What is wrong, in words: first what is worst. Pure. */
import { countdown, percent } from './figures.js'
import type { Row, UpstreamRow } from './rows.js'
import type { StatusView } from './sidecar-view.js'

export type Tone = 'good' | 'warn' | 'bad'

export interface Trouble {
  readonly upstream: string
  readonly tone: 'warn' | 'bad'
  readonly text: string
}

/** Below this share of calls that did not fail an upstream is called sick. */
const SICK_SUCCESS = 0.95

export function troublesOf(rows: readonly UpstreamRow[]): Trouble[] {
  const troubles = rows.flatMap(row => {
    const own = troubleOf(row)
    const inner = row.routes.filter(hasOwnInstances(row)).flatMap(route => troubleOf(route) ?? [])
    return own ?? inner[0] ?? []
  })
  return [...troubles.filter(({ tone }) => tone === 'bad'), ...troubles.filter(({ tone }) => tone === 'warn')]
}

/** The first of these that holds says most. */
export function troubleOf(row: Row): Trouble | null {
  const upstream = row.route === null ? row.upstream : `${row.upstream} ${row.route}`
  const bad = (text: string): Trouble => ({ upstream, tone: 'bad', text })
  const warn = (text: string): Trouble => ({ upstream, tone: 'warn', text })
  const { breaker, gate, throttle, inFlight, inFlightLimit } = row.state
  const refuses = breaker.mode === 'enforce' || breaker.held !== null
  if (breaker.state === 'open' && refuses) {
    return bad(
      breaker.held === 'open' ? 'breaker held open by hand' : `breaker open, ${countdown(breaker.openForMs)} left`,
    )
  }
  if (breaker.state === 'half-open' && refuses) return bad('breaker half-open, a probe is out')
  if (row.success !== null && row.success < SICK_SUCCESS) {
    return bad(`${percent(1 - row.success)} of calls fail${row.budgetSpent ? ', budget spent' : ''}`)
  }
  if (row.budgetSpent) return warn('retry budget spent')
  if (gate.closed) return warn(`gate closed, ${countdown(gate.closedForMs)} left`)
  if (throttle.mode === 'enforce' && throttle.refusalProbability > 0.01) {
    return warn(`throttle refuses ${percent(throttle.refusalProbability)}`)
  }
  if (inFlight >= inFlightLimit) return warn(`all of its ${inFlightLimit} slots are taken`)
  if (breaker.held === 'closed') return warn('breaker held closed by hand')
  return null
}

/** `2 of 5 upstreams in trouble: payments: breaker open, 3 s left; …` */
export function verdict(rows: readonly UpstreamRow[], status: StatusView, unmatched: number): string {
  const troubles = troublesOf(rows)
  const refused = Object.keys(status.noPolicy)
  return [
    ...(status.draining ? ['the sidecar drains'] : []),
    troubles.length === 0 ? allWell(rows) : `${troubles.length} of ${counted(rows)} in trouble: ${listed(troubles)}`,
    ...(refused.length === 0 ? [] : [`no valid policy for ${refused.join(', ')}`]),
    ...(unmatched === 0 ? [] : [`calls that match no upstream: ${unmatched.toFixed(1)}/s`]),
    ...(status.retries === 'off' ? ['retries are switched off'] : []),
    ...(status.faults === 'on' ? ['faults are rehearsed'] : []),
    ...(status.parked?.problems.slice(0, 1).map(problem => `parking: ${problem}`) ?? []),
    ...((status.parked?.dead ?? 0) === 0 ? [] : [`${status.parked?.dead} parked calls are dead`]),
  ].join('; ')
}

export function toneOf(rows: readonly UpstreamRow[], status: StatusView): Tone {
  const [worst] = troublesOf(rows)
  if (status.lastReloadError !== null || Object.keys(status.noPolicy).length > 0) return 'bad'
  return worst?.tone ?? (status.draining || status.retries === 'off' || status.faults === 'on' ? 'warn' : 'good')
}

/** The latest policies on disk were refused: since when and why; `null` = they are in force. */
export function reloadTrouble({ lastReloadError, generation }: StatusView): string | null {
  if (lastReloadError === null) return null
  const { at, messages } = lastReloadError
  const more = messages.length > 1 ? ` and ${messages.length - 1} more` : ''
  return `reload failed at ${at}, generation ${generation} stays: ${messages[0] ?? ''}${more}`
}

const hasOwnInstances = (row: UpstreamRow) => (route: Row) => route.state !== row.state

function allWell(rows: readonly UpstreamRow[]): string {
  if (rows.length === 0) return 'there is no upstream'
  return rows.length === 1 ? 'the upstream is well' : `all ${rows.length} upstreams are well`
}

const counted = (rows: readonly UpstreamRow[]): string =>
  rows.length === 1 ? '1 upstream' : `${rows.length} upstreams`

function listed(troubles: readonly Trouble[]): string {
  return troubles.map(({ upstream, text }) => `${upstream}: ${text}`).join('; ')
}
