import type { Snapshot, TlsSettings } from '../core/snapshot.js'
import type { EventSink } from '../telemetry/events.js'
import type { RequestHandler } from './request-handler.js'
import { lookupBy, type Resolver } from './resolver.js'
import { ProxyServer } from './server.js'
import type { TlsContexts } from './tls-context.js'

/** Answers that are on their way out get this long. */
const LAST_MOMENT_MS = 500

export interface ListenersOptions {
  /** Address of the shared port. */
  readonly listen: string
  readonly pseudonym: string
  /** Shared with the transport: names are looked up by few threads. */
  readonly resolver: Resolver
  readonly tls: TlsContexts
}

/** The shared port and the own ports of upstreams; a reload opens and closes the latter. */
export class Listeners {
  readonly #options: ListenersOptions
  readonly #handler: RequestHandler
  readonly #sink: EventSink
  readonly #own = new Map<string, { readonly listen: string; readonly server: ProxyServer }>()
  #shared: ProxyServer | null = null
  #draining = false

  constructor(options: ListenersOptions, handler: RequestHandler, sink: EventSink) {
    this.#options = options
    this.#handler = handler
    this.#sink = sink
  }

  /** Binds everything or, on the first failure, nothing; rejects with `BindError`. Resolves with the shared addresses. */
  async start(snapshot: Snapshot): Promise<string[]> {
    try {
      this.#shared = this.#server('shared', null, this.#options.listen)
      const bound = await this.#shared.listen()
      for (const { name, listen } of snapshot.upstreams.values()) if (listen !== null) await this.#open(name, listen)
      return bound
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** Opens added ports and lets removed ones run out. A port that cannot be bound is told; the others go on. */
  async reconcile(snapshot: Snapshot): Promise<void> {
    for (const [name, { listen, server }] of this.#own) {
      if (snapshot.invalid.has(name) || snapshot.upstreams.get(name)?.listen === listen) continue
      this.#own.delete(name)
      void server.close()
    }
    for (const { name, listen } of snapshot.upstreams.values()) {
      if (listen === null || this.#own.has(name)) continue
      await this.#open(name, listen).catch((error: Error) => {
        this.#sink.emit({ type: 'notice', level: 'error', message: error.message, detail: { upstream: name } })
      })
    }
  }

  set draining(on: boolean) {
    this.#draining = on
    for (const server of this.#all()) server.draining = on
  }

  /** Closes all; what is not done after a last moment is ended. */
  async close(): Promise<void> {
    const servers = [...this.#all()]
    this.#own.clear()
    for (const server of servers) server.destroyUpgraded()
    const closed = Promise.all(servers.map(server => server.close()))
    const tooLong = setTimeout(() => {
      for (const server of servers) server.destroyAll()
    }, LAST_MOMENT_MS)
    await closed
    clearTimeout(tooLong)
  }

  async #open(name: string, listen: string): Promise<void> {
    const server = this.#server('upstream', name, listen)
    this.#own.set(name, { listen, server })
    try {
      await server.listen()
    } catch (error) {
      this.#own.delete(name)
      throw error
    }
  }

  #server(role: 'shared' | 'upstream', upstreamName: string | null, listen: string): ProxyServer {
    const { pseudonym, resolver, tls } = this.#options
    const options = { listen, role, upstreamName, pseudonym }
    const loadTls = (settings: TlsSettings) => tls.of(settings).context()
    const deps = { events: this.#sink, loadTls, lookup: lookupBy(resolver) }
    const server = new ProxyServer(options, this.#handler, deps)
    server.draining = this.#draining
    return server
  }

  *#all(): Iterable<ProxyServer> {
    if (this.#shared !== null) yield this.#shared
    for (const { server } of this.#own.values()) yield server
  }
}
