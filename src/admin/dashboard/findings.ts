/** What is to be said of one upstream, the gravest first: is it sick, and what is done about it. */
import type { UpstreamStatus } from '../../telemetry/status.js'
import type { Recent } from './history.js'
import { countdown, percent, plural } from './words.js'

/** The gravest first. */
export const LEVELS = ['bad', 'warn', 'note', 'ok'] as const
export type Level = (typeof LEVELS)[number]

export interface Finding {
  readonly level: Level
  /** A word or two. */
  readonly badge: string
  readonly text: string
}

/** Calls below this number say nothing of a ratio. */
const MIN_CALLS = 5
const SICK_RATIO = 0.5
const FAILING_RATIO = 0.05
const HELPED_RATIO = 0.01

/** `rows`: of the upstream itself, and of its routes with instances of their own. */
export function findingsOf(rows: readonly UpstreamStatus[], recent: Recent): readonly Finding[] {
  const found = [...ofRows(rows), ...ofCalls(recent)]
  return found.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

/** A route shares most of its instances with its upstream: what both say is said once. */
function ofRows(rows: readonly UpstreamStatus[]): Finding[] {
  const said = new Set(rows.filter(({ route }) => route === null).flatMap(row => ofRow(row).map(({ text }) => text)))
  return rows.flatMap(row => {
    const found = ofRow(row)
    if (row.route === null) return found
    return found.filter(({ text }) => !said.has(text)).map(one => ({ ...one, text: `route ${row.route}: ${one.text}` }))
  })
}

function ofRow(row: UpstreamStatus): Finding[] {
  return [ofBreaker(row), ofGate(row), ofThrottle(row), ofLimit(row)].filter(finding => finding !== null)
}

function ofBreaker({ breaker, route }: UpstreamStatus): Finding | null {
  const { state, mode, held, openForMs, failuresInARow } = breaker
  if (held !== null) {
    if (route !== null) return null
    if (held === 'closed')
      return { level: 'warn', badge: 'held closed', text: 'breaker held closed by hand: nothing is refused' }
    return { level: 'bad', badge: 'held open', text: 'breaker held open by hand: every call is refused' }
  }
  if (state === 'closed') return null
  if (mode === 'observe')
    return { level: 'warn', badge: 'would be open', text: 'breaker would be open, but only observes' }
  if (state === 'half-open')
    return { level: 'bad', badge: 'probing', text: 'breaker half-open, one call probes whether it is back' }
  const failures = failuresInARow > 1 ? ` after ${failuresInARow} failures in a row` : ''
  return {
    level: 'bad',
    badge: 'breaker open',
    text: `breaker open${failures}, calls are held off, probe in ${countdown(openForMs)}`,
  }
}

function ofGate({ gate }: UpstreamStatus): Finding | null {
  if (!gate.closed) return null
  const left = gate.closedForMs > 0 ? `${countdown(gate.closedForMs)} left` : 'the next call tries'
  return { level: 'warn', badge: 'paused', text: `gate closed, it asked for a pause (Retry-After), ${left}` }
}

function ofThrottle({ throttle }: UpstreamStatus): Finding | null {
  const { mode, refusalProbability } = throttle
  if (mode !== 'enabled' || refusalProbability < FAILING_RATIO) return null
  return {
    level: 'warn',
    badge: 'throttled',
    text: `${percent(refusalProbability)} of calls are refused before they are sent`,
  }
}

function ofLimit({ inFlight, inFlightLimit, waiting }: UpstreamStatus): Finding | null {
  if (inFlight >= inFlightLimit) {
    return {
      level: 'warn',
      badge: 'at its limit',
      text: `${inFlight} calls in flight, as many as allowed, ${waiting} waiting`,
    }
  }
  return waiting > 0 ? { level: 'note', badge: 'waiting', text: `${plural(waiting, 'call')} waiting` } : null
}

function ofCalls(recent: Recent): Finding[] {
  const found: Finding[] = []
  const { requests, failed, attempts, attemptsFailed, seconds, denied } = recent
  const spent = denied.get('budget-exhausted') ?? 0
  if (spent > 0) {
    const text = `retries limited by budget, ${spent} not made in ${Math.round(seconds)} s`
    found.push({ level: 'warn', badge: 'budget spent', text })
  }
  const failing = failed / Math.max(1, requests)
  const sick = attemptsFailed / Math.max(1, attempts)
  if (requests >= MIN_CALLS && failing >= FAILING_RATIO) {
    const text = `${percent(failing)} of calls fail`
    found.push({ level: failing >= SICK_RATIO ? 'bad' : 'warn', badge: 'failing', text })
  } else if (attempts >= MIN_CALLS && sick >= HELPED_RATIO && failing < sick) {
    const text = `${percent(sick)} of attempts fail, but ${percent(failing)} of calls: retries help`
    found.push({ level: sick >= SICK_RATIO ? 'warn' : 'note', badge: 'retries help', text })
  } else if (failed > 0) {
    found.push({ level: 'note', badge: 'some failures', text: `${percent(failing)} of calls fail` })
  }
  return found
}
