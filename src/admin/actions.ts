/** The changing verbs of the admin port. */
import type { ReloadOutcome } from '../policy/reloader.js'
import { type Answer, json, problem } from './answer.js'

export type BreakerSetting = 'open' | 'closed' | 'auto'

export interface AdminActions {
  /** Also tells of ports that could not be opened. */
  reload(): Promise<ReloadOutcome>
  /** As SIGTERM does, but without the exit. */
  drain(): void
  /** No retries and hedges for so long, ms. */
  retriesOff(forMs: number): void
  retriesOn(): void
  /** Rehearses the faults of the policies for so long, ms. */
  faultsOn(forMs: number): void
  faultsOff(): void
  /** Holds a breaker open or closed, or leaves it to itself; false when there is no such upstream. */
  setBreaker(upstream: string, setting: BreakerSetting): boolean
  /** Forgets what was withdrawn from the budgets of an upstream and its routes; false when there is no such upstream. */
  resetBudget(upstream: string): boolean
  /** Ends the process in good order. */
  quit(): void
}

export type Verb = (query: URLSearchParams) => Answer | Promise<Answer>

/** A switch that someone forgot must not last. */
const DEFAULT_SWITCH_MS = 600_000
const MAX_SWITCH_MS = 86_400_000
const UPSTREAM_PATH = /^\/upstreams\/([^/]+)\/(breaker|budget)$/

/** `null` when the path is none of a verb. `parseDurationMs` gives `null` for what is no duration. */
export function verbAt(
  path: string,
  actions: AdminActions,
  parseDurationMs: (text: string) => number | null,
): Verb | null {
  switch (path) {
    case '/reload':
      return () => reload(actions)
    case '/drain':
      return () => done({ draining: true }, () => actions.drain())
    case '/retries/off':
      return query =>
        lasting(query.get('for'), parseDurationMs, forMs => ({ retries: 'off', forMs }), actions.retriesOff)
    case '/retries/on':
      return () => done({ retries: 'on' }, () => actions.retriesOn())
    case '/faults/on':
      return query => lasting(query.get('for'), parseDurationMs, forMs => ({ faults: 'on', forMs }), actions.faultsOn)
    case '/faults/off':
      return () => done({ faults: 'off' }, () => actions.faultsOff())
    case '/quitquitquit':
      return () => ({ ...json({ quitting: true }), afterwards: () => actions.quit() })
  }
  const [, upstream = '', what] = UPSTREAM_PATH.exec(path) ?? []
  if (what === undefined) return null
  return query =>
    what === 'budget' ? resetBudget(actions, upstream, query) : setBreaker(actions, upstream, query.get('set'))
}

function done(body: unknown, act: () => void): Answer {
  act()
  return json(body)
}

async function reload(actions: AdminActions): Promise<Answer> {
  const outcome = await actions.reload()
  if (outcome.result === 'rejected')
    return problem(422, 'the policies were rejected; the last good ones stay', { ...outcome })
  return json(outcome)
}

/** A switch that turns back by itself. */
function lasting(
  text: string | null,
  parseDurationMs: (text: string) => number | null,
  body: (forMs: number) => unknown,
  act: (forMs: number) => void,
): Answer {
  const forMs = text === null ? DEFAULT_SWITCH_MS : parseDurationMs(text)
  if (forMs === null || !(forMs > 0) || forMs > MAX_SWITCH_MS) {
    return problem(400, `for=${text} is not a duration above 0 and up to 24h, such as 10m`)
  }
  return done(body(forMs), () => act(forMs))
}

/** Names are DNS labels, so nothing in a path stands for one in an encoded form. */
function setBreaker(actions: AdminActions, upstream: string, setting: string | null): Answer {
  if (setting !== 'open' && setting !== 'closed' && setting !== 'auto') {
    return problem(400, 'set must be open, closed or auto')
  }
  if (!actions.setBreaker(upstream, setting)) return noUpstream(upstream)
  return json({ upstream, breaker: setting })
}

/** `?reset` is spelt out, so that the path alone does nothing. */
function resetBudget(actions: AdminActions, upstream: string, query: URLSearchParams): Answer {
  if (!query.has('reset')) return problem(400, 'the one thing to do is ?reset')
  return actions.resetBudget(upstream) ? json({ upstream, budget: 'reset' }) : noUpstream(upstream)
}

function noUpstream(name: string): Answer {
  return problem(404, `no upstream is named "${name}"`)
}
