const START = 20
const LEAST = 3
/** A round is over after this time, with at least so many answers. */
const ROUND_MS = 100
const ROUND_ANSWERS = 10
/** Slower than usual by up to this is noise. */
const TOLERANCE = 1.5
/** How far a round moves the limit towards what it found. */
const SMOOTHING = 0.2
const DECREASE_ON_FAILURE = 0.9
/** What is usual is measured this often, the first time sooner … */
const MEASURE_EVERY_MS = 30_000
const FIRST_MEASURE_MS = 3000
/** … under this share of the limit, so that what queues in the upstream drains … */
const MEASURE_SHARE = 0.3
/** … for so many rounds, of which the first still holds calls from before. */
const MEASURE_ROUNDS = 4

/** A measurement of the usual latency that is under way. */
interface Measurement {
  readonly limitBefore: number
  rounds: number
  sumMs: number
}

/**
 * How many attempts may be on the wire, learned from latency by its gradient, as Envoy's adaptive concurrency and Netflix's
 * concurrency-limits do. While answers come as fast as is usual the limit grows; when they take longer, calls queue in the
 * upstream, and it shrinks in proportion. What is usual is measured now and then under half the limit: a mean of the time
 * would come to hold the queue for usual. Below half of the limit in use nothing is learnt, for then the app sets the pace.
 */
export class AdaptiveLimit {
  #limit = START
  #usualMs: number | null = null
  #measurement: Measurement | null = null
  #measureAtMs: number
  #roundStartMs: number
  #answers = 0
  #sumMs = 0
  #failures = 0
  #mostInFlight = 0

  constructor(nowMs: number) {
    this.#roundStartMs = nowMs
    this.#measureAtMs = nowMs + FIRST_MEASURE_MS
  }

  /** At least 3. */
  get limit(): number {
    return Math.floor(this.#limit)
  }

  /** One attempt is settled. `inFlight`: it included. `failed`: no answer, or one that says "too much". */
  onSettled(tookMs: number, failed: boolean, inFlight: number, nowMs: number): void {
    this.#mostInFlight = Math.max(this.#mostInFlight, inFlight)
    if (failed) this.#failures += 1
    else {
      this.#answers += 1
      this.#sumMs += tookMs
    }
    const enough = this.#answers + this.#failures >= ROUND_ANSWERS
    if (enough && nowMs - this.#roundStartMs >= ROUND_MS) this.#endRound(nowMs)
  }

  #endRound(nowMs: number): void {
    if (this.#answers > 0) this.#learn(this.#sumMs / this.#answers, nowMs)
    // A share that is normal for a replica that died must not shut the others.
    if (this.#failures * 2 > this.#answers) this.#limit *= DECREASE_ON_FAILURE
    this.#limit = Math.max(LEAST, this.#limit)
    this.#roundStartMs = nowMs
    this.#answers = 0
    this.#sumMs = 0
    this.#failures = 0
    this.#mostInFlight = 0
  }

  #learn(roundMs: number, nowMs: number): void {
    this.#usualMs ??= roundMs
    if (this.#measurement !== null) return this.#measure(this.#measurement, roundMs, nowMs)
    if (nowMs >= this.#measureAtMs) {
      this.#measurement = { limitBefore: this.#limit, rounds: 0, sumMs: 0 }
      this.#limit *= MEASURE_SHARE
    } else if (this.#mostInFlight * 2 >= this.#limit) {
      const gradient = roundMs > 0 ? Math.max(0.5, Math.min(1, (TOLERANCE * this.#usualMs) / roundMs)) : 1
      // A little more than what the latency allows, or the limit could not grow.
      const found = this.#limit * gradient + Math.sqrt(this.#limit)
      this.#limit += (found - this.#limit) * SMOOTHING
    }
  }

  #measure(measurement: Measurement, roundMs: number, nowMs: number): void {
    measurement.rounds += 1
    if (measurement.rounds > 1) measurement.sumMs += roundMs
    if (measurement.rounds < MEASURE_ROUNDS) return
    this.#usualMs = measurement.sumMs / (MEASURE_ROUNDS - 1)
    this.#limit = measurement.limitBefore
    this.#measurement = null
    this.#measureAtMs = nowMs + MEASURE_EVERY_MS
  }
}
