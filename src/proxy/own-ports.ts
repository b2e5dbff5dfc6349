import type { Clock, Timer } from '../clock/clock.js'
import { overlap } from '../core/listen-address.js'
import type { Snapshot } from '../core/snapshot.js'
import type { EventSink } from '../telemetry/events.js'
import type { ListenerStatus } from '../telemetry/status.js'
import { BindError, readListenAddress } from './bind.js'
import type { ProxyServer } from './server.js'

/** A port that could not be bound is tried again after this long. */
const TRY_AGAIN_MS = 5000

interface OwnPort {
  readonly listen: string
  readonly server: ProxyServer
}

export interface OwnPortsDeps {
  readonly create: (name: string, listen: string) => ProxyServer
  /** What the sidecar itself has an address for, and why: `admin port`. */
  readonly reserved: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly sink: EventSink
}

/** The own ports of upstreams, as the policies change: one change after another, and what works is kept. */
export class OwnPorts {
  readonly #deps: OwnPortsDeps
  readonly #bound = new Map<string, OwnPort>()
  /** Accept no more, and end with their last connection. */
  readonly #runningOut = new Set<ProxyServer>()
  /** Ports that cannot be bound, by upstream, and why; told once. */
  readonly #failed = new Map<string, { readonly address: string; readonly error: string }>()
  #tail: Promise<void> = Promise.resolve()
  #again: Timer | null = null
  #closed = false

  constructor(deps: OwnPortsDeps) {
    this.#deps = deps
  }

  /** Those that run out included. */
  *servers(): Iterable<ProxyServer> {
    for (const { server } of this.#bound.values()) yield server
    yield* this.#runningOut
  }

  /** By upstream; what is not bound yet is not there. */
  statuses(): Map<string, ListenerStatus> {
    const open = [...this.#bound].map(
      ([name, { listen }]) => [name, { address: listen, state: 'open', error: null }] as const,
    )
    const failed = [...this.#failed].map(([name, failure]) => [name, { ...failure, state: 'failed' }] as const)
    return new Map<string, ListenerStatus>([...open, ...failed])
  }

  /** Binds all; rejects with the first `BindError` for an upstream that has a policy. */
  async start(snapshot: Snapshot): Promise<void> {
    for (const { name, listen } of snapshot.upstreams.values()) if (listen !== null) await this.#bind(name, listen)
    if (snapshot.invalid.size > 0) await this.reconcile(snapshot)
  }

  /** Resolves when all that was asked for is done, or has failed. */
  settled(): Promise<void> {
    return this.#tail
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
      if (!wanted.has(name) && !snapshot.invalid.has(name)) await this.#letGo(name)
    }
    for (const name of this.#failed.keys()) if (!wanted.has(name)) this.#failed.delete(name)
    let failed = false
    for (const [name, listen] of wanted) failed = !(await this.#move(name, listen, wanted)) || failed
    if (failed && !this.#closed) this.#again = this.#deps.clock.after(TRY_AGAIN_MS, () => void this.reconcile(snapshot))
  }

  /** The new port is bound before the old one is let go. `false` when it could not be. */
  async #move(name: string, listen: string, wanted: ReadonlyMap<string, string>): Promise<boolean> {
    const old = this.#bound.get(name)
    if (old?.listen === listen) this.#failed.delete(name)
    if (old?.listen === listen || this.#closed) return true
    await this.#makeRoom(listen, wanted)
    try {
      await this.#bind(name, listen)
    } catch (error) {
      if (old !== undefined && !this.#bound.has(name)) await this.#bind(name, old.listen).catch(() => {})
      this.#tell(name, listen, error as Error)
      return false
    }
    this.#failed.delete(name)
    if (old !== undefined) await this.#runOut(name, old)
    return true
  }

  /**
   * Upstreams may change ports with each other, and one may change the host of its port: what is in the way is closed
   * first, since two sockets share a port only with SO_REUSEPORT, by which a second sidecar could take it as well.
   */
  async #makeRoom(listen: string, wanted: ReadonlyMap<string, string>): Promise<void> {
    const address = readListenAddress(listen)
    for (const [name, own] of this.#bound) {
      const stays = wanted.get(name) === own.listen
      if (!stays && overlap(address, readListenAddress(own.listen))) await this.#letGo(name)
    }
  }

  async #bind(name: string, listen: string): Promise<void> {
    if (this.#closed) return
    const server = this.#deps.create(name, listen)
    await server.listen().catch((error: unknown) => {
      throw this.#explained(error, listen)
    })
    const own = { listen, server }
    if (this.#closed) await this.#runOut(name, own)
    else this.#bound.set(name, own)
  }

  /** Whose port it is, if it is one of ours. */
  #explained(error: unknown, listen: string): unknown {
    if (!(error instanceof BindError) || error.code !== 'EADDRINUSE') return error
    const address = readListenAddress(listen)
    const [, role] =
      Object.entries(this.#deps.reserved).find(([other]) => overlap(address, readListenAddress(other))) ?? []
    if (role === undefined) return error
    return new BindError(
      `cannot listen on ${listen}: this is the ${role} of forbear itself; choose another port`,
      error.code,
    )
  }

  async #letGo(name: string): Promise<void> {
    const own = this.#bound.get(name)
    this.#bound.delete(name)
    if (own !== undefined) await this.#runOut(name, own)
  }

  /** Resolves when it accepts no more. */
  async #runOut(upstream: string, { listen, server }: OwnPort): Promise<void> {
    if (this.#runningOut.has(server)) return
    this.#runningOut.add(server)
    const { stopped, ended } = server.runOut()
    void ended.then(() => this.#runningOut.delete(server))
    await stopped
    this.#deps.sink.emit({ type: 'not-listening', role: 'upstream', upstream, address: listen, error: null })
  }

  #tell(upstream: string, address: string, { message }: Error): void {
    const old = this.#bound.get(upstream)
    const error = old === undefined ? message : `${message}; ${old.listen} stays open meanwhile`
    const told = this.#failed.get(upstream)
    this.#failed.set(upstream, { address, error })
    if (told?.error !== error)
      this.#deps.sink.emit({ type: 'not-listening', role: 'upstream', upstream, address, error })
  }
}

/** Of an upstream without a policy as well, unless one with a policy wants it. */
function wantedPorts({ upstreams, invalid }: Snapshot): Map<string, string> {
  const wanted = new Map<string, string>()
  for (const { name, listen } of upstreams.values()) if (listen !== null) wanted.set(name, listen)
  const taken = new Set(wanted.values())
  for (const [name, { listen }] of invalid) {
    if (listen === null || taken.has(listen)) continue
    taken.add(listen)
    wanted.set(name, listen)
  }
  return wanted
}
