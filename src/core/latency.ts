const SHORTEST_MS = 0.05
const LONGEST_MS = 600_000
/** Each bucket is 8 % wider than the one before, so its geometric middle is at most 4 % off any value in it. */
const GROWTH = 1.08
const LOG_GROWTH = Math.log(GROWTH)
const HALF_BUCKET = Math.sqrt(GROWTH)
const BUCKETS = Math.ceil(Math.log(LONGEST_MS / SHORTEST_MS) / LOG_GROWTH) + 1
const HALF_MS = 30_000
/** A cached quantile is renewed after this time, or when the samples have grown by a 64th: under 64, at once. */
const CACHE_MS = 1000
const CACHE_GROWTH = 1 / 64

interface CachedQuantile {
  readonly q: number
  valueMs: number
  samples: number
  atMs: number
}

/**
 * Durations of the last 30 to 60 s in a histogram of log-wide buckets over two halves of 30 s. Recording is O(1) and
 * allocates nothing. Quantiles are within 5 % between 0.05 ms and 10 min; what lies outside counts as the nearest bound.
 */
export class LatencyWindow {
  #current = new Uint32Array(BUCKETS)
  #previous = new Uint32Array(BUCKETS)
  #currentSamples = 0
  #previousSamples = 0
  #half = -1
  readonly #cache: CachedQuantile[] = []

  record(durationMs: number, nowMs: number): void {
    this.#roll(nowMs)
    this.#current[bucketOf(durationMs)]!++
    this.#currentSamples++
  }

  /** Nearest-rank quantile, ms, for `q` in 0 … 1; `null` without a sample. Cached, so it may lag by a second. */
  quantile(q: number, nowMs: number): number | null {
    const samples = this.count(nowMs)
    if (samples === 0) return null
    let cached = this.#cache.find(entry => entry.q === q)
    if (cached === undefined) {
      cached = { q, valueMs: 0, samples: 0, atMs: -Infinity }
      this.#cache.push(cached)
    }
    if (nowMs - cached.atMs > CACHE_MS || samples - cached.samples > cached.samples * CACHE_GROWTH) {
      cached.valueMs = this.#valueAt(Math.max(1, Math.ceil(q * samples)))
      cached.samples = samples
      cached.atMs = nowMs
    }
    return cached.valueMs
  }

  median(nowMs: number): number | null {
    return this.quantile(0.5, nowMs)
  }

  /** The upper end of the bucket that holds the quantile: what is above it is certainly among the slowest 1 − `q`. */
  upperQuantile(q: number, nowMs: number): number | null {
    const middleMs = this.quantile(q, nowMs)
    return middleMs === null ? null : middleMs * HALF_BUCKET
  }

  count(nowMs: number): number {
    this.#roll(nowMs)
    return this.#currentSamples + this.#previousSamples
  }

  #clear(): void {
    this.#current.fill(0)
    this.#previous.fill(0)
    this.#currentSamples = 0
    this.#previousSamples = 0
    this.#cache.length = 0
  }

  #valueAt(rank: number): number {
    let seen = 0
    let bucket = 0
    for (; bucket < BUCKETS - 1; bucket++) {
      seen += this.#current[bucket]! + this.#previous[bucket]!
      if (seen >= rank) break
    }
    return middleOf(bucket)
  }

  #roll(nowMs: number): void {
    const half = Math.floor(nowMs / HALF_MS)
    if (half <= this.#half) return
    const steps = half - this.#half
    this.#half = half
    if (steps > 1) return this.#clear()
    const old = this.#previous
    this.#previous = this.#current
    this.#previousSamples = this.#currentSamples
    this.#current = old.fill(0)
    this.#currentSamples = 0
    this.#cache.length = 0
  }
}

function bucketOf(durationMs: number): number {
  if (!(durationMs > SHORTEST_MS)) return 0
  return Math.min(BUCKETS - 1, Math.floor(Math.log(durationMs / SHORTEST_MS) / LOG_GROWTH))
}

function middleOf(bucket: number): number {
  return Math.min(LONGEST_MS, SHORTEST_MS * GROWTH ** (bucket + 0.5))
}
