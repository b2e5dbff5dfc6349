import { EventEmitter } from 'node:events'
import CircuitBreaker from 'opossum'
import type { BreakerState, WindowCounts } from '../core/breaker-rules.js'
import { SpanCounter } from '../core/span-counter.js'

const BUCKETS = 10

/**
 * A settled outcome in the shape opossum awaits. It calls back at once instead of in a later microtask, so opossum's
 * state and counts are right when `fire` returns.
 */
interface Settled {
  then(onFulfilled: (value: undefined) => void): Settled
  catch(onRejected: (error: Error) => void): void
}

const GOOD: Settled = {
  then(onFulfilled) {
    onFulfilled(undefined)
    return this
  },
  catch() {},
}

const FAILURE = new Error('failed attempt')
const BAD: Settled = {
  then() {
    return this
  },
  catch(onRejected) {
    onRejected(FAILURE)
  },
}

const reveal = (outcome: Settled) => outcome as unknown as Promise<undefined>

/** opossum keeps every latency of the window, wanted or not: at 10,000 calls a second that is a megabyte a breaker. */
class NoLatencies extends Array<number> {
  override push(): number {
    return 0
  }
}
const NO_LATENCIES = new NoLatencies()

const ignore = () => {}

/**
 * opossum fed with outcomes that are already known. It keeps the state, the open timer and the counts; whether to open
 * is decided outside. Its window is moved on when it is used, so an idle breaker costs no timer. `nowMs` is monotonic.
 */
export class OpossumCircuit {
  /** opossum keeps this very object and reads `resetTimeout` when it opens. */
  readonly #options: { resetTimeout: number }
  readonly #rotation = new EventEmitter()
  readonly #circuit: CircuitBreaker<[Settled], undefined>
  readonly #bucketMs: number
  #rotateAtMs: number
  /** Per bucket, newest first; `Infinity` = none. */
  readonly #firstFailureMs = new Array<number>(BUCKETS).fill(Number.POSITIVE_INFINITY)
  #newestFailureMs = 0
  readonly #windowMs: number
  /** opossum has no such count. */
  #slow: SpanCounter

  constructor(windowMs: number, nowMs: number, onHalfOpen: () => void) {
    this.#bucketMs = Math.max(1, windowMs / BUCKETS)
    this.#windowMs = windowMs
    this.#slow = new SpanCounter(windowMs)
    this.#rotateAtMs = nowMs + this.#bucketMs
    const options = {
      timeout: false as const,
      resetTimeout: 1,
      // The comparison is strict and the ratio never above 100: opossum does not trip by itself.
      errorThresholdPercentage: 100,
      rollingCountTimeout: windowMs,
      rollingCountBuckets: BUCKETS,
      rollingPercentilesEnabled: false,
      enableSnapshots: false,
      rotateBucketController: this.#rotation,
    }
    this.#options = options
    this.#circuit = new CircuitBreaker(reveal, options)
    this.#circuit.on('halfOpen', onHalfOpen)
    for (const bucket of this.#circuit.status.window) bucket.latencyTimes = NO_LATENCIES
  }

  get closed(): boolean {
    return this.#circuit.closed
  }

  get state(): BreakerState {
    if (this.#circuit.closed) return 'closed'
    return this.#circuit.halfOpen ? 'half-open' : 'open'
  }

  /** Counts one good outcome; closes when half-open. */
  succeed(nowMs: number): void {
    if (nowMs >= this.#rotateAtMs) this.#rotate(nowMs)
    void this.#circuit.fire(GOOD)
  }

  /** Counts one failure of a closed circuit. */
  fail(nowMs: number): void {
    if (nowMs >= this.#rotateAtMs) this.#rotate(nowMs)
    this.#firstFailureMs[0] = Math.min(this.#firstFailureMs[0] ?? nowMs, nowMs)
    this.#newestFailureMs = nowMs
    this.#circuit.fire(BAD).catch(ignore)
  }

  /** One of the outcomes took too long, good or not. */
  addSlow(nowMs: number): void {
    this.#slow.add(nowMs)
  }

  /** The probe of a half-open circuit failed: opens for `openForMs`. */
  failProbe(openForMs: number): void {
    this.#options.resetTimeout = openForMs
    this.#circuit.fire(BAD).catch(ignore)
  }

  /** Opens, or if it is open begins anew, for `openForMs`. */
  open(openForMs: number): void {
    this.#options.resetTimeout = openForMs
    this.#circuit.close()
    this.#circuit.open()
  }

  counts(nowMs: number): WindowCounts {
    if (nowMs >= this.#rotateAtMs) this.#rotate(nowMs)
    let calls = 0
    let failures = 0
    for (const bucket of this.#circuit.status.window) {
      calls += bucket.fires
      failures += bucket.failures
    }
    const oldestFailureMs = Math.min(...this.#firstFailureMs)
    const newestFailureMs = this.#newestFailureMs
    const slow = this.#slow.total(nowMs)
    return { calls, failures, oldestFailureMs, newestFailureMs, slow, slowSpanMs: this.#slow.spanMs(nowMs) }
  }

  /** Takes over what a closed circuit with another window has counted, as far as it is young enough. */
  adopt(other: OpossumCircuit, nowMs: number): void {
    this.#newestFailureMs = other.counts(nowMs).newestFailureMs
    this.#slow = other.#slow
    this.#slow.resize(this.#windowMs, nowMs)
    const window = this.#circuit.status.window
    other.#circuit.status.window.forEach((bucket, index) => {
      const at = Math.floor((index * other.#bucketMs) / this.#bucketMs)
      const mine = window[at]
      if (mine === undefined) return
      mine.fires += bucket.fires
      mine.failures += bucket.failures
      mine.successes += bucket.successes
      this.#firstFailureMs[at] = Math.min(this.#firstFailureMs[at] ?? nowMs, other.#firstFailureMs[index] ?? nowMs)
    })
  }

  /** Drops the timer; no call-back follows. */
  retire(): void {
    this.#circuit.shutdown()
  }

  #rotate(nowMs: number): void {
    const steps = Math.floor((nowMs - this.#rotateAtMs) / this.#bucketMs) + 1
    this.#rotateAtMs += steps * this.#bucketMs
    for (let step = 0; step < Math.min(steps, BUCKETS); step++) {
      this.#rotation.emit('rotate')
      this.#firstFailureMs.pop()
      this.#firstFailureMs.unshift(Number.POSITIVE_INFINITY)
    }
    for (const bucket of this.#circuit.status.window) bucket.latencyTimes = NO_LATENCIES
  }
}
