import type { Timer } from '../clock/clock.js'
import { DirectoryHints } from './directory-hints.js'
import { WorkerLoader } from './load-in-worker.js'
import type { Load } from './load-request.js'
import { describeMount } from './mount.js'
import { Reloader, type ReloaderOptions, type ReloadOutcome, type ReloadTrigger } from './reloader.js'
import { Settle } from './settle.js'

/** Finds what file events missed. */
const POLL_MS = 5000

export interface WatcherOptions extends Omit<ReloaderOptions, 'load'> {
  /** Whether hot reload can work here, and when file events are not to be had. */
  onNotice?(level: 'info' | 'warn', message: string): void
  /** Default: in a thread of its own. */
  readonly load?: Load
}

/**
 * Keeps the policies in force equal to a directory. Whatever fails leaves the last good snapshot in force, is told
 * once, and watching goes on.
 */
export class PolicyWatcher {
  readonly #options: WatcherOptions
  readonly #reloader: Reloader
  readonly #hints: DirectoryHints
  readonly #settle: Settle<ReloadTrigger>
  #pollTimer: Timer | null = null
  #closed = false

  constructor(options: WatcherOptions) {
    this.#options = options
    this.#reloader = new Reloader({ ...options, load: options.load ?? new WorkerLoader().load })
    this.#settle = new Settle(options.clock, trigger => void this.#onSettled(trigger))
    this.#hints = new DirectoryHints(options.dir, {
      onHint: () => this.#hint('watch'),
      onDeaf: code =>
        options.onNotice?.('warn', `no file events (${code}): the policies are polled every ${POLL_MS / 1000} s`),
    })
  }

  start(): void {
    void this.#begin()
  }

  /** Reads the policies now, after what is being read; never rejects. Tells the outcome also when nothing changed. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    return this.#reloader.reload(trigger)
  }

  /** Resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    this.#closed = true
    this.#pollTimer?.cancel()
    this.#settle.cancel()
    await Promise.all([this.#hints.close(), this.#reloader.close()])
  }

  async #begin(): Promise<void> {
    const { level, message } = await describeMount(this.#options.dir)
    this.#options.onNotice?.(level, message)
    await this.#reloader.adopt()
    await this.#poll()
  }

  async #poll(): Promise<void> {
    await this.#hints.follow()
    if (await this.#reloader.isDue()) this.#hint('poll')
    if (!this.#closed) this.#pollTimer = this.#options.clock.after(POLL_MS, () => void this.#poll())
  }

  #hint(trigger: ReloadTrigger): void {
    if (!this.#closed) this.#settle.hint(trigger)
  }

  async #onSettled(trigger: ReloadTrigger): Promise<void> {
    if ((await this.#reloader.isDue()) && !this.#closed) await this.#reloader.reload(trigger)
  }
}
