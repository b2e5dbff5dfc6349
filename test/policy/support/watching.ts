import { onTestFinished, vi } from 'vitest'
import type { Clock } from '../../../src/clock/clock.js'
import { SystemClock } from '../../../src/clock/system-clock.js'
import type { Snapshot } from '../../../src/core/snapshot.js'
import type { Load, LoadAnswer, LoadRequest } from '../../../src/policy/load-request.js'
import { readPolicyDirectory } from '../../../src/policy/source.js'
import { PolicyWatcher } from '../../../src/policy/watcher.js'
import type { PolicyReloaded } from '../../../src/telemetry/events.js'

/** A day's waiting in a minute: what takes 5 s takes half of one. */
export class FastClock extends SystemClock {
  override after(delayMs: number, fn: () => void): ReturnType<Clock['after']> {
    return super.after(delayMs / 10, fn)
  }
}

export const snapshotOf = (generation: number, hash: string, facts: Partial<Snapshot> = {}): Snapshot => ({
  generation,
  hash,
  upstreams: new Map(),
  invalid: new Map(),
  ...facts,
})

/** Text that holds `bad` is unusable, `half` is valid in part; everything else is a policy set. */
export function loadText({ dir, mode, generation, knownHash }: LoadRequest): LoadAnswer {
  const { files, hash, problems } = readPolicyDirectory(dir)
  if (problems.length > 0) return { kind: 'unusable', hash, messages: problems.map(({ text }) => text) }
  if (hash === knownHash) return { kind: 'same' }
  const text = files.map(file => file.text).join('')
  const snapshot = snapshotOf(generation, hash)
  if (text.includes('half') && mode === 'valid-only') return { kind: 'partial', snapshot, messages: ['half'] }
  if (text.trim() === '' || /bad|half/.test(text)) return { kind: 'unusable', hash, messages: [`broken: ${text}`] }
  return { kind: 'whole', snapshot, messages: [] }
}

export interface Watching {
  readonly watcher: PolicyWatcher
  /** In the order of coming into force. */
  readonly applied: readonly Snapshot[]
  readonly events: readonly PolicyReloaded[]
  readonly notices: readonly string[]
  /** Loads asked for. */
  readonly loads: () => number
  /** Waits until what the directory holds now is in force. */
  inForce(): Promise<void>
  results(): string[]
}

interface WatchOptions {
  readonly mode?: 'all' | 'valid-only'
  readonly clock?: Clock
  readonly load?: Load
  readonly current?: Snapshot
  onSnapshot?(next: Snapshot): void
}

/** Watches `dir`, whose content now is in force as generation 1; closed when the test ends. */
export function watching(dir: string, options: WatchOptions = {}): Watching {
  const current = options.current ?? snapshotOf(1, readPolicyDirectory(dir).hash)
  const load = vi.fn<Load>(options.load ?? (async request => loadText(request)))
  const [applied, events, notices]: [Snapshot[], PolicyReloaded[], string[]] = [[], [], []]
  const watcher = new PolicyWatcher({
    dir,
    mode: options.mode ?? 'all',
    clock: options.clock ?? new SystemClock(),
    current,
    onSnapshot: next => {
      options.onSnapshot?.(next)
      applied.push(next)
    },
    onReload: event => events.push(event),
    onNotice: (level, message) => notices.push(`${level} ${message}`),
    load,
  })
  onTestFinished(() => watcher.close())
  watcher.start()
  return {
    watcher,
    applied,
    events,
    notices,
    loads: () => load.mock.calls.length,
    results: () => events.map(event => event.result),
    inForce: () => eventually(() => (applied.at(-1) ?? current).hash === readPolicyDirectory(dir).hash),
  }
}

/** Waits until it holds; fails after what a poll takes. */
export const eventually = (holds: () => boolean): Promise<void> =>
  vi.waitFor(
    () => {
      if (!holds()) throw new Error(`it never came about that ${holds}`)
    },
    { timeout: 7000, interval: 10 },
  )
