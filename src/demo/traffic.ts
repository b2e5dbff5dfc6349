import { Agent, request } from 'node:http'
import type { Clock, Timer } from '../clock/clock.js'

const CALLS_PER_SECOND = 5
/** Different enough to look alive in a log. */
const ORDERS = 20

/** Sends GETs below `base` (`http://host:port/prefix`) at an even pace until stopped. Answers are read and dropped. */
export class Traffic {
  readonly #clock: Clock
  readonly #base: string
  readonly #agent = new Agent({ keepAlive: true })
  #timer: Timer | null = null
  #sent = 0

  constructor(clock: Clock, base: string) {
    this.#clock = clock
    this.#base = base
  }

  start(): void {
    this.#timer = this.#clock.after(1000 / CALLS_PER_SECOND, () => {
      this.#send()
      this.start()
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#agent.destroy()
  }

  #send(): void {
    const path = `/orders/${(this.#sent % ORDERS) + 1}`
    this.#sent += 1
    const call = request(`${this.#base}${path}`, { agent: this.#agent }, response => {
      response.on('error', ignore)
      response.resume()
    })
    call.on('error', ignore)
    call.end()
  }
}

/** The sidecar's log tells what became of the call. */
function ignore(): void {}
