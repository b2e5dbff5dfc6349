/** Everything the page shows of now, as the words it shows: one frame serves the page itself and everybody who watches. */
import type { SidecarStatus, UpstreamStatus } from '../../telemetry/status.js'
import { findingsOf, LEVELS, type Level } from './findings.js'
import type { Happening } from './happenings.js'
import type { Recent } from './history.js'
import type { Observer } from './observer.js'
import { type Verdict, verdictOf } from './verdict.js'
import { countdown, duration, figure, percent, perSecond, plural, times } from './words.js'

export interface EventView {
  /** ISO 8601. */
  readonly at: string
  readonly upstream: string
  readonly tone: Happening['tone']
  readonly text: string
  readonly count: number
}

export interface UpstreamView {
  readonly name: string
  readonly target: string
  readonly level: Level
  readonly badge: string
  readonly why: string
  readonly held: 'open' | 'closed' | 'auto'
  /** By name; `''` = there is nothing to show. */
  readonly figures: Readonly<Record<FigureName, string>>
  /** Of what the budget grants, 0 … 1. */
  readonly spentRatio: number
  /** Grows when something happened. */
  readonly happenings: number
}

/** In the order of the page. */
export const FIGURES = {
  breaker: 'Breaker',
  traffic: 'Traffic',
  success: 'Success',
  retries: 'Retries / budget',
  amplification: 'Attempts per call',
  latency: 'p50 / p95 / p99',
  inFlight: 'In flight / limit',
  waiting: 'Waiting',
  gate: 'Gate',
  pace: 'Pace',
  throttle: 'Throttle',
  hedges: 'Hedges',
  polls: 'Polls',
  parked: 'Parked',
} as const
export type FigureName = keyof typeof FIGURES

export interface Frame {
  /** Steps of the history so far. */
  readonly step: number
  readonly verdict: Verdict
  readonly policy: {
    readonly generation: number
    readonly hash: string
    readonly loadedAt: string
    readonly error: SidecarStatus['lastReloadError']
  }
  readonly retries: 'on' | 'off'
  readonly faults: 'on' | 'off'
  readonly draining: boolean
  /** `null` while no policy parks. */
  readonly parked: { readonly waiting: number; readonly dead: number } | null
  /** The sickest first. */
  readonly upstreams: readonly UpstreamView[]
  readonly events: readonly EventView[]
}

const EVENTS = 12

export function frameOf(observer: Observer): Frame {
  const status = observer.status()
  const judged = judgedOf(status.upstreams, observer)
  const verdict = verdictOf(status, judged)
  const { generation, hash, loadedAt, lastReloadError, retries, faults, draining, parked } = status
  return {
    step: observer.history.steps,
    verdict: verdict.reasons.length > 0 ? verdict : { ...verdict, reasons: [summaryOf(judged)] },
    policy: { generation, hash, loadedAt, error: lastReloadError },
    retries,
    faults,
    draining,
    parked: parked === undefined ? null : { waiting: parked.waiting, dead: parked.dead },
    upstreams: judged.map(({ view }) => view),
    events: observer.happenings.all.slice(0, EVENTS).map(eventView),
  }
}

function summaryOf(judged: readonly { readonly recent: Recent }[]): string {
  const sum = (of: (recent: Recent) => number) => judged.reduce((total, { recent }) => total + of(recent), 0)
  const requests = sum(recent => recent.requests)
  const seconds = Math.max(1, judged[0]?.recent.seconds ?? 1)
  const success = requests === 0 ? '' : `, ${percent(1 - sum(recent => recent.failed) / requests)} of them succeed`
  return `${plural(judged.length, 'upstream')}, ${perSecond(requests / seconds).replace('/s', ' calls a second')}${success}.`
}

export function eventView({ atMs, upstream, tone, text, count }: Happening): EventView {
  return { at: new Date(atMs).toISOString(), upstream: upstream ?? '', tone, text, count }
}

function judgedOf(rows: readonly UpstreamStatus[], observer: Observer) {
  const byName = new Map<string, UpstreamStatus[]>()
  for (const row of rows) byName.set(row.name, [...(byName.get(row.name) ?? []), row])
  const judged = [...byName].map(([name, own]) => judge(name, own, observer))
  const rank = ({ level }: { level: Level }) => LEVELS.indexOf(level)
  return judged.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

function judge(name: string, rows: readonly UpstreamStatus[], observer: Observer) {
  const recent = observer.history.recent(name)
  const findings = findingsOf(rows, recent)
  const level = findings[0]?.level ?? 'ok'
  const why = findings.map(({ text }) => text).join('; ')
  const own = rows.find(({ route }) => route === null) as UpstreamStatus
  const { allowedPerSec, spentPerSec } = own.budget
  const view: UpstreamView = {
    name,
    target: own.target,
    level,
    badge: findings[0]?.badge ?? (recent.requests > 0 ? 'well' : 'no calls'),
    why,
    held: own.breaker.held ?? 'auto',
    figures: figuresOf(own, recent),
    spentRatio: allowedPerSec > 0 ? Math.round(Math.min(1, spentPerSec / allowedPerSec) * 100) / 100 : 0,
    happenings: observer.happenings.count(name),
  }
  return { name, level, findings, recent, view }
}

function figuresOf(row: UpstreamStatus, recent: Recent): UpstreamView['figures'] {
  const { requests, failed, attempts, hedges, polls, parked } = recent
  const rate = (count: number) => perSecond(count / Math.max(1, recent.seconds))
  const { allowedPerSec, spentPerSec } = row.budget
  return {
    breaker: breakerText(row),
    traffic: rate(requests),
    success: requests === 0 ? '–' : percent(1 - failed / requests),
    retries: `${perSecond(spentPerSec)} of ${perSecond(allowedPerSec)}`,
    amplification: requests === 0 ? '–' : times(attempts / requests),
    latency: quantilesText(row),
    inFlight: `${row.inFlight} of ${row.inFlightLimit}`,
    waiting: String(row.waiting),
    gate: row.gate.closed ? `closed, ${countdown(row.gate.closedForMs)} left` : 'open',
    pace: row.pace.mode === 'disabled' ? '' : `${row.pace.mode}, ${paceText(row.pace.ratePerSec)}`,
    throttle: row.throttle.mode === 'disabled' ? '' : `${percent(row.throttle.refusalProbability)} refused`,
    hedges: row.hedge.mode === 'disabled' ? '' : hedgeText(row, rate(hedges)),
    polls: polls === 0 ? '' : rate(polls),
    parked: parked === 0 ? '' : rate(parked),
  }
}

/** In one unit, so that they can be compared at a glance. */
function quantilesText({ latencyMs }: UpstreamStatus): string {
  const { p50, p95, p99 } = latencyMs
  if (p50 === null) return '–'
  const inSeconds = (p99 ?? p50) >= 10_000
  const short = (ms: number | null) => (ms === null ? '–' : figure(inSeconds ? ms / 1000 : ms))
  return `${[p50, p95, p99].map(short).join(' / ')} ${inSeconds ? 's' : 'ms'}`
}

function breakerText({ breaker }: UpstreamStatus): string {
  const { state, mode, held, openForMs } = breaker
  if (held !== null) return `held ${held} by hand`
  if (mode === 'disabled') return 'off'
  const seen = mode === 'observe' ? ' (observes)' : ''
  return state === 'open' ? `open, probe in ${countdown(openForMs)}${seen}` : `${state}${seen}`
}

function paceText(ratePerSec: number): string {
  return Number.isFinite(ratePerSec) ? `at most ${perSecond(ratePerSec)}` : 'no limit known'
}

function hedgeText({ hedge }: UpstreamStatus, rate: string): string {
  return hedge.afterMs === null ? `${rate}, none now` : `${rate}, after ${duration(hedge.afterMs)}`
}
