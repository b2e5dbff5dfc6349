import { resolve } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { directoryIdentity } from './directory-stamp.js'
import { errorCode } from './source.js'

/** Out of inotify instances, watches or file descriptors: asking again would fail again. */
const EXHAUSTED: ReadonlySet<string> = new Set(['ENOSPC', 'EMFILE', 'ENFILE'])

export interface HintListener {
  /** Something in the directory may have changed. Comes often and says nothing more. */
  onHint(): void
  /** No hints will come any more; told once. */
  onDeaf(code: string): void
}

/**
 * File events of a policy directory, as hints only: they stop after fast swaps of the directory behind them, and some
 * runtimes (gVisor, Kata) never send one.
 */
export class DirectoryHints {
  readonly #dir: string
  readonly #listener: HintListener
  #watcher: FSWatcher | null = null
  /** Identity of the directory that the watcher sits on. */
  #watched: string | null = null
  #ended = false

  constructor(dir: string, listener: HintListener) {
    this.#dir = resolve(dir)
    this.#listener = listener
  }

  /** Watches the directory that has the name now; to be called again and again, since it may be made anew. */
  async follow(): Promise<void> {
    const identity = await directoryIdentity(this.#dir)
    if (this.#ended || identity === this.#watched) return
    await this.#drop()
    if (identity === null || this.#ended) return
    this.#watched = identity
    try {
      // Not needed before the first call is served.
      const { watch } = await import('chokidar')
      if (!this.#ended) this.#open(watch)
    } catch (error) {
      this.#onError(error)
    }
  }

  async close(): Promise<void> {
    this.#ended = true
    await this.#drop()
  }

  #open(watch: typeof import('chokidar').watch): void {
    // Depth 0 is the directory itself. `..data` and its like must not be ignored, and links are followed so that an edit
    // of a file elsewhere is seen. `atomic` and `awaitWriteFinish` would only delay: the reader settles by itself.
    const watcher = watch(this.#dir, { depth: 0, ignoreInitial: true, atomic: false, persistent: true })
    this.#watcher = watcher
    watcher.on('all', (event, path) => {
      if (event === 'unlinkDir' && resolve(path) === this.#dir) this.#watched = null
      this.#listener.onHint()
    })
    watcher.on('raw', () => this.#listener.onHint())
    watcher.on('ready', () => this.#listener.onHint())
    watcher.on('error', error => this.#onError(error))
  }

  #onError(error: unknown): void {
    const code = errorCode(error)
    void this.#drop()
    if (this.#ended || !EXHAUSTED.has(code)) return
    this.#ended = true
    this.#listener.onDeaf(code)
  }

  async #drop(): Promise<void> {
    const watcher = this.#watcher
    this.#watcher = null
    this.#watched = null
    await watcher?.close()
  }
}
