import type { Clock, Timer } from '../../clock/clock.js'
import type { EventSink, ForbearEvent } from '../../telemetry/events.js'
import type { Tallies } from '../../telemetry/metrics.js'
import type { SidecarStatus } from '../../telemetry/status.js'
import { Happenings } from './happenings.js'
import { History, STEP_MS } from './history.js'
import { newsOf } from './news.js'

export interface ObserverDeps {
  readonly clock: Clock
  readonly status: () => SidecarStatus
  readonly tallies: Tallies
}

/** Remembers what the dashboard will want to show, whether or not anybody looks: one look at the tallies in five seconds. */
export class Observer implements EventSink {
  readonly history: History
  readonly happenings = new Happenings()
  readonly clock: Clock
  readonly status: () => SidecarStatus
  readonly #tallies: Tallies
  #timer: Timer | null = null

  constructor({ clock, status, tallies }: ObserverDeps) {
    this.clock = clock
    this.status = status
    this.#tallies = tallies
    this.history = new History(clock.nowMs())
  }

  start(): void {
    this.#timer = this.clock.after(STEP_MS, () => {
      this.start()
      this.look()
    })
  }

  stop(): void {
    this.#timer?.cancel()
  }

  emit(event: ForbearEvent): void {
    const news = newsOf(event)
    if (news !== null) this.happenings.add(news, 1, this.clock.wallMs())
  }

  /** Closes a step of the history. */
  look(): void {
    const { upstreams } = this.status()
    const wallMs = this.clock.wallMs()
    this.history.record(upstreams, this.#tallies, this.clock.nowMs(), wallMs)
    for (const name of this.history.names) this.#tell(name, wallMs)
    this.happenings.keepOnly(new Set(upstreams.map(({ name }) => name)))
  }

  /** What came of failed calls in the step. */
  #tell(upstream: string, wallMs: number): void {
    const { parked, fallbacks, denied } = this.history.recent(upstream, 1)
    for (const [why, count] of denied) {
      this.happenings.add({ upstream, kind: 'retries', tone: 'note', text: `no retry: ${why}` }, count, wallMs)
    }
    if (parked > 0) {
      this.happenings.add({ upstream, kind: 'parked', tone: 'note', text: 'call parked' }, parked, wallMs)
    }
    if (fallbacks > 0) {
      this.happenings.add({ upstream, kind: 'fallback', tone: 'note', text: 'answered by fallback' }, fallbacks, wallMs)
    }
  }
}
