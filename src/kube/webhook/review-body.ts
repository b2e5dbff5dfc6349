/** The body of a request, as far as it may be kept. */
import type { IncomingMessage } from 'node:http'

/** An API server takes objects of up to 3 MB, and the review of an update carries two of them. */
export const MOST_BODY_BYTES = 6 * 1024 * 1024
/** Of all requests together: many large ones must not end the process. */
const MOST_HELD_BYTES = 8 * MOST_BODY_BYTES
/** Read without being kept, so that whoever sends too much gets to read why it was refused. */
const MOST_READ_BYTES = 64 * 1024 * 1024

export type ReadBody =
  | { readonly ok: true; readonly body: Uint8Array }
  | { readonly ok: false; readonly status: 413 | 503; readonly error: string }

export class BodyReader {
  #heldBytes = 0

  /** Gives what `use` makes of the body, which counts until then; `null` when the client has gone. */
  async read<T>(request: IncomingMessage, use: (read: ReadBody) => Promise<T>): Promise<T | null> {
    const chunks: Buffer[] = []
    let bytes = 0
    let fault: ReadBody | null = null
    const onChunk = (chunk: Buffer): void => {
      bytes += chunk.length
      fault ??= this.#faultOf(bytes, chunk.length)
      if (bytes > MOST_READ_BYTES) request.destroy()
      if (fault === null) {
        this.#heldBytes += chunk.length
        chunks.push(chunk)
      }
    }
    try {
      if (!(await ended(request.on('data', onChunk)))) return null
      return await use(fault ?? { ok: true, body: Buffer.concat(chunks) })
    } finally {
      this.#heldBytes -= chunks.reduce((sum, { length }) => sum + length, 0)
    }
  }

  #faultOf(bytes: number, more: number): ReadBody | null {
    if (bytes > MOST_BODY_BYTES) return TOO_LARGE
    return this.#heldBytes + more > MOST_HELD_BYTES ? TOO_MANY : null
  }
}

const TOO_LARGE: ReadBody = {
  ok: false,
  status: 413,
  error: `the body has more than ${MOST_BODY_BYTES} bytes, the most that is read`,
}
const TOO_MANY: ReadBody = { ok: false, status: 503, error: 'too many large reviews at once' }

/** False when the client left in the middle. */
function ended(request: IncomingMessage): Promise<boolean> {
  return new Promise(resolve => {
    request.once('end', () => resolve(true))
    request.once('close', () => resolve(false))
    request.once('error', () => resolve(false))
  })
}
