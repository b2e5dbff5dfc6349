import type { Clock, Timer } from '../clock/clock.js'
import type { Snapshot } from '../core/snapshot.js'
import type { EventSink } from '../telemetry/events.js'
import { readListenAddress } from './bind.js'
import type { ProxyServer } from './server.js'

/** A port that could not be bound is tried again after this long. */
const TRY_AGAIN_MS = 5000

interface OwnPort {
  readonly listen: string
  readonly server: ProxyServer
}

/** The own ports of upstreams, as the policies change: one change after another, and what works is kept. */
export class OwnPorts {
  readonly #create: (name: string, listen: string) => ProxyServer
  readonly #clock: Clock
  readonly #sink: EventSink
  readonly #bound = new Map<string, OwnPort>()
  /** Accept no more, and end with their last connection. */
  readonly #runningOut = new Set<ProxyServer>()
  /** What was told of a port that cannot be bound, by upstream; told once. */
  readonly #told = new Map<string, string>()
  #tail: Promise<void> = Promise.resolve()
  #again: Timer | null = null
  #closed = false

  constructor(create: (name: string, listen: string) => ProxyServer, clock: Clock, sink: EventSink) {
    this.#create = create
    this.#clock = clock
    this.#sink = sink
  }

  /** Those that run out included. */
  *servers(): Iterable<ProxyServer> {
    for (const { server } of this.#bound.values()) yield server
    yield* this.#runningOut
  }

  /** Binds all; rejects with the first `BindError`. */
  async start(snapshot: Snapshot): Promise<void> {
    for (const [name, listen] of wantedPorts(snapshot)) await this.#bind(name, listen)
  }

  /** Never rejects. A port that cannot be had is told, and tried again until it can or is wanted no more. */
  reconcile(snapshot: Snapshot): Promise<void> {
    this.#tail = this.#tail.then(() => this.#reconcile(snapshot))
    return this.#tail
  }

  /** Nothing is bound after it; resolves when none is being bound any more. */
  async end(): Promise<void> {
    this.#closed = true
    this.#again?.cancel()
    await this.#tail
  }

  async #reconcile(snapshot: Snapshot): Promise<void> {
    this.#again?.cancel()
    const wanted = wantedPorts(snapshot)
    for (const name of this.#bound.keys()) {
      if (!wanted.has(name) && !snapshot.invalid.has(name)) this.#letGo(name)
    }
    for (const name of this.#told.keys()) if (!wanted.has(name)) this.#told.delete(name)
    let failed = false
    for (const [name, listen] of wanted) failed = !(await this.#move(name, listen, wanted)) || failed
    if (failed && !this.#closed) this.#again = this.#clock.after(TRY_AGAIN_MS, () => void this.reconcile(snapshot))
  }

  /** The new port is bound before the old one is let go. `false` when it could not be. */
  async #move(name: string, listen: string, wanted: ReadonlyMap<string, string>): Promise<boolean> {
    const old = this.#bound.get(name)
    if (old?.listen === listen || this.#closed) return true
    this.#makeRoom(listen, wanted)
    try {
      await this.#bind(name, listen)
    } catch (error) {
      if (old !== undefined && !this.#bound.has(name)) await this.#bind(name, old.listen).catch(() => {})
      this.#tell(name, error as Error)
      return false
    }
    this.#told.delete(name)
    if (old !== undefined) this.#runOut(old.server)
    return true
  }

  /** Upstreams may change ports with each other, and one may change the host of its port. */
  #makeRoom(listen: string, wanted: ReadonlyMap<string, string>): void {
    const { port } = readListenAddress(listen)
    for (const [name, own] of this.#bound) {
      const stays = wanted.get(name) === own.listen
      if (!stays && port !== 0 && readListenAddress(own.listen).port === port) this.#letGo(name)
    }
  }

  async #bind(name: string, listen: string): Promise<void> {
    if (this.#closed) return
    const server = this.#create(name, listen)
    await server.listen()
    if (this.#closed) this.#runOut(server)
    else this.#bound.set(name, { listen, server })
  }

  #letGo(name: string): void {
    const own = this.#bound.get(name)
    this.#bound.delete(name)
    if (own !== undefined) this.#runOut(own.server)
  }

  #runOut(server: ProxyServer): void {
    if (this.#runningOut.has(server)) return
    this.#runningOut.add(server)
    void server.close().then(() => this.#runningOut.delete(server))
  }

  #tell(name: string, { message }: Error): void {
    if (this.#told.get(name) === message) return
    this.#told.set(name, message)
    const old = this.#bound.get(name)
    const meanwhile = old === undefined ? '' : `; ${old.listen} stays open meanwhile`
    this.#sink.emit({ type: 'notice', level: 'error', message: `${message}${meanwhile}`, detail: { upstream: name } })
  }
}

function wantedPorts(snapshot: Snapshot): Map<string, string> {
  const wanted = new Map<string, string>()
  for (const { name, listen } of snapshot.upstreams.values()) if (listen !== null) wanted.set(name, listen)
  return wanted
}
