const BIN_MS = 100
/** Any second touches at most this many bins, so a sum over as many never counts too little. */
const BINS_PER_SECOND = 11

/** When the granted retries are to be sent: what keeps a window's allowance from being spent in one second. */
export class SendCalendar {
  readonly #bins = new Map<number, number>()
  #prunedBin = -Infinity

  /** Whether one more at `sendAtMs` leaves every second around it at or under `capPerSecond`. */
  hasRoom(sendAtMs: number, capPerSecond: number): boolean {
    if (capPerSecond < 1) return false
    const bin = binOf(sendAtMs)
    let sum = this.secondUntil(sendAtMs)
    let busiest = sum
    for (let k = 1; k < BINS_PER_SECOND; k++) {
      sum += this.#count(bin + k) - this.#count(bin + k - BINS_PER_SECOND)
      busiest = Math.max(busiest, sum)
    }
    return busiest + 1 <= capPerSecond
  }

  /** All of the second that ends with the bin of `atMs`. */
  secondUntil(atMs: number): number {
    const bin = binOf(atMs)
    let sum = 0
    for (let k = 1 - BINS_PER_SECOND; k <= 0; k++) sum += this.#count(bin + k)
    return sum
  }

  add(sendAtMs: number, nowMs: number): void {
    this.#forget(binOf(nowMs))
    const bin = binOf(sendAtMs)
    this.#bins.set(bin, this.#count(bin) + 1)
  }

  remove(sendAtMs: number): void {
    const bin = binOf(sendAtMs)
    const count = this.#count(bin)
    if (count > 1) this.#bins.set(bin, count - 1)
    else this.#bins.delete(bin)
  }

  #count(bin: number): number {
    return this.#bins.get(bin) ?? 0
  }

  /** At most once a second, so that its cost is shared by many. */
  #forget(nowBin: number): void {
    if (nowBin - this.#prunedBin < BINS_PER_SECOND) return
    this.#prunedBin = nowBin
    for (const bin of this.#bins.keys()) {
      if (bin <= nowBin - BINS_PER_SECOND) this.#bins.delete(bin)
    }
  }
}

function binOf(atMs: number): number {
  return Math.floor(atMs / BIN_MS)
}
