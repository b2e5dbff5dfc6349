/**
 * The app's request body, kept up to a limit so that a later attempt can send the same bytes again.
 *
 * Every byte received from the start is kept until the limit is passed *and* some upstream has been handed all of it;
 * from then on the body streams through and cannot be replayed. So a body of any size stays repeatable while it is
 * untouched, and no attempt ever gets a shorter body than the one before.
 */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { RequestBody } from '../pipeline/ports.js'

/** What an attempt sees when the app broke off its upload. */
class AppAbortedError extends Error {
  readonly code = 'APP_ABORTED'
  constructor() {
    super('the app ended its request before the body was complete')
  }
}

export class BodyCapture implements RequestBody {
  complete = false
  untouched = true
  /** Declared by the app; a hint, the counter decides. `null` = chunked. */
  readonly contentLength: number | null
  readonly #source: IncomingMessage
  /** From byte 0, or `null` once something was let through without keeping it. */
  #kept: Buffer[] | null = []
  #keptBytes = 0
  #maxBytes = 0
  #reader: BodyReader | null = null
  #reading = false
  #failed = false
  /** An answer is chosen: no further attempt. */
  #released = false
  #beforeFirstRead: (() => void) | null
  #whenComplete: (() => void)[] = []

  /** `beforeFirstRead` is called once, when the app's bytes are first asked for (`100 Continue` is due then). */
  constructor(source: IncomingMessage, contentLength: number | null, beforeFirstRead: (() => void) | null) {
    this.#source = source
    this.contentLength = contentLength
    this.#beforeFirstRead = beforeFirstRead
  }

  get capturedBytes(): number {
    return this.#keptBytes
  }

  get replayable(): boolean {
    return this.#kept !== null
  }

  whole(): Uint8Array | null {
    return this.complete && this.#kept !== null ? Buffer.concat(this.#kept, this.#keptBytes) : null
  }

  capture(maxBytes: number): void {
    this.#maxBytes = maxBytes
    // Who waits for a 100 shall not send for nothing: it is asked when an upstream is there to take the body.
    if (this.#beforeFirstRead === null) this.#pull()
  }

  onComplete(fn: () => void): void {
    if (this.complete) fn()
    else this.#whenComplete.push(fn)
  }

  /** One reader at a time: an earlier one is ended. A body that cannot be replayed any more yields a reader that fails. */
  open(): Readable {
    this.#reader?.destroy()
    const reader = new BodyReader(this)
    if (this.#kept === null) reader.destroy(new Error('the request body cannot be sent again'))
    else if (this.#failed) reader.destroy(new AppAbortedError())
    else this.#reader = reader
    return reader
  }

  /** An answer is chosen, so there will be no further attempt: nothing needs to be kept. */
  release(): void {
    this.#released = true
    this.#maxBytes = 0
    if (this.#reader === null) this.discardRest()
    else this.#letGo()
  }

  /** Whatever the app still sends is read and forgotten, so that its connection can serve again. */
  discardRest(): void {
    this.#released = true
    this.#reader?.destroy()
    this.#kept = null
    this.#keptBytes = 0
    this.#source.resume()
  }

  /** The app is gone. */
  fail(): void {
    if (this.complete || this.#failed) return
    this.#failed = true
    this.#whenComplete = []
    this.#reader?.destroy(new AppAbortedError())
  }

  /** A reader wants more. */
  serve(reader: BodyReader): void {
    while (reader === this.#reader && this.#kept !== null && reader.position < this.#kept.length) {
      const chunk = this.#kept[reader.position] as Buffer
      reader.position += 1
      this.untouched = false
      const more = reader.give(chunk)
      this.#letGo()
      if (!more) return
    }
    if (reader !== this.#reader) return
    if (this.complete) reader.finish()
    else this.#pull()
  }

  detach(reader: BodyReader): void {
    if (reader !== this.#reader) return
    this.#reader = null
    if (this.#released) this.discardRest()
    else if (!this.#wanted()) this.#source.pause()
  }

  /** Something beyond the limit has gone out whole: nothing of it needs to stay. */
  #letGo(): void {
    const reader = this.#reader
    if (this.#kept === null || reader === null || this.untouched || this.#keptBytes <= this.#maxBytes) return
    if (reader.position < this.#kept.length) return
    this.#kept = null
    this.#keptBytes = 0
  }

  /** Room to keep more, or a reader that has had everything and asks. */
  #wanted(): boolean {
    if (this.#failed) return false
    // `<=` so that the end of a body of exactly the limit is seen.
    if (this.#kept !== null && this.#maxBytes > 0 && this.#keptBytes <= this.#maxBytes) return true
    const reader = this.#reader
    if (reader === null) return this.#released
    return reader.asking && (this.#kept === null || reader.position === this.#kept.length)
  }

  #pull(): void {
    if (this.complete || !this.#wanted()) return
    if (!this.#reading) this.#start()
    this.#source.resume()
  }

  #start(): void {
    this.#reading = true
    this.#beforeFirstRead?.()
    this.#beforeFirstRead = null
    this.#source.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#source.on('end', () => this.#finish())
  }

  #receive(chunk: Buffer): void {
    const reader = this.#reader
    if (this.#kept !== null) {
      this.#kept.push(chunk)
      this.#keptBytes += chunk.length
      if (reader?.asking) this.serve(reader)
    } else if (reader !== null) {
      reader.give(chunk)
    }
    if (!this.#wanted()) this.#source.pause()
  }

  #finish(): void {
    if (!this.#source.complete) return this.fail()
    this.complete = true
    const waiting = this.#whenComplete
    this.#whenComplete = []
    for (const fn of waiting) fn()
    const reader = this.#reader
    if (reader?.asking) this.serve(reader)
  }
}

/** The body for one attempt. Destroying it leaves the app's request alone. */
class BodyReader extends Readable {
  /** Index of the next kept chunk. */
  position = 0
  /** There is room for more. */
  asking = false
  #ended = false
  readonly #capture: BodyCapture

  constructor(capture: BodyCapture) {
    super({ highWaterMark: 65536 })
    this.#capture = capture
    // It can fail before its consumer listens.
    this.on('error', ignore)
  }

  /** `false` = enough for now. */
  give(chunk: Buffer): boolean {
    this.asking = false
    this.asking = this.push(chunk)
    return this.asking
  }

  finish(): void {
    this.asking = false
    if (this.#ended) return
    this.#ended = true
    this.push(null)
  }

  override _read(): void {
    this.asking = true
    this.#capture.serve(this)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.asking = false
    this.#capture.detach(this)
    done(error)
  }
}

function ignore(): void {}
