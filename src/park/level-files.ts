/** The files of the embedded store: LevelDB, one batch at a time, opened anew after a write that failed. */
import { chmod, mkdir, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import type { StoreDeps } from './store.js'

type Level = import('classic-level').ClassicLevel<string, Buffer>
export type Operation = { type: 'put'; key: string; value: Buffer } | { type: 'del'; key: string }

interface Write {
  readonly operations: readonly Operation[]
  /** What makes sure that none of it is found later, should it fail. */
  readonly undo: readonly Operation[]
  readonly done: (error: Error | null) => void
}

/** Only its owner may enter, so nobody else reads what LevelDB writes into it. */
const DIRECTORY_MODE = 0o700
/** Pause before it is opened anew once more, ms. */
const MEND_AGAIN_MS = 5000
const READ_AHEAD_BYTES = 256 * 1024
/** Opening writes what the log holds into a table, twice the size of LevelDB's buffer at most. */
const MEND_BYTES = 8 * 2 ** 20

/** Makes the directory if it is missing. Rejects with what a person can act on. */
export async function openLevelFiles(path: string, deps: StoreDeps): Promise<LevelFiles> {
  await mkdir(path, { recursive: true, mode: DIRECTORY_MODE })
  await chmod(path, DIRECTORY_MODE)
  // LevelDB makes files whenever it likes; the sidecar itself makes none.
  if (isMainThread) process.umask(0o077)
  // CommonJS: now and then import() of it gives nothing on Node 20.
  const { ClassicLevel } = createRequire(import.meta.url)('classic-level') as typeof import('classic-level')
  const db: Level = new ClassicLevel(path, { keyEncoding: 'utf8', valueEncoding: 'buffer' })
  try {
    await db.open()
  } catch (error) {
    throw new Error(openingText(path, error))
  }
  return new LevelFiles(db, path, deps)
}

function openingText(path: string, error: unknown): string {
  const { cause, message } = error as Error & { cause?: Error & { code?: string } }
  return cause?.code === 'LEVEL_LOCKED'
    ? `${path} is in use by another process`
    : `${path}: ${cause?.message ?? message}`
}

/**
 * A write that fails may leave half a record in LevelDB's log. Whatever is written behind it is told to be safe and is gone
 * after a crash, since reading the log ends there. So writes go one after another (those that wait go together), and after a
 * failure nothing is written until the log is a new one.
 */
export class LevelFiles {
  readonly #db: Level
  readonly #path: string
  readonly #deps: StoreDeps
  #waiting: Write[] = []
  #writing = false
  #undo: Operation[] = []
  #failure: Error | null = null
  #closed = false

  constructor(db: Level, path: string, deps: StoreDeps) {
    this.#db = db
    this.#path = path
    this.#deps = deps
  }

  read(key: string): Promise<Buffer | undefined> {
    return this.#db.get(key)
  }

  entries(range: { gte: string; lt: string }): AsyncIterable<[string, Buffer]> {
    return this.#db.iterator({ ...range, highWaterMarkBytes: READ_AHEAD_BYTES })
  }

  /** All of it or nothing, and on disk once it resolves. */
  write(operations: readonly Operation[], undo: readonly Operation[] = []): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      const done = (error: Error | null): void => (error === null ? resolve() : reject(error))
      this.#waiting.push({ operations, undo, done })
      void this.#flush()
    })
  }

  close(): Promise<void> {
    this.#closed = true
    return this.#db.close()
  }

  async #flush(): Promise<void> {
    if (this.#writing) return
    this.#writing = true
    while (this.#waiting.length > 0) {
      const together = this.#waiting
      this.#waiting = []
      const error = this.#failure ?? (await this.#batch(together.flatMap(({ operations }) => operations)))
      if (error !== null) this.#fail(error, together)
      for (const { done } of together) done(error)
    }
    this.#writing = false
  }

  async #batch(operations: Operation[]): Promise<Error | null> {
    try {
      await this.#db.batch(operations, { sync: true })
      return null
    } catch (error) {
      return error as Error
    }
  }

  #fail(error: Error, writes: readonly Write[]): void {
    this.#undo.push(...writes.flatMap(({ undo }) => undo))
    if (this.#failure !== null || this.#closed) return
    this.#failure = error
    this.#deps.onTrouble(`nothing can be written: ${error.message}`)
    void this.#mend()
  }

  async #mend(): Promise<void> {
    if (this.#closed) return
    try {
      const { bavail, bsize } = await statfs(this.#path)
      // Until then it can at least be read.
      if (bavail * bsize < MEND_BYTES) throw new Error('no room')
      await this.#db.close()
      await this.#db.open()
      await this.#db.batch(this.#undo, { sync: true })
      if (this.#closed) return await this.#db.close()
      this.#undo = []
      this.#failure = null
    } catch {
      this.#deps.clock.after(MEND_AGAIN_MS, () => void this.#mend())
    }
  }
}
