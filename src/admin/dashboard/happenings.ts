/** The last things that happened, with their reasons: a few per upstream and a few over all. Repetitions are counted. */
import type { BreakerChanged, ForbearEvent, GateChanged, PolicyReloaded } from '../../telemetry/events.js'
import { countdown, listed, plural } from './words.js'

const PER_UPSTREAM = 20
const OVER_ALL = 30
/** The same again within this time is one happening. */
const SAME_MS = 60_000

export type Tone = 'bad' | 'good' | 'note'
export type Kind = 'breaker' | 'gate' | 'retries' | 'policy' | 'parked' | 'fallback' | 'notice'

export interface Happening {
  readonly upstream: string | null
  readonly kind: Kind
  readonly tone: Tone
  readonly text: string
  /** Unix time of the last of them, ms. */
  atMs: number
  count: number
}

type News = Pick<Happening, 'upstream' | 'kind' | 'tone' | 'text'>

export class Happenings {
  readonly all: Happening[] = []
  readonly #own = new Map<string, Happening[]>()
  /** So far, by upstream: tells that there is something new. */
  readonly #counts = new Map<string, number>()

  of(upstream: string): readonly Happening[] {
    return this.#own.get(upstream) ?? []
  }

  count(upstream: string): number {
    return this.#counts.get(upstream) ?? 0
  }

  /** Called for every event, so it first looks at its type alone. */
  onEvent(event: ForbearEvent, wallMs: number): void {
    switch (event.type) {
      case 'breaker-changed':
        // That it tries a call says little; how that went follows.
        if (event.to !== 'half-open') this.add(breakerNews(event), 1, wallMs)
        break
      case 'gate-changed':
        this.add(gateNews(event), 1, wallMs)
        break
      case 'policy-reloaded':
        if (event.result !== 'unchanged') this.add(policyNews(event), 1, wallMs)
        break
      case 'not-listening':
        if (event.error === null) break
        this.add(
          { upstream: event.upstream, kind: 'notice', tone: 'bad', text: `${event.address}: ${event.error}` },
          1,
          wallMs,
        )
        break
      case 'notice':
        this.add(
          { upstream: null, kind: 'notice', tone: event.level === 'info' ? 'note' : 'bad', text: event.message },
          1,
          wallMs,
        )
    }
  }

  add(news: News, count: number, wallMs: number): void {
    const { upstream } = news
    const lists = upstream === null ? [this.all] : [this.all, this.#list(upstream)]
    if (upstream !== null) this.#counts.set(upstream, this.count(upstream) + 1)
    const same = (lists.at(-1) ?? []).slice(0, 4).find(one => isSame(one, news) && wallMs - one.atMs <= SAME_MS)
    const happening = same ?? { ...news, count: 0, atMs: wallMs }
    happening.atMs = wallMs
    happening.count += count
    for (const list of lists) {
      if (list.includes(happening)) list.splice(list.indexOf(happening), 1)
      list.unshift(happening)
      list.length = Math.min(list.length, list === this.all ? OVER_ALL : PER_UPSTREAM)
    }
  }

  /** Of upstreams that are no more only what the common list still shows is kept. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#own.keys()) {
      if (names.has(name)) continue
      this.#own.delete(name)
      this.#counts.delete(name)
    }
  }

  #list(upstream: string): Happening[] {
    const list = this.#own.get(upstream) ?? []
    this.#own.set(upstream, list)
    return list
  }
}

function isSame(one: Happening, news: News): boolean {
  return one.upstream === news.upstream && one.kind === news.kind && one.text === news.text
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
