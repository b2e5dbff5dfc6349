import type { Clock } from '../clock/clock.js'
import type { Snapshot } from '../core/snapshot.js'
import type { PolicyReloaded, UpstreamChanges } from '../telemetry/events.js'
import { changesBetween } from './changes.js'
import { directoryStamp } from './directory-stamp.js'
import { keepGood } from './keep-good.js'
import type { Load, LoadAnswer, Told } from './load-request.js'
import { readPolicyDirectory } from './source.js'

/** A load that could not even be tried (no thread to be had) is due again after this without a change. */
const TRY_AGAIN_MS = 60_000
const LOAD_LIMIT_MS = 30_000
/** Failed loads of a directory that changed meanwhile, before the failure is believed. */
const MAX_TRIES = 5

export type ReloadTrigger = 'watch' | 'poll' | 'signal' | 'admin'

export interface ReloadOutcome {
  readonly result: PolicyReloaded['result']
  /** One line each. */
  readonly messages: readonly string[]
  /** As in the event; absent where there are none. */
  readonly noPolicy?: readonly string[]
  readonly kept?: readonly string[]
}

export interface ReloaderOptions {
  readonly dir: string
  /** `valid-only`: whatever is valid applies, until one set is wholly valid, as `current` is not; from then on all or nothing. */
  readonly mode: 'all' | 'valid-only'
  readonly clock: Clock
  /** In force at the start. */
  readonly current: Snapshot
  onSnapshot(next: Snapshot): void
  onReload(event: PolicyReloaded): void
  readonly load: Load
}

/** Reads a directory when told to, one load after another, and puts into force what is good. */
export class Reloader {
  readonly #options: ReloaderOptions
  /** Asked for and not begun: a second wish of the same kind is the same wish. */
  readonly #queued = new Map<ReloadTrigger, Promise<ReloadOutcome>>()
  #tail: Promise<unknown> = Promise.resolve()
  #loading: AbortController | null = null
  #closed = false
  #current: Snapshot
  #allOrNothing: boolean
  /** Of the directory when it was last read; `null` when it must be read. */
  #stamp: string | null = null
  /** The failure that was told last, while it lasts. */
  #failure: string | null = null
  #dueAtMs = Number.POSITIVE_INFINITY

  constructor(options: ReloaderOptions) {
    this.#options = options
    this.#current = options.current
    this.#allOrNothing = options.mode === 'all'
  }

  /** Reads the policies now; never rejects. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    const queued = this.#queued.get(trigger)
    if (queued !== undefined) return queued
    const wish = this.#tail.then(() => {
      this.#queued.delete(trigger)
      return this.#run(trigger)
    })
    this.#queued.set(trigger, wish)
    this.#tail = wish
    return wish
  }

  /** Spares the first load when the directory still holds what is in force. */
  async adopt(): Promise<void> {
    const stamp = await directoryStamp(this.#options.dir)
    if (this.#stamp !== null) return
    const { problems, hash } = readPolicyDirectory(this.#options.dir)
    if (problems.length === 0 && hash === this.#current.hash) this.#stamp = stamp
  }

  /** The directory is not what it was when it was last read. */
  async isDue(): Promise<boolean> {
    if (this.#options.clock.nowMs() >= this.#dueAtMs) this.#stamp = null
    return (await directoryStamp(this.#options.dir)) !== this.#stamp
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#loading?.abort()
    await this.#tail
  }

  async #run(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    const { clock } = this.#options
    const startMs = clock.nowMs()
    const answer = this.#closed ? null : await this.#read()
    if (answer === null || this.#closed) return { result: 'rejected', messages: ['forbear is ending'] }
    const durationMs = clock.nowMs() - startMs
    try {
      return this.#conclude(answer, trigger, durationMs)
    } catch (error) {
      return this.#conclude(this.#untried(error), trigger, durationMs)
    }
  }

  /** A set that is torn because it was being replaced is read again. */
  async #read(): Promise<LoadAnswer> {
    for (let tries = 1; ; tries++) {
      this.#stamp = await directoryStamp(this.#options.dir)
      if (this.#closed) return { kind: 'same' }
      const answer = await this.#attempt()
      if (answer.kind !== 'unusable' || tries >= MAX_TRIES || this.#closed) return answer
      if ((await directoryStamp(this.#options.dir)) === this.#stamp) return answer
    }
  }

  async #attempt(): Promise<LoadAnswer> {
    const { dir, clock, load } = this.#options
    const loading = new AbortController()
    const timer = clock.after(LOAD_LIMIT_MS, () => loading.abort())
    const { generation, hash } = this.#current
    const mode = this.#allOrNothing ? 'all' : 'valid-only'
    this.#dueAtMs = Number.POSITIVE_INFINITY
    this.#loading = loading
    try {
      return await load({ dir, mode, generation: generation + 1, knownHash: hash }, loading.signal)
    } catch (error) {
      return this.#untried(error)
    } finally {
      this.#loading = null
      timer.cancel()
    }
  }

  #untried(error: unknown): LoadAnswer {
    const { dir, clock } = this.#options
    this.#dueAtMs = clock.nowMs() + TRY_AGAIN_MS
    const why = error instanceof Error ? error.message : String(error)
    return { kind: 'unusable', hash: '', messages: [`${dir}: the policies could not be loaded: ${why}`] }
  }

  #conclude(answer: LoadAnswer, trigger: ReloadTrigger, durationMs: number): ReloadOutcome {
    const asked = trigger === 'signal' || trigger === 'admin'
    switch (answer.kind) {
      case 'same': {
        const ended = this.#failure !== null
        this.#failure = null
        const told = { messages: [], documentsParsed: 0, ...(ended && this.#allOrNothing && { recovered: true }) }
        return this.#outcome('unchanged', told, trigger, durationMs, asked || ended)
      }
      case 'unusable': {
        const failure = `${answer.hash}\n${answer.messages.join('\n')}`
        const news = asked || failure !== this.#failure
        this.#failure = failure
        return this.#outcome('rejected', answer, trigger, durationMs, news)
      }
      case 'whole': {
        const changes = this.#apply(answer.snapshot)
        this.#allOrNothing = true
        return this.#outcome('applied', { ...answer, changes }, trigger, durationMs, true)
      }
      case 'partial': {
        const changes = this.#apply(keepGood(answer.snapshot, this.#current))
        return this.#outcome('partial', { ...answer, changes }, trigger, durationMs, true)
      }
    }
  }

  #apply(next: Snapshot): UpstreamChanges {
    const changes = changesBetween(this.#current, next)
    this.#options.onSnapshot(next)
    this.#current = next
    this.#failure = null
    return changes
  }

  #outcome(
    result: ReloadOutcome['result'],
    { messages, documentsParsed, changes, recovered }: Told & Pick<PolicyReloaded, 'changes' | 'recovered'>,
    trigger: ReloadTrigger,
    durationMs: number,
    news: boolean,
  ): ReloadOutcome {
    const { generation, hash, upstreams, invalid } = this.#current
    const left = { noPolicy: [...invalid.keys()], kept: [...(this.#current.kept ?? [])] }
    if (news) {
      const about = { generation, hash, upstreams: upstreams.size, durationMs, messages, ...left }
      this.#options.onReload({
        type: 'policy-reloaded',
        result,
        trigger,
        ...about,
        ...(documentsParsed !== undefined && { documentsParsed }),
        ...(changes !== undefined && { changes }),
        ...(recovered !== undefined && { recovered }),
      })
    }
    return {
      result,
      messages,
      ...(left.noPolicy.length > 0 && { noPolicy: left.noPolicy }),
      ...(left.kept.length > 0 && { kept: left.kept }),
    }
  }
}
