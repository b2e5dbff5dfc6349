/** The first line of the page: how things are, in words. */
import type { SidecarStatus } from '../../telemetry/status.js'
import { type Finding, LEVELS, type Level } from './findings.js'
import { listed, plural } from './words.js'

export interface Verdict {
  readonly level: Level
  readonly headline: string
  /** The reasons, the gravest first. */
  readonly reasons: readonly string[]
}

export interface Judged {
  readonly name: string
  readonly level: Level
  readonly findings: readonly Finding[]
}

/** Reasons beyond this are counted. */
const MOST_REASONS = 6

/** `upstreams`: the sickest first. */
export function verdictOf(status: SidecarStatus, upstreams: readonly Judged[]): Verdict {
  const own = ofSidecar(status)
  const named = (level: Level) => upstreams.filter(each => each.level === level).map(({ name }) => name)
  const [sick, doubtful] = [named('bad'), named('warn')]
  const reasons = [...own.map(({ text }) => text), ...upstreams.filter(isWorthALine).map(inWords)]
  const more = reasons.length - MOST_REASONS
  return {
    level: LEVELS.find(level => named(level).length > 0 || own.some(each => each.level === level)) ?? 'ok',
    headline: headlineOf(sick, doubtful, own, upstreams.length),
    reasons: more > 0 ? [...reasons.slice(0, MOST_REASONS), `and ${more} more`] : reasons,
  }
}

function headlineOf(
  sick: readonly string[],
  doubtful: readonly string[],
  own: readonly Finding[],
  all: number,
): string {
  const count = all > 3 ? ` (${sick.length} of ${all})` : ''
  if (sick.length > 0) return `${listed(sick)} ${sick.length === 1 ? 'is' : 'are'} sick${sick.length > 3 ? count : ''}`
  if (doubtful.length > 0) return `${listed(doubtful)} ${doubtful.length === 1 ? 'needs' : 'need'} a look`
  const grave = own.find(({ level }) => level !== 'note')
  if (grave !== undefined) return `Calls are well, but ${grave.badge}`
  return all === 0 ? 'No upstream is declared' : 'All is well'
}

function isWorthALine({ level, findings }: Judged): boolean {
  return level !== 'ok' && findings.length > 0
}

function inWords({ name, findings }: Judged): string {
  return `${name}: ${findings.map(({ text }) => text).join('; ')}`
}

/** Of the sidecar itself. */
function ofSidecar(status: SidecarStatus): Finding[] {
  const { draining, retries, faults, lastReloadError, noPolicy, generation, listeners, parked } = status
  const found: Finding[] = []
  const add = (level: Level, badge: string, text: string) => found.push({ level, badge, text })
  if (lastReloadError !== null) {
    add(
      'warn',
      'the latest policies are not in force',
      `The latest policies were rejected; generation ${generation} is in force.`,
    )
  }
  if (noPolicy.length > 0) {
    const text = `${listed(noPolicy)} ${noPolicy.length === 1 ? 'has' : 'have'} no valid policy: calls get 503 no-policy.`
    add('bad', 'an upstream has no policy', text)
  }
  if (draining) add('warn', 'the sidecar is draining', 'Draining: readiness is red, calls are still served.')
  if (retries === 'off') add('warn', 'retries are switched off', 'Retries and hedges are switched off by hand.')
  if (faults === 'on')
    add('warn', 'faults are rehearsed', 'Faults of the policies are rehearsed: some failures are made here.')
  const closed = [...listeners].filter(([, { state }]) => state === 'failed').map(([name]) => name)
  if (closed.length > 0) add('warn', 'a port is not open', `The own port of ${listed(closed)} could not be opened.`)
  for (const problem of parked?.problems ?? []) add('warn', 'a store of parked calls is not open', problem)
  if (parked !== undefined && parked.dead > 0) add('note', '', `${plural(parked.dead, 'parked call')} given up.`)
  return found
}
