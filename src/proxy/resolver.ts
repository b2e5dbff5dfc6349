import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { Clock } from '../clock/clock.js'

/** `getaddrinfo`, replaceable in tests. `null` error = at least one address. */
export type Lookup = (
  name: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void

export type Resolved = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void

/** How long an answer is used without asking again, ms. `getaddrinfo` tells no TTL; Kubernetes DNS serves 30 s. */
const FRESH_MS = 30_000
/** Pause between background refreshes of a name whose last one failed, ms. */
const FAILED_REFRESH_MS = 5_000
/** A lookup slower than this sends the name to the narrow lane, ms. */
const SLOW_MS = 500
/** `getaddrinfo` runs on libuv's four threads, shared with the file system: one stays free for it. */
const WIDE_LANE = 2
/** All names that were slow or failed share one thread, so that they cannot stall the healthy ones. */
const NARROW_LANE = 1

interface Name {
  addresses: readonly LookupAddress[]
  freshUntilMs: number
  troubled: boolean
  waiting: Resolved[]
  asking: boolean
  turn: number
}

/** Names to addresses, with the last good answer kept for as long as no better one comes. */
export class Resolver {
  private readonly names = new Map<string, Name>()
  private readonly wide = new LookupLane(WIDE_LANE)
  private readonly narrow = new LookupLane(NARROW_LANE)

  constructor(
    private readonly clock: Clock,
    private readonly lookup: Lookup = getaddrinfo,
  ) {}

  /**
   * Calls back once, at once if the name is known (and refreshes it in the background when stale). Each call starts
   * with the next address, so that connections are spread over all of them.
   */
  resolve(hostname: string, done: Resolved): void {
    let name = this.names.get(hostname)
    if (name === undefined) {
      name = { addresses: [], freshUntilMs: 0, troubled: false, waiting: [], asking: false, turn: 0 }
      this.names.set(hostname, name)
    }
    if (name.addresses.length === 0) {
      name.waiting.push(done)
      this.ask(hostname, name)
      return
    }
    if (this.clock.nowMs() >= name.freshUntilMs) this.ask(hostname, name)
    done(null, rotate(name.addresses, name.turn++))
  }

  private ask(hostname: string, name: Name): void {
    if (name.asking) return
    name.asking = true
    const lane = name.troubled ? this.narrow : this.wide
    lane.run(left => {
      const startedMs = this.clock.nowMs()
      this.lookup(hostname, (error, addresses) => {
        left()
        const endedMs = this.clock.nowMs()
        name.asking = false
        name.troubled = error !== null || endedMs - startedMs > SLOW_MS
        name.freshUntilMs = endedMs + (error === null ? FRESH_MS : FAILED_REFRESH_MS)
        if (error === null) name.addresses = addresses
        answer(name, error)
      })
    })
  }
}

function answer(name: Name, error: NodeJS.ErrnoException | null): void {
  const waiting = name.waiting
  name.waiting = []
  for (const done of waiting) done(error, error === null ? rotate(name.addresses, name.turn++) : [])
}

/** Keeps the resolver's preference between the families and rotates within each. */
function rotate(addresses: readonly LookupAddress[], turn: number): readonly LookupAddress[] {
  if (addresses.length < 2) return addresses
  const preferred = addresses[0]?.family
  const first = addresses.filter(address => address.family === preferred)
  const second = addresses.filter(address => address.family !== preferred)
  return [...turned(first, turn), ...turned(second, turn)]
}

function turned<T>(list: readonly T[], turn: number): readonly T[] {
  const start = list.length === 0 ? 0 : turn % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}

/** At most `width` jobs at a time, first come first served. */
class LookupLane {
  private running = 0
  private readonly queue: ((left: () => void) => void)[] = []

  constructor(private readonly width: number) {}

  run(job: (left: () => void) => void): void {
    this.queue.push(job)
    this.next()
  }

  private next(): void {
    if (this.running >= this.width) return
    const job = this.queue.shift()
    if (job === undefined) return
    this.running++
    job(() => {
      this.running--
      this.next()
    })
  }
}

function getaddrinfo(name: string, done: Resolved): void {
  systemLookup(name, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []))
}
