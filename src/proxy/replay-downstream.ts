/** A stored request in the app's place: it is replayed, and of the answer only what it was is kept. */
import { Readable } from 'node:stream'
import { headerValue } from '../core/headers.js'
import { viaEntry } from '../core/layers.js'
import type { AppListener, RawHeaders, RequestBody, ResponseHead } from '../pipeline/ports.js'
import type { ProxyDownstream } from './downstream-port.js'
import { forwardRequestHeaders } from './headers.js'

export interface StoredRequest {
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
  readonly body: Uint8Array
}

/** The answer that an app would have had. */
export interface ReplayedAnswer {
  readonly status: number
  readonly headers: RawHeaders
  readonly outcome: string
  /** 0 = the upstream was not called. */
  readonly attempts: number
  /** It came from the upstream. */
  readonly fromUpstream: boolean
}

export class ReplayDownstream implements ProxyDownstream {
  readonly redelivery = true
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
  readonly body: RequestBody | null
  readonly forwardHeaders: RawHeaders
  listener: AppListener | null = null
  readonly #bytes: Uint8Array
  readonly #done: (answer: ReplayedAnswer) => void
  #answer: ReplayedAnswer | null = null
  #over = false

  constructor(request: StoredRequest, pseudonym: string, done: (answer: ReplayedAnswer) => void) {
    this.method = request.method
    this.path = request.path
    this.headers = request.headers
    this.forwardHeaders = forwardRequestHeaders(request.headers, viaEntry('1.1', pseudonym))
    this.body = request.body.byteLength === 0 ? null : storedBody(request.body)
    this.#bytes = request.body
    this.#done = done
  }

  get host(): string | undefined {
    return headerValue(this.headers, 'host')
  }

  openBody(): { stream: Readable; contentLength: number | null } | null {
    if (this.body === null) return null
    return { stream: Readable.from([this.#bytes], { objectMode: false }), contentLength: this.#bytes.byteLength }
  }

  setPath(): void {}

  interim(): void {}

  answer(head: ResponseHead, extra: RawHeaders, body: Uint8Array | string): void {
    this.#answer ??= answerOf(head, extra, typeof body !== 'string')
    this.#end()
  }

  begin(head: ResponseHead, extra: RawHeaders): void {
    this.#answer ??= answerOf(head, extra, true)
  }

  /** Nobody reads it. */
  write(): boolean {
    return true
  }

  onDrain(): void {}

  end(): void {
    this.#end()
  }

  /** Behind its head the answer may break off: how the call went is known. */
  destroy(): void {
    this.#answer ??= { status: 0, headers: [], outcome: 'aborted', attempts: 0, fromUpstream: false }
    this.#end()
  }

  #end(): void {
    if (this.#over || this.#answer === null) return
    this.#over = true
    const answer = this.#answer
    // As on a socket: not before whoever answers has returned.
    queueMicrotask(() => {
      this.listener?.onAnswered()
      this.#done(answer)
    })
  }
}

function answerOf({ status, headers }: ResponseHead, extra: RawHeaders, fromUpstream: boolean): ReplayedAnswer {
  const own = fromUpstream ? extra : [...headers, ...extra]
  return {
    status,
    headers,
    outcome: headerValue(own, 'forbear-outcome') ?? 'delivered',
    attempts: Number(headerValue(own, 'forbear-attempts') ?? 0),
    fromUpstream,
  }
}

function storedBody(bytes: Uint8Array): RequestBody {
  return {
    complete: true,
    capturedBytes: bytes.byteLength,
    replayable: true,
    untouched: true,
    whole: () => bytes,
    capture() {},
    onComplete: fn => fn(),
  }
}
