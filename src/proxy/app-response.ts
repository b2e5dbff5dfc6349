/**
 * Node's response, plus what a streamed answer needs: the head and a first chunk are held until the end of the turn, so
 * that an answer which is all there leaves in one write, and one that drips is never delayed.
 */
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { RawHeaders } from '../pipeline/ports.js'
import { forwardTrailers } from './headers.js'
import { cleanStatusText, withoutInvalidFields } from './wire-text.js'

/** Hears of the end of a response, once or twice. */
export interface ResponseOwner {
  /** All of it is handed to the socket. */
  finished(): void
  /** No more can be sent. */
  closed(): void
}

/** Up to this size Node's joining of head and body into one string is cheaper than a write of two buffers. */
const ONE_WRITE_BYTES = 8192

type Stage = 'waiting' | 'held' | 'streaming' | 'ended'

export class AppResponse extends ServerResponse<IncomingMessage> {
  #owner: ResponseOwner | null = null
  #stage: Stage = 'waiting'
  #firstChunk: Uint8Array | null = null
  #onDrain: (() => void) | null = null

  /** A head was given, so nothing else can be answered. */
  get begun(): boolean {
    return this.#stage !== 'waiting'
  }

  own(owner: ResponseOwner): void {
    this.#owner = owner
    this.on('finish', onFinish)
    this.on('close', onClose)
  }

  /** Head of a streamed answer. */
  beginWith(status: number, statusText: string, fields: string[]): void {
    this.#putHead(status, statusText, fields)
    this.#stage = 'held'
    process.nextTick(flushHeld, this)
  }

  /** `false` = wait for the drain call-back. */
  pass(chunk: Uint8Array): boolean {
    if (this.#stage === 'ended' || this.destroyed) return true
    if (this.#stage === 'held') {
      if (this.#firstChunk === null) {
        this.#firstChunk = chunk
        return true
      }
      this.flushHeld()
    }
    return this.write(chunk)
  }

  endWith(trailers: RawHeaders): void {
    if (this.#stage === 'ended') return
    if (trailers.length > 0 && this.chunkedEncoding) this.addTrailers(withoutInvalidFields(forwardTrailers(trailers)))
    const chunk = this.#firstChunk
    this.#firstChunk = null
    this.#stage = 'ended'
    if (chunk === null) this.end()
    else if (chunk.length <= ONE_WRITE_BYTES) this.#endInOneWrite(latin1(chunk))
    else this.end(chunk)
  }

  /** One whole answer. A string is ASCII. */
  answerWith(status: number, statusText: string, fields: string[], body: Uint8Array | string): void {
    this.#putHead(status, statusText, fields)
    this.#stage = 'ended'
    if (typeof body === 'string') this.#endInOneWrite(body)
    else this.end(body)
  }

  whenDrained(fn: () => void): void {
    if (this.#onDrain === null) this.on('drain', onDrain)
    this.#onDrain = fn
  }

  flushHeld(): void {
    if (this.#stage !== 'held') return
    this.#stage = 'streaming'
    const chunk = this.#firstChunk
    this.#firstChunk = null
    if (this.destroyed) return
    if (chunk === null) this.flushHead()
    else this.write(chunk)
  }

  /** As `flushHeaders`, which would write latin1 fields as UTF-8. */
  flushHead(): void {
    this.write('', 'latin1')
  }

  heardFinish(): void {
    this.#owner?.finished()
  }

  heardClose(): void {
    this.#owner?.closed()
  }

  heardDrain(): void {
    this.#onDrain?.()
  }

  /**
   * `end(text)` writes the text and then an empty string, which costs a vectored write of two. Written by itself first,
   * head and body leave as one string.
   */
  #endInOneWrite(text: string): void {
    const { socket } = this
    if (socket === null || this.chunkedEncoding || this.req.method === 'HEAD' || socket.writableLength > 0) {
      this.end(text, 'latin1')
      return
    }
    socket.cork()
    this.write(text, 'latin1')
    socket.uncork()
    this.end()
  }

  #putHead(status: number, statusText: string, fields: string[]): void {
    const text = cleanStatusText(status, statusText)
    try {
      this.writeHead(status, text, fields)
    } catch {
      this.writeHead(status, text, withoutInvalidFields(fields).flat())
    }
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function flushHeld(response: AppResponse): void {
  response.flushHeld()
}

function onFinish(this: AppResponse): void {
  this.heardFinish()
}

function onClose(this: AppResponse): void {
  this.heardClose()
}

function onDrain(this: AppResponse): void {
  this.heardDrain()
}
