import { readFileSync, statSync } from 'node:fs'
import type { Clock } from '../clock/clock.js'
import type { Notice } from '../telemetry/events.js'

const MAX_BYTES = 1024 * 1024
const CHECK_EVERY_MS = 5_000

interface Known {
  checkedAtMs: number
  readonly content: Buffer | null
  /** Of the file as it was read, `null` where it could not be. */
  readonly version: string | null
}

/**
 * The bodies of fallbacks. They are read when they are needed, which is seldom, and looked at again every 5 s; a local file of
 * up to 1 MiB costs the event loop less than a watch on it.
 */
export class FallbackFiles {
  readonly #known = new Map<string, Known>()
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #tell: (notice: Notice) => void

  constructor(clock: Pick<Clock, 'nowMs'>, tell: (notice: Notice) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  /** `null` when it cannot be read; why is told once. */
  read(path: string): Buffer | null {
    const nowMs = this.#clock.nowMs()
    const known = this.#known.get(path)
    if (known !== undefined && nowMs - known.checkedAtMs < CHECK_EVERY_MS) return known.content
    const fresh = this.#load(path, known, nowMs)
    this.#known.set(path, fresh)
    return fresh.content
  }

  #load(path: string, known: Known | undefined, nowMs: number): Known {
    try {
      const { size, mtimeMs, ino } = statSync(path)
      const version = `${ino} ${size} ${mtimeMs}`
      if (known?.version === version) return { ...known, checkedAtMs: nowMs }
      if (size > MAX_BYTES) throw new Error(`it has ${size} bytes; at most ${MAX_BYTES} are allowed`)
      return { checkedAtMs: nowMs, content: readFileSync(path), version }
    } catch (error) {
      if (known === undefined || known.version !== null) this.#complain(path, error)
      return { checkedAtMs: nowMs, content: null, version: null }
    }
  }

  #complain(path: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error)
    const message = `no fallback is given while its file cannot be read: ${why}`
    this.#tell({ type: 'notice', level: 'error', message, detail: { file: path } })
  }
}
