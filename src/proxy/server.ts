/** A listener for the app: the shared port, or the own port of one upstream. */
import { createServer, IncomingMessage, maxHeaderSize, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventSink } from '../telemetry/events.js'
import { AppResponse } from './app-response.js'
import { type AppSocket, AppTraffic } from './app-traffic.js'
import { bindAll, boundAddress, readListenAddress } from './bind.js'
import { limitConnections } from './connection-limit.js'
import type { ServerState } from './downstream.js'
import type { RequestHandler } from './request-handler.js'
import type { TunnelDeps } from './tunnel.js'
import { UpgradeTunnels } from './upgrade.js'
import { DEFAULT_UPGRADE_TOKENS, givesUpConnection } from './upgrade-token.js'

/** For the head of a request on a connection that was made when the port was about to close. */
const FIRST_WORDS_MS = 100

/** Without a new connection: then none waits, since the first may have come too late for its own turn. */
const QUIET_TURNS = 2
/** As many as can wait (Node's backlog is 511); a port that is never quiet closes nevertheless. */
const MOST_TURNS = 600

export interface ServerOptions {
  /** `host:port`; `localhost` binds both loopbacks; port 0 takes a free one. */
  readonly listen: string
  readonly role: 'shared' | 'upstream'
  /** Name of the upstream whose own port this is. */
  readonly upstreamName: string | null
  /** Name in `Via`. Default `forbear`. */
  readonly pseudonym?: string
  /** Default: Node's limit, 16384 unless the process was started with `--max-http-header-size`. */
  readonly maxHeaderBytes?: number
  /** Time for the head of a request. Default 60000. */
  readonly headersTimeoutMs?: number
  /** How long an idle connection of the app is kept; longer than apps keep theirs. Default 610000. */
  readonly keepAliveTimeoutMs?: number
  /** Open connections of the app to each address; one more is closed at once. Default 10000. */
  readonly maxConnections?: number | undefined
  /** Upgrade tokens that are tunnelled, lower case. Default `websocket`. */
  readonly upgradeTokens?: readonly string[]
}

export interface ServerDeps {
  readonly events: EventSink
  /** Makes the connections of upgraded requests. */
  readonly dial: TunnelDeps['dial']
}

type AppServer = Server<typeof IncomingMessage, typeof AppResponse>

export class ProxyServer {
  readonly #options: ServerOptions
  readonly #events: EventSink
  readonly #state: ServerState
  readonly #tunnels: UpgradeTunnels
  readonly #traffic: AppTraffic
  readonly #upgradeTokens: readonly string[]
  readonly #maxHeaderBytes: number
  readonly #maxConnections: number
  readonly #sockets = new Set<Socket>()
  #accepted = 0
  #servers: AppServer[] = []
  #closed: Promise<unknown> | null = null

  constructor(options: ServerOptions, handler: RequestHandler, deps: ServerDeps) {
    this.#options = options
    this.#events = deps.events
    this.#upgradeTokens = options.upgradeTokens ?? DEFAULT_UPGRADE_TOKENS
    this.#maxHeaderBytes = options.maxHeaderBytes ?? maxHeaderSize
    this.#maxConnections = options.maxConnections ?? 10_000
    this.#state = { pseudonym: options.pseudonym ?? 'forbear', draining: false }
    this.#tunnels = new UpgradeTunnels({ ...deps, pseudonym: this.#state.pseudonym })
    const traffic = {
      upstreamName: options.upstreamName,
      maxHeaderBytes: this.#maxHeaderBytes,
      upgradeTokens: this.#upgradeTokens,
    }
    this.#traffic = new AppTraffic(traffic, this.#state, handler, deps.events, this.#tunnels)
  }

  /** Open connections of the app, upgraded ones included. */
  get connections(): number {
    return this.#sockets.size
  }

  /** Tunnels, their handshakes included. */
  get upgraded(): number {
    return this.#tunnels.size
  }

  get draining(): boolean {
    return this.#state.draining
  }

  /** While set, every answer asks the app to close its connection. */
  set draining(on: boolean) {
    this.#state.draining = on
  }

  /** Binds and says where; rejects with `BindError` and then holds nothing. */
  async listen(): Promise<string[]> {
    this.#servers = await bindAll(
      readListenAddress(this.#options.listen),
      () => this.#createServer(),
      error => this.#listenerFailed(error),
    )
    const bound = this.#servers.map(boundAddress)
    const { role, upstreamName } = this.#options
    for (const address of bound) this.#events.emit({ type: 'listening', role, upstream: upstreamName, address })
    return bound
  }

  /** Accepts no more and resolves when every connection has ended. Idle ones are closed at once, busy ones after their answer. */
  close(): Promise<unknown> {
    this.#state.draining = true
    this.closeIdle()
    return this.#stop()
  }

  /**
   * As `close`, but whoever the system has connected already is served: they are accepted first, and have a moment to
   * send their request. `stopped`: accepts no more.
   */
  runOut(): { readonly stopped: Promise<void>; readonly ended: Promise<unknown> } {
    this.#state.draining = true
    const stopped = this.#acceptWaiting()
    const ended = stopped.then(() => {
      setTimeout(() => this.closeIdle(), FIRST_WORDS_MS).unref()
      return this.#stop()
    })
    return { stopped, ended }
  }

  /** Closes connections on which nothing is going on. */
  closeIdle(): void {
    for (const server of this.#servers) server.closeIdleConnections()
    // Opened in advance and never used: Node waits for a head there.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  /** Ends the tunnels, which know no end of their own. */
  destroyUpgraded(): void {
    this.#tunnels.destroyAll()
  }

  /** Ends every connection, whatever is going on. */
  destroyAll(): void {
    this.#tunnels.destroyAll()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** A turn of the loop accepts one of those who wait. */
  async #acceptWaiting(): Promise<void> {
    let quiet = 0
    for (let turn = 0; turn < MOST_TURNS && quiet < QUIET_TURNS; turn++) {
      const before = this.#accepted
      await nextTurn()
      quiet = this.#accepted === before ? quiet + 1 : 0
    }
  }

  #stop(): Promise<unknown> {
    this.#closed ??= Promise.all(this.#servers.map(server => new Promise(resolve => server.close(resolve))))
    return this.#closed
  }

  #createServer(): AppServer {
    const headersTimeoutMs = this.#options.headersTimeoutMs ?? 60_000
    const options = {
      IncomingMessage,
      ServerResponse: AppResponse,
      maxHeaderSize: this.#maxHeaderBytes,
      requestTimeout: 0,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: Math.min(headersTimeoutMs, 30_000),
      keepAliveTimeout: this.#options.keepAliveTimeoutMs ?? 610_000,
      insecureHTTPParser: false,
      // A missing Host gets our own answer.
      requireHostHeader: false,
      noDelay: true,
      shouldUpgradeCallback: (request: IncomingMessage) => givesUpConnection(request, this.#upgradeTokens),
    }
    const traffic = this.#traffic
    const server: AppServer = createServer(options, (request, response) => traffic.request(request, response, false))
    limitConnections(server, this.#maxConnections, refused => this.#tellRefused(refused))
    // Else Node ends a connection whose app has ended its side, answered or not.
    Object.assign(server, { httpAllowHalfOpen: true })
    // Node drops fields beyond a number silently; the size limit is enough.
    server.maxHeadersCount = 0
    server.on('connection', (socket: Socket) => this.#connected(socket))
    server.on('checkContinue', (request, response) => traffic.request(request, response, true))
    server.on('checkExpectation', (_request, response) =>
      traffic.refuse(response, 'The only expectation served is 100-continue.'),
    )
    server.on('connect', (request, socket, head) => traffic.connect(request, socket as AppSocket, head))
    server.on('clientError', (error, socket) => traffic.clientError(error, socket as AppSocket))
    server.on('upgrade', (request, socket, head) =>
      traffic.upgrade(request, socket as AppSocket, head, again => server.emit('connection', again)),
    )
    return server
  }

  #connected(socket: Socket): void {
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    this.#accepted += 1
    socket.on('error', ignore)
    socket.on('end', () => this.#traffic.ended(socket))
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #tellRefused(refused: number): void {
    const { role, upstreamName: upstream } = this.#options
    const message = `connections of the app are refused: ${this.#maxConnections} are open (--max-connections)`
    this.#events.emit({ type: 'notice', level: 'warn', message, detail: { role, upstream, refused } })
  }

  #listenerFailed(error: Error): void {
    this.#events.emit({ type: 'notice', level: 'error', message: 'listener failed', detail: { error: error.message } })
  }
}

function ignore(): void {}
