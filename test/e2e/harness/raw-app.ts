/** An app on raw sockets that does what its plan says and reads every byte that comes back. */
import { connect, type Socket } from 'node:net'
import type { PlannedCall, PlannedConnection } from './exchange-plan.js'
import { hasNoBody, taggedBody } from './faults.js'
import { declaredFraming, type Framing, type Head, MessageReader } from './message-reader.js'
import { reset } from './reset.js'
import { sleep, within } from './time.js'

/** Longest that a planned connection may take: far above all clocks of the policies under test, ms. */
const PATIENCE_MS = 20_000

export interface SeenCall {
  readonly id: string
  readonly plan: PlannedCall
  /** Its head has been handed to the socket. */
  sent: boolean
  /** Begun, perhaps not complete. */
  answer: SeenAnswer | null
}

export interface SeenAnswer {
  readonly status: number
  readonly fields: Head['fields']
  body: string
  complete: boolean
}

export interface SeenConnection {
  readonly calls: readonly SeenCall[]
  /** The app ended it before it had its answers. */
  left: boolean
  /** What is wrong with the bytes themselves. */
  violation: string | null
}

export async function play(port: number, plan: PlannedConnection, ids: readonly string[]): Promise<SeenConnection> {
  const app = new RawApp(port, plan, ids)
  try {
    await within('an end of the exchange', app.run(), PATIENCE_MS)
  } catch (error) {
    app.seen.violation ??= String(error)
  } finally {
    app.socket.destroy()
  }
  return app.seen
}

class RawApp {
  readonly seen: SeenConnection
  readonly socket: Socket
  readonly #closed: Promise<void>
  readonly #reader: MessageReader
  /** Calls that have been sent, and how many of them have their answer. */
  #answered = 0
  #continue = false
  #changed: () => void = () => {}

  constructor(
    port: number,
    readonly plan: PlannedConnection,
    ids: readonly string[],
  ) {
    const calls = plan.calls.map((one, n) => ({ id: ids[n] as string, plan: one, sent: false, answer: null }))
    this.seen = { calls, left: false, violation: null }
    this.#reader = new MessageReader({
      onHead: head => this.#onHead(head),
      onBody: text => {
        const { answer } = this.#current
        if (answer) answer.body += text
      },
      onMessage: () => this.#onMessage(),
    })
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', chunk => this.#read(chunk))
    this.socket.on('end', () => this.#reader.end())
    this.socket.on('error', () => {})
    this.#closed = new Promise(resolve => this.socket.once('close', () => resolve()))
    void this.#closed.then(() => this.#changed())
  }

  get #current(): SeenCall {
    const call = this.seen.calls[this.#answered]
    if (!call?.sent) throw new Error('an answer that nobody waits for')
    return call
  }

  async run(): Promise<void> {
    if (this.plan.leavesAfterMs !== null) void this.#leaveLater(this.plan.leavesAfterMs)
    for (const [n, call] of this.seen.calls.entries()) {
      if (n > 0) await sleep(this.plan.pauseMs)
      if (this.socket.destroyed || this.socket.readableEnded) break
      await this.#send(call)
      if (!this.plan.pipelined) await this.#until(() => this.#answered > n)
    }
    await this.#until(() => this.#answered === this.seen.calls.length)
    // A byte too many would come at once.
    if (!this.socket.destroyed) await sleep(5)
    if (!this.socket.readableEnded && !this.#reader.atRest && !this.socket.destroyed) {
      this.seen.violation ??= 'bytes after the last answer'
    }
  }

  async #leaveLater(afterMs: number): Promise<void> {
    await sleep(afterMs)
    if (this.socket.destroyed) return
    this.seen.left = true
    if (this.plan.leavesByReset) reset(this.socket)
    else this.socket.destroy()
  }

  async #send(call: SeenCall): Promise<void> {
    const { method, upstream, body, key } = call.plan
    const expects = call.plan.expectContinue && !this.plan.pipelined
    const fields = [`Host: app`, `X-Id: ${call.id}`]
    if (key) fields.push(`Idempotency-Key: key-${call.id}`)
    if (expects) fields.push('Expect: 100-continue')
    if (body !== null)
      fields.push(body.framing === 'length' ? `Content-Length: ${body.bytes}` : 'Transfer-Encoding: chunked')
    call.sent = true
    this.#continue = false
    this.socket.write(`${method} /${upstream}/x/${call.id} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`, 'latin1')
    if (expects) await this.#until(() => this.#continue || call.answer !== null)
    if (body !== null && (!expects || this.#continue)) await this.#sendBody(call.id, body)
  }

  async #sendBody(id: string, { bytes, framing, pauseMs }: NonNullable<PlannedCall['body']>): Promise<void> {
    const text = taggedBody(id, bytes)
    const third = Math.max(1, Math.ceil(text.length / 3))
    for (let at = 0; at < text.length; at += third) {
      const piece = text.slice(at, at + third)
      const framed = framing === 'length' ? piece : `${piece.length.toString(16)}\r\n${piece}\r\n`
      if (!this.socket.writable) return
      this.socket.write(framed, 'latin1')
      if (pauseMs > 0) await sleep(pauseMs)
    }
    if (framing === 'chunked') this.socket.write('0\r\n\r\n')
  }

  /** Or until the connection has closed. */
  async #until(done: () => boolean): Promise<void> {
    while (!done() && !this.socket.closed) {
      await new Promise<void>(resolve => {
        this.#changed = resolve
      })
    }
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.seen.violation ??= String(error)
      this.socket.destroy()
    }
    this.#changed()
  }

  #onHead(head: Head): Framing {
    const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) [\t\x20-\x7e\x80-\xff]*$/.exec(head.startLine)?.[1])
    if (Number.isNaN(status)) throw new Error(`not a status line: ${head.startLine}`)
    const call = this.#current
    if (status < 200) {
      if (status === 100) this.#continue = true
      return { kind: 'none' }
    }
    call.answer = { status, fields: head.fields, body: '', complete: false }
    const framing = declaredFraming(head)
    if (hasNoBody(call.plan.method, status)) return { kind: 'none' }
    if (framing === null) throw new Error('an answer to HTTP/1.1 that only its end frames')
    return framing
  }

  #onMessage(): void {
    const { answer } = this.#current
    if (answer === null) return
    answer.complete = true
    this.#answered++
  }
}
