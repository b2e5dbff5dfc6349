/** What of the events an operator wants to read a minute later, as sentences. What happens with calls is counted instead. */
import type { BreakerChanged, ForbearEvent, GateChanged, PolicyReloaded } from '../../telemetry/events.js'
import { countdown, listed, plural } from './words.js'

export interface News {
  readonly upstream: string | null
  readonly kind: 'breaker' | 'gate' | 'retries' | 'policy' | 'parked' | 'fallback' | 'notice'
  readonly tone: 'bad' | 'good' | 'note'
  readonly text: string
}

/** `null` for what is none. Asked for every event, so it looks at the type alone first. */
export function newsOf(event: ForbearEvent): News | null {
  switch (event.type) {
    case 'breaker-changed':
      // That it tries a call says little; how that went follows.
      return event.to === 'half-open' ? null : breakerNews(event)
    case 'gate-changed':
      return gateNews(event)
    case 'policy-reloaded':
      return event.result === 'unchanged' ? null : policyNews(event)
    case 'not-listening': {
      const { upstream, address, error } = event
      return error === null ? null : { upstream, kind: 'notice', tone: 'bad', text: `${address}: ${error}` }
    }
    case 'notice':
      return { upstream: null, kind: 'notice', tone: event.level === 'info' ? 'note' : 'bad', text: event.message }
    default:
      return null
  }
}

function breakerNews({ upstream, route, to, reason, openForMs, observeOnly }: BreakerChanged): News {
  const whose = route === null ? 'breaker' : `breaker of route ${route}`
  const seen = observeOnly ? ' (observed only)' : ''
  if (to === 'closed') return { upstream, kind: 'breaker', tone: 'good', text: `${whose} closed: ${reason}${seen}` }
  const again = reason === 'probe-failed' ? 'still open' : 'opened'
  // Each failed probe has a time of its own: without it they are one line that is counted.
  const probe = openForMs === null || reason === 'probe-failed' ? '' : `, probe in ${countdown(openForMs)}`
  return { upstream, kind: 'breaker', tone: 'bad', text: `${whose} ${again}: ${reason}${probe}${seen}` }
}

function gateNews({ upstream, to }: GateChanged): News {
  if (to === 'open') return { upstream, kind: 'gate', tone: 'good', text: 'gate opened: the pause is over' }
  return { upstream, kind: 'gate', tone: 'bad', text: 'gate closed: the upstream asked for a pause (Retry-After)' }
}

function policyNews({ result, generation, messages, changes }: PolicyReloaded): News {
  const base = { upstream: null, kind: 'policy' } as const
  if (result === 'rejected') {
    return {
      ...base,
      tone: 'bad',
      text: `policies rejected, generation ${generation} stays: ${plural(messages.length, 'message')}`,
    }
  }
  const { added = [], changed = [], removed = [] } = changes ?? {}
  const parts = Object.entries({ added, changed, removed }).filter(([, names]) => names.length > 0)
  const what = parts.map(([verb, names]) => `; ${verb} ${listed(names)}`).join('')
  return { ...base, tone: result === 'partial' ? 'bad' : 'good', text: `generation ${generation} in force${what}` }
}
