/** A scripted HTTP upstream on loopback: says what it is told to, and records what it is sent. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { mostInAny, nowMs, sleep } from './time.js'

/** One answer. Without anything: 200 with an empty body at once. */
export interface Behaviour {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
  /** Before the answer (or the reset), ms. */
  readonly delayMs?: number
  /** Instead of an answer: `reset` sends RST, `hang` keeps the connection and says nothing. */
  readonly instead?: 'reset' | 'hang'
}

export interface Received {
  /** 1-based, over all requests of this upstream. */
  readonly n: number
  readonly atMs: number
  readonly method: string
  /** Request target, byte for byte. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  /** Names and values as sent: name, value, name, value … */
  readonly rawHeaders: readonly string[]
  /** 1-based number of the connection. */
  readonly connection: number
  /** 0-based; which of the `replicas` behind this address the connection landed on. */
  readonly replica: number
  /** The first MiB of the body. */
  body: Buffer
  bodyBytes: number
  /** Hex, of the whole body; '' until it is complete. */
  bodySha256: string
  /** When the answer was handed to the socket. */
  answeredAtMs: number | null
  /** When the caller left before the answer was complete. */
  abandonedAtMs: number | null
}

export interface Exchange {
  readonly received: Received
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** Gives a behaviour, or answers by itself on `res` and gives nothing. Called when the request body is complete. */
export type Script = (exchange: Exchange) => Behaviour | undefined | Promise<Behaviour | undefined>

export interface UpstreamOptions {
  readonly port?: number
  /** Start with the port closed; `open()` later. */
  readonly closed?: boolean
  /** How many replicas stand behind the address; each connection lands on one of them, as with an L4 service. */
  readonly replicas?: number
  /** Uniform in [0, 1); chooses the replica. */
  readonly random?: () => number
  /** Speaks https; `requestCert` turns away callers without a certificate of `ca`. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer; readonly ca?: Buffer; readonly requestCert?: boolean }
}

const KEPT_BODY_BYTES = 1_048_576

export class Upstream {
  readonly received: Received[] = []
  port = 0
  inFlight = 0
  /** Highest `inFlight` since the last reset to 0. */
  maxInFlight = 0
  connections = 0
  readonly sockets = new Set<Socket>()
  readonly server: Server
  #script: Script = () => ({})
  readonly #landed = new WeakMap<Socket, { readonly connection: number; readonly replica: number }>()

  private constructor(readonly options: UpstreamOptions) {
    const onRequest: RequestListener = (req, res) => void this.#serve(req, res)
    const settings = { keepAliveTimeout: 60_000, requestTimeout: 0, headersTimeout: 0 }
    this.server = options.tls
      ? createTlsServer({ ...settings, ...options.tls }, onRequest)
      : createServer(settings, onRequest)
    this.server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => this.#land(socket))
  }

  static async start(options: UpstreamOptions = {}): Promise<Upstream> {
    const upstream = new Upstream(options)
    upstream.port = options.port ?? 0
    if (!options.closed) await upstream.open()
    return upstream
  }

  get url(): string {
    return `${this.options.tls ? 'https' : 'http'}://127.0.0.1:${this.port}`
  }

  get hits(): number {
    return this.received.length
  }

  /** One behaviour after the other, the last one for ever. */
  plays(...behaviours: readonly Behaviour[]): this {
    let next = 0
    this.#script = () => behaviours[Math.min(next++, behaviours.length - 1)]
    return this
  }

  runs(script: Script): this {
    this.#script = script
    return this
  }

  /** The nth request received, 1-based. */
  nth(n: number): Received {
    const found = this.received[n - 1]
    if (!found) throw new Error(`the upstream has received ${this.hits} requests, not ${n}`)
    return found
  }

  /** The most requests received in any sliding second. */
  get mostPerSecond(): number {
    return mostInAny(
      1_000,
      this.received.map(one => one.atMs),
    )
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen(this.port, '127.0.0.1', () => {
        this.server.removeListener('error', reject)
        this.port = (this.server.address() as AddressInfo).port
        resolve()
      })
    })
  }

  /** Closes the port and every connection; `open()` opens the same port again. */
  close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    for (const socket of this.sockets) socket.destroy()
    return closed
  }

  #land(socket: Socket): void {
    const random = this.options.random ?? Math.random
    const replica = Math.floor(random() * (this.options.replicas ?? 1))
    this.#landed.set(socket, { connection: ++this.connections, replica })
    this.sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.sockets.delete(socket))
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const received = this.#record(req, res)
    try {
      await readBody(req, received)
    } catch {
      return // The caller left in the middle of its body; `abandonedAtMs` says so.
    }
    const behaviour = await this.#script({ received, req, res })
    if (behaviour) await perform(behaviour, received, res)
  }

  #record(req: IncomingMessage, res: ServerResponse): Received {
    const { connection, replica } = this.#landed.get(req.socket) ?? { connection: 0, replica: 0 }
    const received: Received = {
      n: this.received.length + 1,
      atMs: nowMs(),
      method: req.method ?? '',
      url: req.url ?? '',
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      connection,
      replica,
      body: Buffer.alloc(0),
      bodyBytes: 0,
      bodySha256: '',
      answeredAtMs: null,
      abandonedAtMs: null,
    }
    this.received.push(received)
    this.maxInFlight = Math.max(this.maxInFlight, ++this.inFlight)
    res.on('error', () => {})
    res.on('close', () => {
      this.inFlight--
      if (!res.writableFinished) received.abandonedAtMs = nowMs()
    })
    return received
  }
}

/** Until `res` takes more, or nobody reads it any longer. */
export async function drained(res: ServerResponse): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  try {
    await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })])
  } finally {
    // One of the two would listen for the life of `res`.
    over.abort()
  }
}

async function readBody(req: IncomingMessage, received: Received): Promise<void> {
  const hash = createHash('sha256')
  const kept: Buffer[] = []
  for await (const chunk of req as AsyncIterable<Buffer>) {
    if (received.bodyBytes < KEPT_BODY_BYTES) kept.push(chunk)
    received.bodyBytes += chunk.length
    hash.update(chunk)
  }
  received.body = Buffer.concat(kept).subarray(0, KEPT_BODY_BYTES)
  received.bodySha256 = hash.digest('hex')
}

async function perform(behaviour: Behaviour, received: Received, res: ServerResponse): Promise<void> {
  if (behaviour.delayMs) await sleep(behaviour.delayMs)
  if (behaviour.instead === 'hang') return
  if (behaviour.instead === 'reset') {
    reset(res.socket)
    return
  }
  received.answeredAtMs = nowMs()
  for (const [name, value] of Object.entries(behaviour.headers ?? {})) res.setHeader(name, value)
  res.writeHead(behaviour.status ?? 200)
  res.end(Buffer.from(behaviour.body ?? ''))
}

/** RST; under TLS, where Node offers none, an end without the closing alert. */
function reset(socket: Socket | null): void {
  if (socket instanceof TLSSocket) socket.destroy()
  else socket?.resetAndDestroy()
}
