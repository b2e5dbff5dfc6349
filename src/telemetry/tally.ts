/**
 * Counts kept on the request path: array slots found by word and number, so that nothing is hashed, joined or
 * allocated per request. `SeriesCap` holds the number of distinct series down for good.
 */

export class SeriesCap {
  #used = 0
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** Claims room for new series; false when the cap is reached. */
  take(series: number): boolean {
    if (this.#used + series > this.#max) return false
    this.#used += series
    return true
  }

  giveBack(series: number): void {
    this.#used -= series
  }
}

/** Counters by one word of a closed list (an outcome, a reason) and a slot number below `width`. */
export class WordCounts {
  /** Distinct counters so far. */
  series = 0
  readonly #rows = new Map<string, Float64Array>()
  readonly #width: number
  readonly #cap: SeriesCap

  constructor(width: number, cap: SeriesCap) {
    this.#width = width
    this.#cap = cap
  }

  /** False when this would be a new series and there is no room for one. */
  add(word: string, slot: number): boolean {
    const row = this.#rows.get(word)
    const count = row?.[slot] ?? 0
    if (row !== undefined && count > 0) {
      row[slot] = count + 1
      return true
    }
    return this.#start(word, slot)
  }

  *entries(): Generator<{ readonly word: string; readonly slot: number; readonly count: number }> {
    for (const [word, row] of this.#rows) {
      for (const [slot, count] of row.entries()) if (count > 0) yield { word, slot, count }
    }
  }

  #start(word: string, slot: number): boolean {
    if (!this.#cap.take(1)) return false
    const row = this.#rows.get(word) ?? new Float64Array(this.#width)
    row[slot] = 1
    this.#rows.set(word, row)
    this.series += 1
    return true
  }
}

/** Observations in buckets; `bounds` are ascending upper bounds, inclusive, without +Inf. */
export class Histogram {
  sum = 0
  count = 0
  readonly bounds: readonly number[]
  /** Per bucket, not cumulative; the last one is +Inf. */
  readonly buckets: Float64Array
  readonly #cap: SeriesCap

  constructor(bounds: readonly number[], cap: SeriesCap) {
    this.bounds = bounds
    this.buckets = new Float64Array(bounds.length + 1)
    this.#cap = cap
  }

  /** Buckets, +Inf, sum and count; 0 until something was observed. */
  get series(): number {
    return this.count === 0 ? 0 : this.bounds.length + 3
  }

  /** False when this would start new series and there is no room for them. */
  observe(value: number): boolean {
    if (this.count === 0 && !this.#cap.take(this.bounds.length + 3)) return false
    let slot = 0
    while (slot < this.bounds.length && value > (this.bounds[slot] ?? 0)) slot += 1
    this.buckets[slot] = (this.buckets[slot] ?? 0) + 1
    this.sum += value
    this.count += 1
    return true
  }
}
