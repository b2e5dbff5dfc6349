/**
 * One tunnelled session. http-proxy makes the upstream request and joins the sockets; what it gets wrong is done
 * here: the path and fields byte for byte, clocks, refused handshakes, and the death of either side.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ProxyServer as HttpProxy } from 'http-proxy'
import { MAX_DELAY_MS } from '../clock/system-clock.js'
import { viaEntry } from '../core/layers.js'
import type { UpstreamSnapshot } from '../core/snapshot.js'
import { ownAnswer } from '../pipeline/answers.js'
import type { UpgradeGranted } from '../pipeline/upgrade-ports.js'
import type { EventSink } from '../telemetry/events.js'
import type { Dialled } from './dial.js'
import { DialAgent } from './dial-agent.js'
import { CodedError, codeOf, connectKind, INVALID_STATUS } from './failure.js'
import { forwardResponseHeaders } from './headers.js'
import { answerText } from './refuse-socket.js'
import { relayRefusal } from './relay-refusal.js'
import { TunnelCount } from './tunnel-count.js'
import { headersOf, upstreamHandshakeFields } from './tunnel-fields.js'

export interface TunnelDeps {
  readonly events: EventSink
  /** Name in `Via`. */
  readonly pseudonym: string
  /** Makes a connection to an upstream, TLS included. */
  readonly dial: (upstream: UpstreamSnapshot, timeoutMs: number, done: Dialled) => { cancel(): void }
}

type Stage = 'connecting' | 'waiting' | 'refused' | 'open' | 'over'

export class Tunnel {
  #stage: Stage = 'connecting'
  #dial: { cancel(): void } | null = null
  #upstreamRequest: ClientRequest | null = null
  #upstreamSocket: Socket | null = null
  #timer: NodeJS.Timeout | null = null
  #early: Buffer[] = []
  /** Those that came behind the handshake included: the library hands them back to the socket. */
  #earlyBytes = 0
  #count: TunnelCount | null = null
  #noticed = false

  constructor(
    private readonly request: IncomingMessage,
    private readonly socket: Socket,
    private readonly token: string,
    private readonly granted: UpgradeGranted,
    private readonly deps: TunnelDeps,
  ) {
    socket.on('error', error => this.#broken('app', error))
    socket.on('close', () => this.#appClosed())
  }

  /** `head` = bytes that came after the handshake. */
  start(proxy: HttpProxy, head: Buffer): void {
    if (this.#stage === 'over') return
    const rawHeaders = this.request.rawHeaders
    // The library parses and rewrites what it finds here; the real path and fields are set in `#shape`.
    this.request.url = '/'
    this.request.headers = { connection: 'upgrade', upgrade: 'websocket' }
    proxy.on('error', ignore)
    proxy.once('proxyReqWs', upstreamRequest => this.#shape(upstreamRequest, rawHeaders))
    // The agent knows where to; TLS, if any, is done when the request gets its socket.
    const options = { target: { protocol: 'http:', host: 'upstream', port: 80 }, agent: this.#agent() }
    proxy.ws(this.request, this.socket, head, options, error => this.#upstreamFailed(error))
    this.#takeOverAnswers()
    // Reading shows at once that the app has left.
    this.socket.on('data', this.#keepEarly)
    this.socket.on('end', this.#leftEarly)
  }

  destroy(): void {
    this.#dial?.cancel()
    this.#upstreamRequest?.destroy()
    this.#upstreamSocket?.destroy()
    this.socket.destroy()
  }

  #shape(upstreamRequest: ClientRequest, rawHeaders: readonly string[]): void {
    this.#upstreamRequest = upstreamRequest
    upstreamRequest.path = this.granted.upstream.target.basePath + this.granted.path
    for (const name of upstreamRequest.getHeaderNames()) upstreamRequest.removeHeader(name)
    const via = viaEntry(this.request.httpVersion, this.deps.pseudonym)
    const fields = upstreamHandshakeFields(rawHeaders, this.granted, this.token, via)
    for (const [name, value] of Object.entries(fields)) upstreamRequest.setHeader(name, value)
  }

  #agent(): DialAgent {
    const { upstream, connectTimeoutMs } = this.granted
    return new DialAgent(done => {
      this.#dial = this.deps.dial(upstream, connectTimeoutMs, (error, socket) => {
        if (error === null) this.#connected()
        done(error, socket)
      })
    })
  }

  /** The library joins the sockets, but only after the answer has been judged, and when both have an error handler. */
  #takeOverAnswers(): void {
    const upstreamRequest = this.#upstreamRequest
    if (upstreamRequest === null) return
    const join = upstreamRequest.listeners('upgrade')
    upstreamRequest.removeAllListeners('upgrade').removeAllListeners('response')
    upstreamRequest.on('upgrade', (response, upstreamSocket, head) => {
      if (!this.#open(response, upstreamSocket)) return
      for (const listener of join) listener.call(upstreamRequest, response, upstreamSocket, head)
      this.#count = new TunnelCount(this.socket, this.#earlyBytes)
    })
    upstreamRequest.on('response', response => this.#refused(response))
  }

  #connected(): void {
    if (this.#stage !== 'connecting') return
    this.#stage = 'waiting'
    this.#armTimer(this.granted.handshakeTimeoutMs, () =>
      this.#fail('timeout', new CodedError('ATTEMPT_TIMEOUT', 'no response head in time')),
    )
  }

  /** `false` = the sockets stay apart. */
  #open(response: IncomingMessage, upstreamSocket: Socket): boolean {
    this.#upstreamSocket = upstreamSocket
    upstreamSocket.on('error', error => this.#broken('upstream', error))
    upstreamSocket.on('close', () => this.socket.destroySoon())
    if (response.headers.upgrade?.toLowerCase() !== this.token.toLowerCase()) this.#notAsked()
    if (!this.#settleHandshake('open')) {
      upstreamSocket.destroy()
      return false
    }
    this.socket.pause()
    if (this.#early.length > 0) this.socket.unshift(Buffer.concat(this.#early))
    this.#early = []
    const fields = forwardResponseHeaders(response.rawHeaders, this.#via, { length: 'keep', canChunk: false })
    response.headers = headersOf([...fields, 'Connection', 'Upgrade', 'Upgrade', this.token, ...this.granted.extra])
    this.granted.onOutcome({ kind: 'response', status: response.statusCode ?? 0 })
    return true
  }

  /** RFC 9110 §7.8: a server may switch only to a protocol that was offered; only one was. */
  #notAsked(): void {
    this.#fail('bad-response', new CodedError('INVALID_UPGRADE', 'a switch to a protocol that was not asked for'))
  }

  #refused(response: IncomingMessage): void {
    const status = response.statusCode ?? 0
    if (status < 100) {
      response.destroy()
      return this.#fail('bad-response', new CodedError(INVALID_STATUS, `the status ${status}`))
    }
    // It names no protocol, else it would be an upgrade.
    if (status === 101) this.#notAsked()
    if (!this.#settleHandshake('refused')) {
      response.destroy()
      return
    }
    this.granted.onOutcome({ kind: 'response', status })
    relayRefusal(this.request, this.socket, response, this.#via, this.granted.extra)
  }

  /** The library closes the app's socket after this. */
  #upstreamFailed(error: Error): void {
    const code = codeOf(error)
    if (this.#stage === 'open') this.#broken('upstream', error)
    else
      this.#fail(
        code.startsWith('HPE_') ? 'bad-response' : this.#stage === 'connecting' ? connectKind(code) : 'reset',
        error,
      )
  }

  #fail(kind: 'connect' | 'overloaded' | 'reset' | 'bad-response' | 'timeout', error: Error): void {
    if (!this.#settleHandshake('refused')) return
    this.granted.onOutcome({ kind, code: codeOf(error) })
    this.#notice('upgrade failed', kind, codeOf(error))
    const reason = kind === 'timeout' ? 'attempt-timeout' : kind
    const answer = ownAnswer(reason, { upstream: this.granted.upstream.name, attempts: 1 })
    if (!this.socket.destroyed) this.socket.end(answerText(answer), 'latin1', () => this.socket.destroySoon())
    this.#upstreamRequest?.destroy()
  }

  #broken(side: 'app' | 'upstream', error: Error): void {
    if (this.#stage === 'open') this.#notice('tunnel broken', side, codeOf(error))
    if (this.#stage === 'open' && side === 'upstream') this.socket.destroySoon()
  }

  #appClosed(): void {
    if (this.#stage === 'over') return
    if (this.#settleHandshake('refused')) this.granted.onOutcome({ kind: 'aborted', code: 'APP_ABORTED' })
    this.#stage = 'over'
    this.#dial?.cancel()
    this.#upstreamRequest?.destroy()
    this.#upstreamSocket?.destroySoon()
    this.granted.onClosed(this.#count?.bytes ?? NOTHING)
  }

  /** `true` for the first of the ways in which a handshake can end. */
  #settleHandshake(next: 'refused' | 'open'): boolean {
    if (this.#stage !== 'connecting' && this.#stage !== 'waiting') return false
    this.#stage = next
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.socket.off('data', this.#keepEarly).off('end', this.#leftEarly)
    if (next === 'refused') this.socket.resume()
    return true
  }

  #keepEarly = (chunk: Buffer): void => {
    this.#early.push(chunk)
    this.#earlyBytes += chunk.length
    // Nothing may be sent before the 101, so this is a few bytes at most.
    if (this.#early.length > 16) this.socket.pause()
  }

  #leftEarly = (): void => {
    this.socket.destroy()
  }

  #armTimer(delayMs: number, fn: () => void): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = delayMs > MAX_DELAY_MS ? null : setTimeout(fn, delayMs)
  }

  /** One line per session. */
  #notice(message: string, what: string, code: string): void {
    if (this.#noticed) return
    this.#noticed = true
    const detail = { upstream: this.granted.upstream.name, what, code }
    this.deps.events.emit({ type: 'notice', level: 'info', message, detail })
  }

  get #via(): string {
    return viaEntry('1.1', this.deps.pseudonym)
  }
}

const NOTHING = Object.freeze({ toUpstream: 0, toApp: 0 })

function ignore(): void {}
