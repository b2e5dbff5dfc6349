/** The app's side of one CONNECT: an answer of ours that ends the connection, or a tunnel. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { AppListener, Downstream, RawHeaders, ResponseHead } from '../pipeline/ports.js'
import { join } from './join.js'
import { refuseSocket } from './refuse-socket.js'
import { TunnelCount } from './tunnel-count.js'

/** An app that sends its first bytes before it has its answer is heard up to this, so that its leaving is noticed. */
const MAX_EARLY_BYTES = 65_536

export class ConnectDownstream implements Downstream {
  readonly method = 'CONNECT'
  readonly headers: RawHeaders
  readonly body = null
  listener: AppListener | null = null
  readonly #socket: Socket
  #early: Buffer[] = []
  #earlyBytes = 0
  #phase: 'waiting' | 'answered' | 'open' | 'over' = 'waiting'

  /** `head` = bytes that came behind the request. */
  constructor(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    /** The authority that was asked for. */
    readonly path: string,
  ) {
    this.headers = request.rawHeaders
    this.#socket = socket
    if (head.length > 0) this.#keepEarly(head)
    socket.on('data', this.#keepEarly)
    socket.on('end', this.#leftEarly)
    socket.once('close', () => this.#closed())
  }

  setPath(): void {}

  interim(): void {}

  answer(head: ResponseHead, extra: RawHeaders, body: Uint8Array | string): void {
    if (this.#phase !== 'waiting') return
    this.#phase = 'answered'
    this.#stopReading()
    const headers = [...head.headers, ...extra]
    refuseSocket(this.#socket, { status: head.status, statusText: head.statusText, headers, body: String(body) })
  }

  /** Tells the app that the tunnel stands, and joins it. Its end is told as the answer's. */
  open(upstream: Socket, extra: RawHeaders): void {
    if (this.#phase !== 'waiting') {
      upstream.destroy()
      return
    }
    this.#phase = 'open'
    this.#stopReading()
    this.#socket.pause()
    let text = 'HTTP/1.1 200 Connection Established\r\n'
    for (let i = 0; i + 1 < extra.length; i += 2) text += `${extra[i]}: ${extra[i + 1]}\r\n`
    this.#socket.write(`${text}\r\n`, 'latin1')
    const count = new TunnelCount(this.#socket, this.#earlyBytes)
    for (const chunk of this.#early) upstream.write(chunk)
    this.#early = []
    join(this.#socket, upstream, () => this.#end(listener => listener.onAnswered(count.bytes)))
    this.listener?.onTunnel?.()
  }

  /** Of an open tunnel the end is told nevertheless. */
  destroy(): void {
    if (this.#phase !== 'open') this.#phase = 'over'
    this.#socket.destroy()
  }

  #closed(): void {
    if (this.#phase === 'waiting') this.#end(listener => listener.onAppGone())
    else if (this.#phase === 'answered') this.#end(listener => listener.onAnswered())
  }

  #end(tell: (listener: AppListener) => void): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#early = []
    if (this.listener !== null) tell(this.listener)
  }

  #stopReading(): void {
    this.#socket.off('data', this.#keepEarly).off('end', this.#leftEarly)
  }

  #keepEarly = (chunk: Buffer): void => {
    this.#early.push(chunk)
    this.#earlyBytes += chunk.length
    if (this.#earlyBytes >= MAX_EARLY_BYTES) this.#socket.pause()
  }

  #leftEarly = (): void => {
    this.#socket.destroy()
  }
}
