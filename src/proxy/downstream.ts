/** The app's side of one request on Node's HTTP server. */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Readable } from 'node:stream'
import { viaEntry } from '../core/layers.js'
import type { AppListener, RawHeaders, ResponseHead } from '../pipeline/ports.js'
import type { AppResponse, ResponseOwner } from './app-response.js'
import { BodyCapture } from './body-capture.js'
import type { ProxyDownstream } from './downstream-port.js'
import { forwardRequestHeaders, forwardResponseHeaders, nominatedFields, withoutFields } from './headers.js'
import type { RequestHead } from './request-head.js'
import { withoutInvalidFields } from './wire-text.js'

/** What all requests of one server share. */
export interface ServerState {
  /** Name in `Via`. */
  readonly pseudonym: string
  /** Answers ask the app to close its connection. */
  draining: boolean
}

export class NodeDownstream implements ProxyDownstream, ResponseOwner {
  readonly method: string
  readonly body: BodyCapture | null
  listener: AppListener | null = null
  readonly #request: IncomingMessage
  readonly #response: AppResponse
  readonly #head: RequestHead
  readonly #state: ServerState
  #path: string
  #headers: RawHeaders | null = null
  #forwardHeaders: RawHeaders | null = null
  /** The app waits for `100 Continue`. */
  #continueDue: boolean
  /** Answered, or the app is gone: nothing more happens here. */
  #settled = false
  #whenSettled: (() => void) | null = null

  constructor(
    request: IncomingMessage,
    response: AppResponse,
    head: RequestHead,
    state: ServerState,
    expectsContinue: boolean,
  ) {
    this.#request = request
    this.#response = response
    this.#head = head
    this.#state = state
    this.#path = head.path
    this.method = request.method ?? 'GET'
    this.#continueDue = expectsContinue && head.hasBody
    this.body = head.hasBody ? this.#openCapture() : null
    response.own(this)
  }

  get path(): string {
    return this.#path
  }

  setPath(path: string): void {
    this.#path = path
  }

  /** The authority of an absolute-form target replaces the Host field (RFC 9112 §3.2.2). */
  get host(): string | undefined {
    return this.#head.authority ?? this.#head.host
  }

  /** As received, without what `Connection` nominates: nobody may rely on a field that is not passed on. */
  get headers(): RawHeaders {
    if (this.#headers === null) {
      const raw = this.#request.rawHeaders
      const nominated = nominatedFields(raw)
      this.#headers = nominated === null ? raw : withoutFields(raw, nominated)
    }
    return this.#headers
  }

  get forwardHeaders(): RawHeaders {
    this.#forwardHeaders ??= forwardRequestHeaders(this.headers, this.#via(this.#request.httpVersion))
    return this.#forwardHeaders
  }

  /** The whole request has arrived. */
  get requestComplete(): boolean {
    return this.#request.complete
  }

  /** Bytes of the answer are on their way. */
  get begun(): boolean {
    return this.#response.begun
  }

  openBody(): { stream: Readable; contentLength: number | null } | null {
    if (this.body === null) return null
    return { stream: this.body.open(), contentLength: this.body.contentLength }
  }

  /** RFC 9110 §15.2: HTTP/1.0 knows no interim answers. */
  get takesInterim(): boolean {
    return this.#request.httpVersionMinor > 0
  }

  interim(status: number, headers: RawHeaders): void {
    const socket = this.#response.socket
    // No socket: the answer is over.
    if (this.#settled || this.begun || socket === null || !this.takesInterim) return
    if (status <= 101 || status > 199) return
    const fields = forwardResponseHeaders(headers, this.#via('1.1'), { length: 'drop', canChunk: false })
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
    for (const [name, value] of withoutInvalidFields(fields)) text += `${name}: ${value}\r\n`
    socket.write(`${text}\r\n`, 'latin1')
  }

  /** A string is an answer of our own and passes as it is; bytes are a held one of the upstream. */
  answer(head: ResponseHead, extra: RawHeaders, body: Uint8Array | string): void {
    if (this.#settled || this.begun) return
    const fields = typeof body === 'string' ? [...head.headers] : this.#heldFields(head, body)
    for (const item of extra) fields.push(item)
    this.#beforeHead()
    // Whatever is behind a request that we refuse may be the rest of it, and may never come.
    if (typeof body === 'string' && head.status === 400) this.#response.shouldKeepAlive = false
    this.#response.answerWith(head.status, head.statusText, fields, body)
  }

  begin(head: ResponseHead, extra: RawHeaders): void {
    if (this.#settled || this.begun) return
    const canChunk = this.#request.httpVersionMinor > 0 && !this.#bodyless(head.status)
    const fields = forwardResponseHeaders(head.headers, this.#via('1.1'), { length: lengthOf(head.status), canChunk })
    for (const item of extra) fields.push(item)
    this.#beforeHead()
    this.#response.beginWith(head.status, head.statusText, fields)
  }

  write(chunk: Uint8Array): boolean {
    if (this.#settled) return true
    return this.#response.pass(chunk)
  }

  onDrain(fn: () => void): void {
    this.#response.whenDrained(fn)
  }

  end(trailers: RawHeaders): void {
    if (!this.#settled) this.#response.endWith(trailers)
  }

  destroy(): void {
    if (this.#settled) return
    this.#settle()
    this.body?.fail()
    this.#response.destroy()
  }

  /** Nothing more will happen on the app's side of this request. */
  get settled(): boolean {
    return this.#settled
  }

  /** Calls when that is so; at once if it is. Only the last one that asked is called. */
  afterSettled(fn: () => void): void {
    if (this.#settled) fn()
    else this.#whenSettled = fn
  }

  finished(): void {
    if (this.#settled) return
    this.#settle()
    this.body?.discardRest()
    this.listener?.onAnswered()
  }

  closed(): void {
    if (this.#settled) return
    this.#settle()
    this.body?.fail()
    this.listener?.onAppGone()
  }

  #settle(): void {
    this.#settled = true
    const waiting = this.#whenSettled
    this.#whenSettled = null
    if (waiting !== null) process.nextTick(waiting)
  }

  #openCapture(): BodyCapture {
    const beforeFirstRead = this.#continueDue ? () => this.#sendContinue() : null
    return new BodyCapture(this.#request, this.#head.contentLength, beforeFirstRead)
  }

  #sendContinue(): void {
    this.#continueDue = false
    if (!this.#settled && !this.begun) this.#response.writeContinue()
  }

  #heldFields(head: ResponseHead, body: Uint8Array): string[] {
    const bodyless = this.#bodyless(head.status)
    const length = bodyless ? lengthOf(head.status) : 'drop'
    const fields = forwardResponseHeaders(head.headers, this.#via('1.1'), { length, canChunk: false })
    if (!bodyless) fields.push('Content-Length', String(body.length))
    return fields
  }

  #bodyless(status: number): boolean {
    return this.method === 'HEAD' || status === 204 || status === 304
  }

  #via(version: string): string {
    return viaEntry(version, this.#state.pseudonym)
  }

  #beforeHead(): void {
    // Without a 100 the app may or may not send the body, so its connection cannot be used again.
    if (this.#state.draining || this.#continueDue) this.#response.shouldKeepAlive = false
    this.body?.release()
  }
}

/** A 204 must not tell a length (RFC 9110 §8.6). */
function lengthOf(status: number): 'keep' | 'drop' {
  return status === 204 ? 'drop' : 'keep'
}
