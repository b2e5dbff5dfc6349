/** Tells the log, the metrics and the webhooks what becomes of parked calls. */
import type { Clock } from '../clock/clock.js'
import type { ParkCall } from '../pipeline/parking.js'
import type { EventSink, ParkedCall } from '../telemetry/events.js'
import type { ParkedRecord } from './record.js'
import { pathOnly } from './views.js'
import { callHook } from './webhook.js'

export interface NewsDeps {
  readonly clock: Clock
  readonly sink: EventSink
  /** Where an entry can be asked for: its URL on the admin port. */
  readonly locate: (id: string) => string
}

export class News {
  readonly #deps: NewsDeps

  constructor(deps: NewsDeps) {
    this.#deps = deps
  }

  tell({ upstream, route, id, attempts, dueAtMs }: ParkedRecord, step: ParkedCall['step'], why: string | null): void {
    const dueInMs = step === 'parked' || step === 'failed' ? dueAtMs - this.#deps.clock.wallMs() : null
    this.#deps.sink.emit({ type: 'parked-call', upstream, route, id, step, why, attempts, dueInMs })
  }

  tellRefused({ upstream, route }: Pick<ParkCall, 'upstream' | 'route'>, why: string): void {
    const step = 'refused'
    this.#deps.sink.emit({ type: 'parked-call', upstream, route, id: null, step, why, attempts: 0, dueInMs: null })
  }

  hook(event: 'parked' | 'dead', url: string | null, record: ParkedRecord, why: string): void {
    if (url === null) return
    const { id, upstream, route, method, attempts } = record
    const parkedAt = new Date(record.parkedAtMs).toISOString()
    const path = pathOnly(record.path)
    const location = this.#deps.locate(id)
    const message = { event, id, upstream, route, method, path, why, attempts, parkedAt, location }
    void callHook(this.#deps.clock, url, message).then(problem => {
      if (problem === null) return
      const detail = { upstream, id, event, problem }
      this.#deps.sink.emit({ type: 'notice', level: 'warn', message: 'webhook of a parked call failed', detail })
    })
  }
}
