/**
 * Frames to everybody who watches, by server-sent events: one is made a second, once for all, and only while somebody
 * watches. Whoever has not read the last one when the next is due is cut off; a browser comes back by itself.
 */
import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '../../clock/clock.js'

const FRAME_MS = 1000
export const MAX_CLIENTS = 8

export class EventStream {
  readonly #clock: Pick<Clock, 'after'>
  readonly #frame: () => string
  readonly #clients = new Set<ServerResponse>()
  #timer: Timer | null = null
  #last = ''

  /** `frame`: one line. */
  constructor(clock: Pick<Clock, 'after'>, frame: () => string) {
    this.#clock = clock
    this.#frame = frame
  }

  get isFull(): boolean {
    return this.#clients.size >= MAX_CLIENTS
  }

  add(client: ServerResponse): void {
    this.#clients.add(client)
    client.on('error', () => undefined)
    client.once('close', () => this.#remove(client))
    this.#last = this.#frame()
    client.write(`retry: 2000\n\n${message(this.#last)}`)
    if (this.#timer === null) this.#schedule()
  }

  close(): void {
    for (const client of this.#clients) client.end()
  }

  #schedule(): void {
    this.#timer = this.#clock.after(FRAME_MS, () => {
      this.#schedule()
      this.#tick()
    })
  }

  /** Where nothing is new a word says that the connection lives. */
  #tick(): void {
    const frame = this.#frame()
    const text = frame === this.#last ? 'event: beat\ndata:\n\n' : message(frame)
    this.#last = frame
    for (const client of this.#clients) {
      if (client.writableLength > 0) client.destroy()
      else client.write(text)
    }
  }

  #remove(client: ServerResponse): void {
    this.#clients.delete(client)
    if (this.#clients.size > 0) return
    this.#timer?.cancel()
    this.#timer = null
  }
}

function message(frame: string): string {
  return `data: ${frame}\n\n`
}
