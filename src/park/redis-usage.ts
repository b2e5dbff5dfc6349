import type { Queue } from 'bullmq'
import type { Clock } from '../clock/clock.js'
import type { RedisLedger } from './redis-ledger.js'
import { MAX_ENTRIES, type Usage } from './store.js'

const LOOK_EVERY_MS = 5000

/** What all replicas together have in the store, as of the last look. */
export class RedisUsage {
  now: Usage = { waiting: 0, dead: 0, bytes: 0 }
  readonly #queue: Pick<Queue, 'getJobCounts'>
  readonly #ledger: RedisLedger
  readonly #clock: Clock
  #stopped = false

  constructor(queue: Pick<Queue, 'getJobCounts'>, ledger: RedisLedger, clock: Clock) {
    this.#queue = queue
    this.#ledger = ledger
    this.#clock = clock
  }

  async begin(): Promise<void> {
    await this.#look()
    this.#lookAgain()
  }

  stop(): void {
    this.#stopped = true
  }

  /** What is dead makes room. */
  hasRoom(bytes: number, maxBytes: number): boolean {
    const { waiting, dead, bytes: taken } = this.now
    return waiting < MAX_ENTRIES && (taken + bytes <= maxBytes || dead > 0)
  }

  added(bytes: number): void {
    this.now = { ...this.now, waiting: this.now.waiting + 1, bytes: this.now.bytes + bytes }
  }

  async #look(): Promise<void> {
    const { failed = 0, ...others } = await this.#queue.getJobCounts('delayed', 'waiting', 'active', 'failed')
    const waiting = Object.values(others).reduce((sum, count) => sum + count, 0)
    this.now = { waiting, dead: failed, bytes: await this.#ledger.bytes() }
  }

  #lookAgain(): void {
    if (this.#stopped) return
    this.#clock.after(LOOK_EVERY_MS, () => {
      void this.#look()
        .catch(() => undefined)
        .finally(() => this.#lookAgain())
    })
  }
}
