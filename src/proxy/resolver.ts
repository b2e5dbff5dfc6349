import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { Clock } from '../clock/clock.js'
import { directLookup } from './direct-lookup.js'

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
/** After this time a lookup is slow, ms: the name is asked for in the second way too, and waits its turn from now on. */
const SLOW_MS = 500
/** libuv gives `getaddrinfo` half of its four threads, for the whole process. */
const THREADS = 2
/** All names that were slow or failed share one of them, so that they cannot stall the healthy ones. */
const THREADS_FOR_TROUBLED = 1
/** RFC 6761 §6.3: no server need be asked. IPv4 first, which every container has. */
const LOOPBACK: readonly LookupAddress[] = Object.freeze([
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
])

interface Name {
  addresses: readonly LookupAddress[]
  freshUntilMs: number
  troubled: boolean
  waiting: Resolved[]
  asking: boolean
  turn: number
}

/**
 * Names to addresses, with the last good answer kept for as long as no better one comes. Dead names may hold both
 * threads for half a minute, and no lookup can be called off: a name that waits for long is asked for without a thread.
 */
export class Resolver {
  private readonly names = new Map<string, Name>()
  private readonly threads = new LookupThreads()

  /** `direct` is the second way: it needs no thread, and its failure means nothing. */
  constructor(
    private readonly clock: Clock,
    private readonly lookup: Lookup = getaddrinfo,
    private readonly direct: Lookup = directLookup(),
  ) {}

  /**
   * Calls back once, at once if the name is known (and refreshes it in the background when stale). Each call starts
   * with the next address, so that connections are spread over all of them.
   */
  resolve(hostname: string, done: Resolved): void {
    if (hostname === 'localhost' || hostname === 'localhost.') return done(null, LOOPBACK)
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
    if (name.asking) return this.refreshDirectly(hostname, name)
    name.asking = true
    const slow = this.clock.after(SLOW_MS, () => this.askDirectly(hostname, name))
    this.threads.run(name.troubled, left => {
      const startedMs = this.clock.nowMs()
      this.lookup(hostname, (error, addresses) => {
        left()
        slow.cancel()
        const endedMs = this.clock.nowMs()
        name.asking = false
        name.troubled = error !== null || endedMs - startedMs > SLOW_MS
        name.freshUntilMs = endedMs + (error === null ? FRESH_MS : FAILED_REFRESH_MS)
        if (error === null) name.addresses = addresses
        answer(name, error)
      })
    })
  }

  /** The question still waits for a thread, and what the second way found has grown old meanwhile. */
  private refreshDirectly(hostname: string, name: Name): void {
    if (name.addresses.length === 0) return
    name.freshUntilMs = this.clock.nowMs() + FAILED_REFRESH_MS
    this.askDirectly(hostname, name)
  }

  private askDirectly(hostname: string, name: Name): void {
    this.direct(hostname, (error, addresses) => {
      // The system's own answer counts for more.
      if (error !== null || !name.asking) return
      name.addresses = addresses
      name.freshUntilMs = this.clock.nowMs() + FRESH_MS
      answer(name, null)
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

type Job = (left: () => void) => void

/** The healthy first, and first come first served. */
class LookupThreads {
  private running = 0
  private runningTroubled = 0
  private readonly healthy: Job[] = []
  private readonly troubled: Job[] = []

  run(troubled: boolean, job: Job): void {
    if (troubled) this.troubled.push(job)
    else this.healthy.push(job)
    this.next()
  }

  private next(): void {
    if (this.running >= THREADS) return
    const healthy = this.healthy.shift()
    if (healthy !== undefined) return this.start(healthy, 0)
    if (this.runningTroubled >= THREADS_FOR_TROUBLED) return
    const troubled = this.troubled.shift()
    if (troubled !== undefined) this.start(troubled, 1)
  }

  private start(job: Job, troubled: 0 | 1): void {
    this.running++
    this.runningTroubled += troubled
    job(() => {
      this.running--
      this.runningTroubled -= troubled
      this.next()
    })
  }
}

function getaddrinfo(name: string, done: Resolved): void {
  systemLookup(name, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []))
}
