/** An upstream on raw sockets that does to each request what its script says, and checks every byte that it is sent. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { type Reply, render, taggedBody, tagOf } from './faults.js'
import { declaredFraming, type Framing, type Head, MessageReader, valuesOf } from './message-reader.js'
import { reset } from './reset.js'
import { sleep } from './time.js'

/** What is to be done to the requests of one exchange: one reply an attempt, the last one for ever. */
export interface Script {
  readonly id: string
  readonly replies: readonly Reply[]
  readonly bodyBytes: number
}

/** One request of which the head has arrived. */
export interface Hit {
  readonly id: string
  readonly connection: number
  complete: boolean
}

/** Does something to a connection before any byte has been read; `true` = it did, and nothing more follows. */
export type AtAccept = (socket: Socket) => boolean

export class FaultUpstream {
  readonly scripts = new Map<string, Script>()
  readonly hits = new Map<string, Hit[]>()
  /** What the sidecar must never send. */
  readonly violations: string[] = []
  readonly sockets = new Set<Socket>()
  /** The last reply that was begun on each. */
  readonly playing = new WeakMap<Socket, Reply>()
  connections = 0
  readonly server: Server

  private constructor(atAccept: AtAccept) {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
      socket.on('error', () => {})
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
      if (!atAccept(socket)) this.serve(socket)
    })
  }

  static start(atAccept: AtAccept = () => false): Promise<FaultUpstream> {
    const upstream = new FaultUpstream(atAccept)
    return new Promise(resolve => upstream.server.listen(0, '127.0.0.1', () => resolve(upstream)))
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  serve(socket: Socket): void {
    new UpstreamConnection(this, socket, ++this.connections)
  }

  hitsOf(id: string): readonly Hit[] {
    return this.hits.get(id) ?? []
  }

  /** Every connection that is open, and what has been done to it. */
  leftOpen(): unknown[] {
    return Array.from(this.sockets, socket => ({
      remotePort: socket.remotePort,
      ended: socket.writableEnded,
      sawEnd: socket.readableEnded,
      destroyed: socket.destroyed,
      reply: this.playing.get(socket),
    }))
  }

  forgetBefore(n: number): void {
    this.scripts.delete(`e${n}`)
    this.hits.delete(`e${n}`)
  }

  close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    for (const socket of this.sockets) socket.destroy()
    return closed
  }
}

class UpstreamConnection {
  readonly #reader: MessageReader
  #script: Script | null = null
  #hit: Hit | null = null
  #method = ''
  #body = ''
  #reply: Reply | null = null
  /** Has been ended, or hangs: what comes now is not looked at. */
  #deaf = false
  /** Answers begun. */
  #turns = 0

  constructor(
    readonly upstream: FaultUpstream,
    readonly socket: Socket,
    readonly number: number,
  ) {
    this.#reader = new MessageReader({
      onHead: head => this.#onHead(head),
      onBody: text => {
        this.#body += text
      },
      onMessage: () => this.#onMessage(),
    })
    socket.on('data', chunk => {
      if (!this.#deaf) this.#read(chunk)
    })
    socket.on('end', () => socket.end())
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.upstream.violations.push(`upstream was sent: ${error}`)
      this.socket.destroy()
    }
  }

  #onHead(head: Head): Framing {
    const [, method = '', id = ''] = /^([A-Z]+) \/x\/([^/ ]+) HTTP\/1\.1$/.exec(head.startLine) ?? []
    const script = this.upstream.scripts.get(id)
    if (!script) throw new Error(`a request that nobody made: ${head.startLine}`)
    if (valuesOf(head.fields, 'x-id')[0] !== id) throw new Error(`fields of another request: ${id}`)
    this.#script = script
    this.#method = method
    this.#body = ''
    this.#hit = { id, connection: this.number, complete: false }
    const hits = this.upstream.hits.get(id) ?? []
    this.upstream.hits.set(id, hits)
    hits.push(this.#hit)
    this.#reply = script.replies[Math.min(hits.length, script.replies.length) - 1] ?? null
    if (this.#reply?.after === 'head') this.#play(hits.length)
    return declaredFraming(head) ?? { kind: 'none' }
  }

  #onMessage(): void {
    const { id, bodyBytes } = this.#script as Script
    if (this.#hit) this.#hit.complete = true
    if (this.#body !== taggedBody(id, bodyBytes)) {
      this.upstream.violations.push(
        `${id}: a body of ${this.#body.length} bytes instead of ${bodyBytes}, or of another`,
      )
    }
    if (this.#reply?.after === 'body') this.#play(this.upstream.hitsOf(id).length)
  }

  #play(attempt: number): void {
    const { id } = this.#script as Script
    const reply = this.#reply as Reply
    this.upstream.playing.set(this.socket, reply)
    const whole = render(reply, this.#method, tagOf(id, attempt))
    const bytes = whole.slice(0, Math.round(reply.share * whole.length))
    if (reply.then !== 'keep' && reply.then !== 'late-fin' && reply.after === 'body') this.#deaf = true
    void this.#perform(reply, Buffer.from(bytes, 'latin1'))
  }

  async #perform(reply: Reply, bytes: Buffer): Promise<void> {
    const { socket } = this
    const turn = ++this.#turns
    if (reply.delayMs > 0) await sleep(reply.delayMs)
    const step = reply.pieceBytes ?? Math.max(1, bytes.length)
    for (let at = 0; at < bytes.length && !socket.destroyed && socket.writable; at += step) {
      socket.write(bytes.subarray(at, at + step))
      if (reply.pauseMs > 0) await sleep(reply.pauseMs)
      else if (reply.pieceBytes !== null) await new Promise(resolve => setImmediate(resolve))
    }
    if (reply.then === 'late-fin') await sleep(bytes.length % 50)
    // In the middle of a later answer that only its end frames, this end would pass for that one.
    if ((reply.then === 'fin' || reply.then === 'late-fin') && turn === this.#turns) socket.end()
    if (reply.then === 'reset') reset(socket)
  }
}
