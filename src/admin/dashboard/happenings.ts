/** The last things that happened, with their reasons: a few per upstream and a few over all. Repetitions are counted. */
import type { News } from './news.js'

const PER_UPSTREAM = 20
const OVER_ALL = 30
/** The same again within this time is one happening. */
const SAME_MS = 60_000

export interface Happening extends News {
  /** Unix time of the last of them, ms. */
  atMs: number
  count: number
}

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
