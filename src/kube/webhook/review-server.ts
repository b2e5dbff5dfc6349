/** HTTP/1.1 over TLS as API servers speak it to admission webhooks. Nothing that is sent can end it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import { type AdmissionRequest, API_VERSION, allow, answerReview, KIND, readReview } from './admission-review.js'
import type { Pair } from './certificates.js'
import { BodyReader, type ReadBody } from './review-body.js'
import { reviewTimeMs } from './review-time.js'
import type { Reviewed } from './reviewed.js'

/**
 * Rejects or throws when it cannot judge: the object then gets in as it is. Whoever asks for `time` and is still at it when
 * that is over is not waited for by the API server any more.
 */
export type Review = (request: AdmissionRequest, time: () => AbortSignal) => Reviewed | Promise<Reviewed>

/** One review that was answered. */
export interface ReviewTold extends Reviewed {
  /** Path without the slash. */
  readonly webhook: string
  readonly request: AdmissionRequest
  readonly durationMs: number
  /** Why it could not be judged. */
  readonly error?: string
}

export interface ReviewServerOptions {
  /** Path → what is asked there. */
  readonly reviews: ReadonlyMap<string, Review>
  readonly nowMs: () => number
  onReviewed(told: ReviewTold): void
  /** A request that was not even a review. */
  onRefused(status: number, error: string): void
}

/** An API server keeps idle connections for 90 s: closed from here, one may just have been taken for the next review. */
const KEEP_ALIVE_MS = 120_000
const CLOSE_GRACE_MS = 1000
/** Times in ms; a client has 10 s to send its request. */
const OPTIONS = {
  ALPNProtocols: ['http/1.1'],
  minVersion: 'TLSv1.2',
  handshakeTimeout: 10_000,
  requestTimeout: 10_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2000,
  keepAliveTimeout: KEEP_ALIVE_MS,
} as const

interface Refusal {
  readonly status: number
  readonly error: string
}

export class ReviewServer {
  readonly #options: ReviewServerOptions
  readonly #bodies = new BodyReader()
  readonly #servers = new Map<Server, ReadonlySet<Socket>>()
  #pair: Pair | null = null
  #stopping = false
  #active = 0
  #lastCallMs: number

  constructor(options: ReviewServerOptions) {
    this.#options = options
    this.#lastCallMs = options.nowMs()
  }

  /** To be bound. Without a certificate yet, handshakes fail. */
  create(): Server {
    const server = createServer({ ...OPTIONS, ...this.#pair }, (request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
    server.on('clientError', (_, socket) => socket.destroy())
    server.on('tlsClientError', (_, socket) => socket.destroy())
    this.#servers.set(server, socketsOf(server))
    server.once('close', () => this.#servers.delete(server))
    return server
  }

  /** For handshakes from now on; connections keep theirs. Throws when OpenSSL will not have the pair. */
  use(pair: Pair): void {
    for (const server of this.#servers.keys()) server.setSecureContext({ ...pair, minVersion: OPTIONS.minVersion })
    this.#pair = pair
  }

  /** From now on answers end their connections, so that the next review goes to another replica. */
  stop(): void {
    this.#stopping = true
  }

  /** Requests that are not yet answered. */
  get active(): number {
    return this.#active
  }

  get lastCallMs(): number {
    return this.#lastCallMs
  }

  /** Whoever is still not answered will not be. */
  drain(): void {
    for (const sockets of this.#servers.values()) for (const socket of sockets) socket.destroy()
  }

  /** Answers that are on their way get up to a second to leave. */
  async close(): Promise<void> {
    const cut = setTimeout(() => this.drain(), CLOSE_GRACE_MS)
    await Promise.all([...this.#servers.keys()].map(server => new Promise(resolve => server.close(resolve))))
    clearTimeout(cut)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#active += 1
    response.once('close', () => {
      this.#active -= 1
      this.#lastCallMs = this.#options.nowMs()
    })
    response.on('error', () => undefined)
    const url = new URLSearchParams(request.url?.split('?').slice(1).join('?'))
    const path = request.url?.split('?')[0] ?? ''
    const review = this.#options.reviews.get(path)
    const refusal = review === undefined ? NOT_FOUND : headFault(request)
    await this.#bodies.read(request, async body => {
      const fault = refusal ?? bodyFault(body)
      if (fault !== null || review === undefined || !body.ok) return this.#refuse(response, fault ?? NOT_FOUND)
      const read = readReview(body.body)
      if (!read.ok) return this.#refuse(response, { status: 400, error: read.error })
      await this.#answer(response, path.slice(1), read.request, review, reviewTimeMs(url.get('timeout')))
    })
  }

  async #answer(
    response: ServerResponse,
    webhook: string,
    request: AdmissionRequest,
    review: Review,
    timeMs: number,
  ): Promise<void> {
    const { nowMs, onReviewed } = this.#options
    const startMs = nowMs()
    const { text, ...reviewed } = await settled(request, review, timeMs)
    this.#send(response, 200, 'application/json', text)
    onReviewed({ webhook, request, durationMs: nowMs() - startMs, ...reviewed })
  }

  #refuse(response: ServerResponse, { status, error }: Refusal): void {
    this.#options.onRefused(status, error)
    this.#send(response, status, 'text/plain; charset=utf-8', `${error}\n`)
  }

  #send(response: ServerResponse, status: number, contentType: string, body: string): void {
    response.writeHead(status, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(body),
      ...(status === 405 && { allow: 'POST' }),
      ...(this.#stopping && { connection: 'close' }),
    })
    response.end(body)
  }
}

const NOT_FOUND: Refusal = { status: 404, error: 'no such webhook' }

function headFault({ method, headers }: IncomingMessage): Refusal | null {
  if (method !== 'POST') return { status: 405, error: `POST an ${KIND} here` }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') return { status: 415, error: `an ${KIND} of ${API_VERSION} is application/json` }
  return null
}

function bodyFault(body: ReadBody): Refusal | null {
  return body.ok ? null : body
}

interface Settled extends Reviewed {
  readonly text: string
  readonly error?: string
}

/** What cannot be judged, or not in time, gets in with a warning: an app must not wait for forbear to be mended. */
async function settled(request: AdmissionRequest, review: Review, timeMs: number): Promise<Settled> {
  const given: { signal?: AbortSignal } = {}
  try {
    const reviewed = await review(request, () => (given.signal = AbortSignal.timeout(timeMs)))
    return { ...reviewed, text: answerReview(request.uid, reviewed.decision) }
  } catch (error) {
    const late = given.signal?.aborted === true
    const decision = allow(late ? LATE : FAILED)
    const text = answerReview(request.uid, decision)
    return {
      decision,
      text,
      reason: late ? 'timeout' : 'failed',
      error: error instanceof Error ? error.message : String(error),
    }
  }
}

const LATE = 'forbear: let through unchecked and unchanged: there was no time left'
const FAILED = 'forbear: let through unchecked and unchanged: the webhook failed; its log says why'

/** Every connection, also one that is still in its handshake or never asked anything: Node knows of neither. */
function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}
