import type { Clock } from '../clock/clock.js'
import type { EventSink } from '../telemetry/events.js'

/** What an operator turns by hand at the admin port; each turns back by itself. */
export class Switches {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #sink: EventSink
  #retriesOffUntilMs = Number.NEGATIVE_INFINITY
  #faultsOnUntilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'nowMs'>, sink: EventSink) {
    this.#clock = clock
    this.#sink = sink
  }

  /** The kill switch: no retries for so long; 0 = on again. */
  turnRetriesOff(forMs: number): void {
    this.#retriesOffUntilMs = this.#clock.nowMs() + forMs
    this.#tell(forMs > 0 ? 'retries are switched off by hand' : 'retries are on again', forMs)
  }

  get retriesOff(): boolean {
    return this.#clock.nowMs() < this.#retriesOffUntilMs
  }

  /** The faults of the policies are rehearsed for so long; 0 = no more. */
  turnFaultsOn(forMs: number): void {
    this.#faultsOnUntilMs = this.#clock.nowMs() + forMs
    this.#tell(forMs > 0 ? 'the faults of the policies are rehearsed' : 'no more faults are rehearsed', forMs)
  }

  get faultsOn(): boolean {
    return this.#clock.nowMs() < this.#faultsOnUntilMs
  }

  #tell(message: string, forMs: number): void {
    this.#sink.emit({ type: 'notice', level: forMs > 0 ? 'warn' : 'info', message, detail: { forMs } })
  }
}
