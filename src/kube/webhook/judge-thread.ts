import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../clock/clock.js'
import type { Judge, Verdict } from './judge.js'

const ENTRY = new URL('./judge-worker.js', import.meta.url)
/** Hundreds of upstreams need a tenth of it; a document made to explode ends its thread and not the webhook. */
const MAX_HEAP_MB = 256
/** Edits come in bursts, and most of the time there are none. */
const IDLE_END_MS = 30_000
/** Reviews wait in memory. */
const MOST_WAITING = 256

/**
 * Judges policies in a thread of its own, one set after another, so that parsing holds up no other review. The thread
 * begins with the first set and ends when nothing came for a while; one that is stuck is ended with its set.
 */
export class JudgeThread {
  readonly #clock: Clock
  #worker: Worker | null = null
  #idle: Timer | null = null
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Rejects when the thread ends without a verdict, and soon after an abort. */
  readonly judge: Judge = async (files, signal) => {
    if (this.#waiting >= MOST_WAITING) throw new Error('too many policies wait to be checked')
    this.#waiting += 1
    const turn = this.#tail.then(() => this.#next(files, signal))
    this.#tail = turn.catch(() => undefined)
    try {
      return await beforeAbort(turn, signal)
    } finally {
      this.#waiting -= 1
    }
  }

  async close(): Promise<void> {
    this.#idle?.cancel()
    await this.#worker?.terminate()
  }

  async #next(files: ReadonlyMap<string, string>, signal: AbortSignal): Promise<Verdict> {
    signal.throwIfAborted()
    this.#idle?.cancel()
    const worker = (this.#worker ??= this.#start())
    try {
      return await verdictOf(worker, files, signal)
    } finally {
      this.#idle = this.#clock.after(IDLE_END_MS, () => this.#end(worker))
    }
  }

  /** Nothing may be handed to a thread that is about to end. */
  #end(worker: Worker): void {
    if (this.#worker === worker) this.#worker = null
    void worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(ENTRY, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      // Flags of the process, such as a debugger's port, are not for this thread.
      execArgv: [],
    })
    const gone = (): void => {
      if (this.#worker === worker) this.#worker = null
    }
    worker.once('error', gone).once('exit', gone).unref()
    return worker
  }
}

function verdictOf(worker: Worker, files: ReadonlyMap<string, string>, signal: AbortSignal): Promise<Verdict> {
  return new Promise((resolve, reject) => {
    const stop = (): void => void worker.terminate()
    const onExit = (code: number): void => end(() => reject(new Error(`the checking thread ended with code ${code}`)))
    const onError = (error: Error): void => end(() => reject(error))
    const onMessage = (verdict: Verdict): void => end(() => resolve(verdict))
    function end(settle: () => void): void {
      signal.removeEventListener('abort', stop)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      settle()
    }
    signal.addEventListener('abort', stop, { once: true })
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    worker.postMessage(files)
  })
}

/** Whoever waits for its turn need not wait beyond its time. */
function beforeAbort<T>(turn: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    turn.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
