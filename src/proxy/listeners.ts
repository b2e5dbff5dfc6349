import type { Clock } from '../clock/clock.js'
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import type { EventSink } from '../telemetry/events.js'
import type { ListenerStatus } from '../telemetry/status.js'
import { Dial, type Dialled, dialTarget } from './dial.js'
import { OwnPorts } from './own-ports.js'
import type { RequestHandler } from './request-handler.js'
import type { Resolver } from './resolver.js'
import { ProxyServer } from './server.js'
import type { TlsContexts } from './tls-context.js'

/** Answers that are on their way out get this long. */
const LAST_MOMENT_MS = 500

export interface ListenersOptions {
  /** Address of the shared port. */
  readonly listen: string
  /** Addresses of other ports of the sidecar: what they are by where they are. */
  readonly reserved?: Readonly<Record<string, string>>
  readonly pseudonym: string
  /** Of the app, to each address. */
  readonly maxConnections?: number | undefined
  /** Shared with the transport: names are looked up by few threads. */
  readonly resolver: Resolver
  readonly tls: TlsContexts
  readonly clock: Clock
}

/** The shared port and the own ports of upstreams; a reload opens and closes the latter. */
export class Listeners {
  readonly #options: ListenersOptions
  readonly #handler: RequestHandler
  readonly #sink: EventSink
  readonly #own: OwnPorts
  #shared: ProxyServer | null = null
  #draining = false

  constructor(options: ListenersOptions, handler: RequestHandler, sink: EventSink) {
    this.#options = options
    this.#handler = handler
    this.#sink = sink
    const create = (name: string, listen: string) => this.#server('upstream', name, listen)
    const reserved = { ...options.reserved, [options.listen]: 'shared port' }
    this.#own = new OwnPorts({ create, reserved, clock: options.clock, sink })
  }

  /** Binds everything or, on the first failure, nothing; rejects with `BindError`. Resolves with the shared addresses. */
  async start(snapshot: Snapshot): Promise<string[]> {
    try {
      this.#shared = this.#server('shared', null, this.#options.listen)
      const bound = await this.#shared.listen()
      await this.#own.start(snapshot)
      return bound
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** Opens added ports and lets removed ones run out. A port that cannot be bound is told; the others go on. */
  reconcile(snapshot: Snapshot): Promise<void> {
    return this.#own.reconcile(snapshot)
  }

  /** Of own ports, by upstream. */
  statuses(): ReadonlyMap<string, ListenerStatus> {
    return this.#own.statuses()
  }

  /** Why own ports are not open as they should be; waits for what is being done about it. */
  async failures(): Promise<string[]> {
    await this.#own.settled()
    return [...this.#own.statuses()].flatMap(([name, { error }]) => (error === null ? [] : [`${name}: ${error}`]))
  }

  set draining(on: boolean) {
    this.#draining = on
    for (const server of this.#all()) server.draining = on
  }

  /** Closes all; what is not done after a last moment is ended. */
  async close(): Promise<void> {
    await this.#own.end()
    const servers = [...this.#all()]
    for (const server of servers) server.destroyUpgraded()
    const closed = Promise.all(servers.map(server => server.close()))
    const tooLong = setTimeout(() => {
      for (const server of servers) server.destroyAll()
    }, LAST_MOMENT_MS)
    await closed
    clearTimeout(tooLong)
  }

  #server(role: 'shared' | 'upstream', upstreamName: string | null, listen: string): ProxyServer {
    const { pseudonym, maxConnections, resolver, tls, clock } = this.#options
    const options = { listen, role, upstreamName, pseudonym, maxConnections }
    const dial = (upstream: UpstreamSnapshot, timeoutMs: number, done: Dialled) =>
      new Dial(dialTarget(upstream, tls), resolver, clock, timeoutMs, done)
    const deps = { events: this.#sink, dial }
    const server = new ProxyServer(options, this.#handler, deps)
    server.draining = this.#draining
    return server
  }

  *#all(): Iterable<ProxyServer> {
    if (this.#shared !== null) yield this.#shared
    yield* this.#own.servers()
  }
}
