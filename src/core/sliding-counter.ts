/**
 * Counts events over the last `bins × binMs`, the running bin included. Adding is a few integer operations and
 * allocates nothing. Time only moves forward; an earlier one counts into the running bin.
 */
export class SlidingCounter {
  readonly #bins: number
  readonly #binMs: number
  readonly #counts: Uint32Array
  /** Number of the running bin since time 0. */
  #head = -1
  /** Its place in the ring. */
  #index = 0
  #total = 0

  constructor(bins: number, binMs: number) {
    this.#bins = bins
    this.#binMs = binMs
    this.#counts = new Uint32Array(bins)
  }

  add(nowMs: number): void {
    const bin = Math.floor(nowMs / this.#binMs)
    if (bin > this.#head) this.#advance(bin)
    this.#counts[this.#index]!++
    this.#total++
  }

  total(nowMs: number): number {
    const bin = Math.floor(nowMs / this.#binMs)
    if (bin > this.#head) this.#advance(bin)
    return this.#total
  }

  /** Takes one event of `atMs` back, or the next later one; does nothing when it has been forgotten already. */
  remove(atMs: number, nowMs: number): void {
    if (this.total(nowMs) === 0) return
    const bin = Math.min(this.#head, Math.floor(atMs / this.#binMs))
    if (bin <= this.#head - this.#bins) return
    for (let back = this.#head - bin; back >= 0; back--) {
      const place = this.#place(back)
      if (this.#counts[place] === 0) continue
      this.#counts[place]!--
      this.#total--
      return
    }
  }

  clear(): void {
    this.#counts.fill(0)
    this.#total = 0
  }

  /** The same events in bins of another length; each bin moves as a whole, by its end. */
  rebinned(binMs: number, nowMs: number): SlidingCounter {
    const copy = new SlidingCounter(this.#bins, binMs)
    copy.total(nowMs)
    this.total(nowMs)
    for (let back = this.#bins - 1; back >= 0; back--) {
      const endMs = Math.min(nowMs, (this.#head - back + 1) * this.#binMs)
      copy.#put(Math.floor(endMs / binMs), this.#counts[this.#place(back)]!)
    }
    return copy
  }

  #put(bin: number, count: number): void {
    const back = this.#head - bin
    if (back >= this.#bins) return
    this.#counts[this.#place(back)]! += count
    this.#total += count
  }

  #place(back: number): number {
    return (this.#index - back + this.#bins) % this.#bins
  }

  #advance(bin: number): void {
    const steps = bin - this.#head
    this.#head = bin
    if (steps >= this.#bins) return this.clear()
    for (let i = 0; i < steps; i++) {
      this.#index = this.#index + 1 === this.#bins ? 0 : this.#index + 1
      this.#total -= this.#counts[this.#index]!
      this.#counts[this.#index] = 0
    }
  }
}
