/** A listener for the app: the shared port, or the own port of one upstream. */
import { createServer, IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { ownAnswer } from '../pipeline/answers.js'
import type { AppListener, RequestAddress, UpgradeDecision, UpgradeRequest } from '../pipeline/ports.js'
import type { EventSink } from '../telemetry/events.js'
import { AppResponse } from './app-response.js'
import { type ClientError, judgeClientError } from './client-error.js'
import { NodeDownstream, type ServerState } from './downstream.js'
import type { ProxyDownstream } from './downstream-port.js'
import {
  BindError,
  bind,
  formatAddress,
  hostsOf,
  isMissingFamily,
  type ListenAddress,
  parseListenAddress,
} from './listen-address.js'
import { refuseSocket } from './refuse-socket.js'
import { readRequestHead } from './request-head.js'

export interface RequestHandler {
  /** Called while the request's head is being parsed; may answer at once. */
  handle(downstream: ProxyDownstream, address: RequestAddress): AppListener
  upgrade(request: UpgradeRequest, address: RequestAddress): UpgradeDecision
}

export interface ServerOptions {
  /** `host:port`; `localhost` binds both loopbacks; port 0 takes a free one. */
  readonly listen: string
  readonly role: 'shared' | 'upstream'
  /** Name of the upstream whose own port this is. */
  readonly upstreamName: string | null
  /** Name in `Via`. Default `forbear`. */
  readonly pseudonym?: string
  /** Default 16384. */
  readonly maxHeaderBytes?: number
  /** Time for the head of a request. Default 60000. */
  readonly headersTimeoutMs?: number
  /** How long an idle connection of the app is kept; longer than apps keep theirs. Default 610000. */
  readonly keepAliveTimeoutMs?: number
}

type AppServer = Server<typeof IncomingMessage, typeof AppResponse>

/** The last exchange of a connection, to know whether an answer is still due on it. */
interface AppSocket extends Socket {
  lastExchange?: NodeDownstream
  refused?: boolean
}

export class ProxyServer {
  readonly #options: ServerOptions
  readonly #maxHeaderBytes: number
  readonly #handler: RequestHandler
  readonly #events: EventSink
  readonly #state: ServerState
  readonly #sockets = new Set<Socket>()
  #servers: AppServer[] = []

  constructor(options: ServerOptions, handler: RequestHandler, events: EventSink) {
    this.#options = options
    this.#maxHeaderBytes = options.maxHeaderBytes ?? 16_384
    this.#handler = handler
    this.#events = events
    this.#state = { pseudonym: options.pseudonym ?? 'forbear', draining: false }
  }

  /** Open connections of the app. */
  get connections(): number {
    return this.#sockets.size
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
    const wanted = parseListenAddress(this.#options.listen)
    if (wanted === null) throw new BindError({ host: this.#options.listen, port: 0 }, 'not host:port')
    const bound: string[] = []
    let port = wanted.port
    for (const { host, optional } of hostsOf(wanted)) {
      const address = await this.#bindOne({ host, port }, optional)
      if (address === null) continue
      port = address.port
      bound.push(formatAddress(address))
    }
    for (const address of bound) {
      const { role, upstreamName } = this.#options
      this.#events.emit({ type: 'listening', role, upstream: upstreamName, address })
    }
    return bound
  }

  /** Accepts no more; resolves when every connection has ended. Idle ones are closed at once. */
  async close(): Promise<void> {
    const servers = this.#servers
    this.#state.draining = true
    this.closeIdle()
    this.#servers = []
    await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  }

  /** Closes connections on which nothing is going on. */
  closeIdle(): void {
    for (const server of this.#servers) server.closeIdleConnections()
    // Opened in advance and never used: Node waits for a head there.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  /** Ends every connection, whatever is going on. */
  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #bindOne(address: ListenAddress, optional: boolean): Promise<ListenAddress | null> {
    const server = this.#createServer()
    try {
      const bound = await bind(server, address)
      server.on('error', error => this.#warn('listener failed', error))
      this.#servers.push(server)
      return bound
    } catch (error) {
      if (optional && isMissingFamily(error)) return null
      await this.close()
      throw error
    }
  }

  #createServer(): AppServer {
    const headersTimeoutMs = this.#options.headersTimeoutMs ?? 60_000
    const server = createServer(
      {
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
      },
      (request, response) => this.#serve(request, response, false),
    )
    // Node drops fields beyond a number silently; the size limit is enough.
    server.maxHeadersCount = 0
    server.on('connection', socket => this.#connected(socket))
    server.on('checkContinue', (request, response) => this.#serve(request, response, true))
    server.on('checkExpectation', (_request, response: AppResponse) =>
      this.#refuse(response, 'The only expectation served is 100-continue.'),
    )
    server.on('connect', (_request, socket) => this.#refuseConnect(socket as AppSocket))
    server.on('clientError', (error, socket) => this.#clientError(error, socket as AppSocket))
    return server
  }

  #connected(socket: Socket): void {
    this.#sockets.add(socket)
    // Pipelined requests each listen for the close.
    socket.setMaxListeners(0)
    socket.on('error', ignore)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #serve(request: IncomingMessage, response: AppResponse, expectsContinue: boolean): void {
    const head = readRequestHead(request)
    if ('problem' in head) return this.#refuse(response, `The request is refused: ${head.problem}.`)
    const downstream = new NodeDownstream(request, response, head, this.#state, expectsContinue)
    const socket: AppSocket = request.socket
    socket.lastExchange = downstream
    const { authority, host, forbearUpstream } = head
    const address = { authority, host, forbearUpstream, upstreamName: this.#options.upstreamName }
    try {
      downstream.listener = this.#handler.handle(downstream, address)
    } catch (error) {
      this.#warn('request failed inside the sidecar', error as Error)
      downstream.destroy()
    }
  }

  #refuse(response: AppResponse, detail: string): void {
    const answer = ownAnswer('bad-request', { detail })
    // After a framing error the rest of the connection cannot be trusted.
    response.shouldKeepAlive = false
    response.answerWith(answer.status, answer.statusText, answer.headers, answer.body)
    this.#events.emit({ type: 'notice', level: 'warn', message: `request refused: ${detail}` })
  }

  #clientError(error: ClientError, socket: AppSocket): void {
    if (socket.refused === true) return
    socket.refused = true
    const { answer, notice } = judgeClientError(error, socket.bytesRead, this.#maxHeaderBytes)
    if (notice !== null) this.#events.emit(notice)
    const last = socket.lastExchange
    const withinRequest = last !== undefined && !last.requestComplete
    if (answer === null || (withinRequest && last.begun)) {
      socket.destroy()
      return
    }
    const refuse = () => refuseSocket(socket, ownAnswer(answer.reason, { detail: answer.detail }))
    if (withinRequest) refuse()
    else afterAnswers(socket, refuse)
  }

  #refuseConnect(socket: AppSocket): void {
    const detail = 'CONNECT is not served: call the sidecar with http://, the policy decides about TLS.'
    this.#events.emit({ type: 'notice', level: 'warn', message: `request refused: ${detail}` })
    afterAnswers(socket, () => refuseSocket(socket, ownAnswer('bad-request', { detail })))
  }

  #warn(message: string, error: Error): void {
    this.#events.emit({ type: 'notice', level: 'error', message, detail: { error: error.message } })
  }
}

/** Answers that are still due on a connection go first. */
function afterAnswers(socket: AppSocket, fn: () => void): void {
  if (socket.lastExchange === undefined) fn()
  else socket.lastExchange.afterSettled(fn)
}

function ignore(): void {}
