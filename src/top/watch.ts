/** Looks at a sidecar again and again, and tells what there is to show: also that nobody answers. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminPort } from './admin-port.js'
import { isSameRun, rowsOf, type UpstreamRow, unmatchedPerSec } from './rows.js'
import type { Look, StatusView } from './sidecar-view.js'

/** What is known after one look. */
export interface Scene {
  /** Unix time, ms. */
  readonly atMs: number
  readonly address: string
  /** `null` = nobody has answered so far. */
  readonly status: StatusView | null
  readonly rows: readonly UpstreamRow[]
  /** Requests a second that match no upstream. */
  readonly unmatchedPerSec: number
  /** Why there is nothing new; the rest is then what was known before. */
  readonly gone: string | null
  /** It answers again, as another process: rates begin with the next look. */
  readonly restarted: boolean
  /** There are no rates yet. */
  readonly isFirst: boolean
}

export class Watch {
  readonly #port: AdminPort
  #before: Look | null = null
  readonly #lastReasons = new Map<string, string>()
  #scene: Scene

  constructor(port: AdminPort) {
    this.#port = port
    const nothing = { status: null, rows: [], unmatchedPerSec: 0, gone: null, restarted: false, isFirst: true }
    this.#scene = { atMs: Date.now(), address: port.address, ...nothing }
  }

  /** As of the last look. */
  get scene(): Scene {
    return this.#scene
  }

  /** Never rejects. */
  async look(): Promise<Scene> {
    try {
      this.#scene = this.#taken(await this.#port.look())
    } catch (error) {
      this.#scene = { ...this.#scene, atMs: Date.now(), gone: (error as Error).message, restarted: false }
    }
    return this.#scene
  }

  #taken(now: Look): Scene {
    const before = this.#before
    const isSame = before !== null && isSameRun(before, now)
    const since = isSame ? before : null
    this.#before = now
    if (before !== null && !isSame) this.#lastReasons.clear()
    return {
      atMs: now.atMs,
      address: this.#port.address,
      status: now.status,
      rows: rowsOf(since, now, this.#lastReasons),
      unmatchedPerSec: unmatchedPerSec(since, now),
      gone: null,
      restarted: before !== null && !isSame,
      isFirst: since === null,
    }
  }
}

/** Calls `work` now and each interval after it began, never twice at a time, until the signal. */
export async function everyInterval(intervalMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    const beganMs = performance.now()
    await work()
    const leftMs = Math.max(0, beganMs + intervalMs - performance.now())
    await sleep(leftMs, undefined, { signal }).catch(() => undefined)
  }
}
