import type { Clock } from '../clock/clock.js'
import { storeText } from '../core/park.js'
import type { Deliver, ParkStore, StoreDeps } from './store.js'

export type OpenStore = (location: string, deps: StoreDeps) => Promise<ParkStore>

/** A store that could not be opened is tried again after so long, ms. */
const AGAIN_MS = 5000

/** One store, opened as soon as may be: whoever parks meanwhile is told that it is not. */
export class Shelf {
  store: ParkStore | null = null
  /** Why it is not open. */
  problem = 'the store is being opened'
  /** Opened, or found that it cannot be. */
  readonly tried: Promise<void>
  #closed = false

  constructor(
    readonly location: string,
    private readonly clock: Clock,
    private readonly open: OpenStore,
    private readonly deliver: Deliver,
    private readonly onTrouble: (text: string) => void,
  ) {
    this.tried = this.#open()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.store?.close()
  }

  async #open(): Promise<void> {
    const where = storeText(this.location)
    try {
      const onTrouble = (text: string): void => this.onTrouble(`parking store ${where}: ${text}`)
      const store = await this.open(this.location, { clock: this.clock, onTrouble })
      if (this.#closed) return await store.close()
      this.store = store
      store.start(this.deliver)
    } catch (error) {
      const text = `the store ${where} cannot be opened: ${(error as Error).message}`
      if (text !== this.problem) this.onTrouble(text)
      this.problem = text
      if (!this.#closed) this.clock.after(AGAIN_MS, () => void this.#open())
    }
  }
}
