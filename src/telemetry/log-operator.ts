import type {
  BreakerChanged,
  GateChanged,
  Listening,
  Notice,
  NotListening,
  ParkedCall,
  PolicyReloaded,
} from './events.js'

export interface OperatorLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** What an operator reads of everything that is not a request. */
export function operatorLine(
  event: BreakerChanged | GateChanged | PolicyReloaded | Listening | NotListening | Notice | ParkedCall,
): OperatorLine {
  switch (event.type) {
    case 'breaker-changed':
      return breakerLine(event)
    case 'gate-changed':
      return {
        level: event.to === 'closed' ? 'warn' : 'info',
        message: event.to === 'closed' ? 'gate closed: the upstream asked for a pause' : 'gate opened',
        fields: { upstream: event.upstream, closedForMs: event.closedForMs },
      }
    case 'parked-call':
      return parkedLine(event)
    case 'policy-reloaded':
      return policyLine(event)
    case 'listening':
      return {
        level: 'info',
        message: 'listening',
        fields: { role: event.role, upstream: event.upstream, address: event.address },
      }
    case 'not-listening':
      return {
        level: event.error === null ? 'info' : 'error',
        message: event.error ?? 'no longer listening',
        fields: { role: event.role, upstream: event.upstream, address: event.address },
      }
    case 'notice':
      return {
        level: event.level,
        message: event.message,
        fields: event.detail === undefined ? {} : { detail: event.detail },
      }
  }
}

function breakerLine(event: BreakerChanged): OperatorLine {
  const { upstream, route, from, to, reason, openForMs, observeOnly } = event
  return {
    level: to === 'open' ? 'warn' : 'info',
    message: `breaker ${to}${observeOnly ? ' (observed only, nothing is refused)' : ''}`,
    fields: { upstream, route, from, to, reason, openForMs, observeOnly },
  }
}

const PARKED_LINES: Readonly<Record<ParkedCall['step'], readonly [OperatorLine['level'], string]>> = {
  parked: ['info', 'call parked'],
  refused: ['error', 'call not parked: the app got the failure'],
  failed: ['info', 'redelivery failed'],
  delivered: ['info', 'parked call delivered'],
  cancelled: ['info', 'parked call cancelled: a later one succeeded'],
  dead: ['error', 'parked call given up'],
}

function parkedLine({ type: _, step, dueInMs, ...fields }: ParkedCall): OperatorLine {
  const [level, message] = PARKED_LINES[step]
  return { level, message, fields: { ...fields, dueInMs: dueInMs === null ? null : Math.round(dueInMs) } }
}

const POLICY_MESSAGES = {
  applied: 'policies applied',
  unchanged: 'policies unchanged',
  partial: 'policies applied in part: some documents are invalid',
  rejected: 'policies rejected: the last good ones stay in force',
} as const

/** Names in a list of a line. */
const MAX_NAMES = 20

function policyLine(event: PolicyReloaded): OperatorLine {
  const { type: _, durationMs, changes, noPolicy, kept, recovered, ...fields } = event
  return {
    level: policyLevel(event),
    message: recovered === true ? 'policies are good again' : POLICY_MESSAGES[event.result],
    fields: { ...fields, ...namesOf({ ...changes, noPolicy, kept }), durationMs: Math.round(durationMs) },
  }
}

/** Lists that are not empty, long ones with how many more there are. */
function namesOf(lists: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[]> {
  const some = Object.entries(lists).filter(([, names]) => names.length > 0)
  return Object.fromEntries(some.map(([key, names]) => [key, capped(names)]))
}

function capped(names: readonly string[]): readonly string[] {
  return names.length <= MAX_NAMES ? names : [...names.slice(0, MAX_NAMES), `and ${names.length - MAX_NAMES} more`]
}

function policyLevel({ result, trigger, messages, recovered }: PolicyReloaded): OperatorLine['level'] {
  if (result === 'rejected' || result === 'partial') return 'error'
  if (messages.length > 0) return 'warn'
  if (recovered === true) return 'info'
  // A poll that finds nothing new is no news; someone who asked by hand wants an answer.
  return result === 'unchanged' && (trigger === 'watch' || trigger === 'poll') ? 'debug' : 'info'
}
