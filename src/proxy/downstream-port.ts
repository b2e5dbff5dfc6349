import type { Readable } from 'node:stream'
import type { Downstream, RawHeaders } from '../pipeline/ports.js'

/** What the transport needs of the app's side beyond the pipeline's view. */
export interface ProxyDownstream extends Downstream {
  /** End-to-end request fields, hop-by-hop and inbound forbear-* removed, Via added; no Host, Content-Length, Transfer-Encoding, Expect. Computed once, cached. */
  readonly forwardHeaders: RawHeaders
  /** Host field value the app sent, for `hostHeader: preserve`. */
  readonly host: string | undefined
  /** A fresh reader of the body for one attempt: replays what was captured, then goes on live. `null` when there is no body. Destroying it never destroys the app's request. */
  openBody(): { stream: Readable; contentLength: number | null } | null
  /** Streams a chosen response: head now (hop-by-hop removed, `extra` added), then body. */
  begin(head: { status: number; statusText: string; headers: RawHeaders }, extra: RawHeaders): void
  /** false = buffer is full, wait for onDrain. */
  write(chunk: Uint8Array): boolean
  onDrain(fn: () => void): void
  end(trailers: RawHeaders): void
}
