/** What comes in on the app's connections: requests, handshakes, noise. Everything but sound requests is answered here. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { OwnReason } from '../core/reasons.js'
import { ownAnswer, ownStatus } from '../pipeline/answers.js'
import type { RequestAddress } from '../pipeline/ports.js'
import type { EventSink, Notice } from '../telemetry/events.js'
import type { AppResponse } from './app-response.js'
import { type ClientError, judgeClientError } from './client-error.js'
import { ConnectDownstream } from './connect-downstream.js'
import { readConnectHead } from './connect-head.js'
import { NodeDownstream, type ServerState } from './downstream.js'
import { watchHalfClosed } from './half-closed.js'
import { refuseSocket } from './refuse-socket.js'
import type { RequestHandler } from './request-handler.js'
import { type BadHead, type RequestHead, readRequestHead } from './request-head.js'
import type { UpgradeTunnels } from './upgrade.js'
import { headWithoutUpgrade, tunnelToken } from './upgrade-token.js'

/** A connection of the app. */
export interface AppSocket extends Socket {
  /** To know whether an answer is still due. */
  lastRequest?: NodeDownstream
  /** What `lastRequest` had to wait for, if it came before its turn. */
  earlierRequest?: NodeDownstream
  /** Whose turn it is, or was last. */
  current?: NodeDownstream
  /** Pipelined requests whose turn has not come. */
  waiting?: number
  /** It sent something that cannot be trusted, has its answer, and will be closed. */
  refused?: boolean
}

export interface TrafficOptions {
  readonly upstreamName: string | null
  readonly maxHeaderBytes: number
  readonly upgradeTokens: readonly string[]
}

/** With more than these, no more is read of a connection; nor is it seen then that the app leaves. */
const MAX_WAITING = 100

const NO_TUNNEL_HERE: BadHead = Object.freeze({
  problem: 'CONNECT is served on the shared port only; call this port with http://, the policy decides about TLS',
})

export class AppTraffic {
  constructor(
    private readonly options: TrafficOptions,
    private readonly state: ServerState,
    private readonly handler: RequestHandler,
    private readonly events: EventSink,
    private readonly tunnels: UpgradeTunnels,
  ) {}

  request(request: IncomingMessage, response: AppResponse, expectsContinue: boolean): void {
    const socket: AppSocket = request.socket
    // Whatever is behind a refused request is not one.
    if (socket.refused === true) return
    const head = readRequestHead(request)
    if ('problem' in head) return this.refuse(response, `The request is refused: ${head.problem}.`)
    const downstream = new NodeDownstream(request, response, head, this.state, expectsContinue)
    const earlier = socket.lastRequest
    socket.lastRequest = downstream
    if (earlier === undefined || earlier.settled) this.begin(downstream, head, socket)
    else this.awaitTurn(earlier, downstream, head, socket)
  }

  /** RFC 9112 §9.3.2: what is pipelined behind an unsafe request must not overtake it, nor go on when it fails. */
  private awaitTurn(earlier: NodeDownstream, downstream: NodeDownstream, head: RequestHead, socket: AppSocket): void {
    socket.earlierRequest = earlier
    const waiting = (socket.waiting ?? 0) + 1
    socket.waiting = waiting
    if (waiting > MAX_WAITING) socket.pause()
    earlier.afterSettled(() => {
      socket.waiting = (socket.waiting ?? 1) - 1
      if (socket.waiting === MAX_WAITING) socket.resume()
      this.begin(downstream, head, socket)
    })
  }

  private begin(downstream: NodeDownstream, head: RequestHead, socket: AppSocket): void {
    // The app has left meanwhile, or the answer before this one was the connection's last.
    if (downstream.settled || socket.destroyed || socket.writableEnded) return
    socket.current = downstream
    // It ended its side while this one waited.
    if (socket.readableEnded) watchHalfClosed(socket, downstream)
    try {
      downstream.listener = this.handler.handle(downstream, this.addressOf(head))
    } catch (error) {
      this.failed(error)
      downstream.destroy()
    }
  }

  refuse(response: AppResponse, detail: string): void {
    const socket: AppSocket = response.req.socket
    if (socket.refused === true) return
    const answer = ownAnswer('bad-request', { detail })
    // After a framing error the rest of the connection cannot be trusted; the parser may yet stumble over it too.
    socket.refused = true
    response.shouldKeepAlive = false
    response.answerWith(answer.status, answer.statusText, answer.headers, answer.body)
    this.refused(detail)
  }

  connect(request: IncomingMessage, socket: AppSocket, rest: Buffer): void {
    if (socket.refused === true) return
    afterAnswer(socket.lastRequest, () => {
      if (socket.destroyed || socket.writableEnded) return
      const head = this.options.upstreamName === null ? readConnectHead(request) : NO_TUNNEL_HERE
      if ('problem' in head) return this.refuseOn(socket, head.problem)
      const downstream = new ConnectDownstream(request, socket, rest, head.authority)
      this.tunnels.track(downstream, socket)
      try {
        const address = { authority: head.authority, host: undefined, forbearUpstream: undefined, upstreamName: null }
        downstream.listener = this.handler.handle(downstream, address)
      } catch (error) {
        this.failed(error)
        downstream.destroy()
      }
    })
  }

  /** The app has ended its side. What it sent whole gets its answer. */
  ended(socket: AppSocket): void {
    const { current, lastRequest } = socket
    if (current === undefined || lastRequest?.requestComplete !== true) return
    // Within an answer nothing can be asked: most who end there have left.
    if (current.begun && !current.settled) socket.end()
    else watchHalfClosed(socket, current)
  }

  clientError(error: ClientError, socket: AppSocket): void {
    if (socket.refused === true) return
    socket.refused = true
    const { answer, notice } = judgeClientError(error, socket.bytesRead, this.options.maxHeaderBytes)
    if (notice !== null) this.tell(notice, answer?.reason ?? 'bad-request')
    const last = socket.lastRequest
    const withinRequest = last !== undefined && !last.requestComplete
    if (answer === null || (withinRequest && last.begun)) {
      socket.destroy()
      return
    }
    const before = withinRequest ? socket.earlierRequest : last
    afterAnswer(before, () => refuseSocket(socket, ownAnswer(answer.reason, { detail: answer.detail })))
  }

  /** `again` parses the connection anew. */
  upgrade(request: IncomingMessage, socket: AppSocket, head: Buffer, again: (socket: AppSocket) => void): void {
    if (socket.refused === true) return
    afterAnswer(socket.lastRequest, () => {
      if (socket.destroyed || socket.writableEnded) return
      const token = tunnelToken(request, this.options.upgradeTokens)
      if (token !== null) return this.handshake(request, socket, head, token)
      socket.unshift(Buffer.concat([Buffer.from(headWithoutUpgrade(request), 'latin1'), head]))
      again(socket)
    })
  }

  private handshake(request: IncomingMessage, socket: AppSocket, rest: Buffer, token: string): void {
    const head = readRequestHead(request)
    const problem = 'problem' in head ? head.problem : head.hasBody ? 'an Upgrade request cannot have a body' : null
    if ('problem' in head || problem !== null) return this.refuseOn(socket, problem)
    const asked = { method: request.method ?? 'GET', path: head.path, headers: request.rawHeaders }
    try {
      const decision = this.handler.upgrade(asked, this.addressOf(head))
      if (decision.proceed) this.tunnels.open(request, socket, rest, token, decision)
      else refuseSocket(socket, decision.answer)
    } catch (error) {
      this.failed(error)
      socket.destroy()
    }
  }

  private refuseOn(socket: AppSocket, problem: string | null): void {
    const detail = `The request is refused: ${problem}.`
    this.refused(detail)
    refuseSocket(socket, ownAnswer('bad-request', { detail }))
  }

  private addressOf(head: RequestHead): RequestAddress {
    const { authority, host, forbearUpstream } = head
    return { authority, host, forbearUpstream, upstreamName: this.options.upstreamName }
  }

  private refused(detail: string): void {
    const message = `request refused: ${detail}`
    this.tell({ type: 'notice', level: 'warn', message, detail: { reason: 'bad-request' } }, 'bad-request')
  }

  private tell(notice: Notice, reason: OwnReason): void {
    const refused = { upstream: this.options.upstreamName, reason, status: ownStatus(reason) }
    this.events.emit({ ...notice, refused })
  }

  private failed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error)
    this.events.emit({
      type: 'notice',
      level: 'error',
      message: 'request failed inside the sidecar',
      detail: { error: text },
    })
  }
}

/** Answers that are still due on a connection go first. */
function afterAnswer(request: NodeDownstream | undefined, fn: () => void): void {
  if (request === undefined) fn()
  else request.afterSettled(fn)
}
