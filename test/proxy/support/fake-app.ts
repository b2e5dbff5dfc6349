import { Readable } from 'node:stream'
import type { RawHeaders, ResponseHead } from '../../../src/pipeline/ports.js'
import type { ProxyDownstream } from '../../../src/proxy/downstream-port.js'

export interface FakeRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: RawHeaders
  readonly host?: string
  readonly body?: () => { stream: Readable; contentLength: number | null }
}

/** The app's side of one request, in memory. */
export class FakeApp implements ProxyDownstream {
  readonly method: string
  path: string
  readonly headers: RawHeaders
  readonly forwardHeaders: RawHeaders
  readonly host: string | undefined
  readonly body = null
  head: ResponseHead | null = null
  extra: RawHeaders = []
  trailers: RawHeaders | null = null
  chunks: Uint8Array[] = []
  destroyed = false
  bytesOut = 0
  /** `true` = every write says that the buffer is full. */
  slow = false
  setPath(path: string): void {
    this.path = path
  }

  private waiting: (() => void) | null = null
  private readonly opener: FakeRequest['body']

  constructor(request: FakeRequest = {}) {
    this.method = request.method ?? 'GET'
    this.path = request.path ?? '/'
    this.headers = request.headers ?? []
    this.forwardHeaders = this.headers
    this.host = request.host
    this.opener = request.body
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString('latin1')
  }

  openBody(): { stream: Readable; contentLength: number | null } | null {
    return this.opener?.() ?? null
  }

  begin(head: ResponseHead, extra: RawHeaders): void {
    this.head = head
    this.extra = extra
  }

  write(chunk: Uint8Array): boolean {
    this.chunks.push(chunk)
    this.bytesOut += chunk.length
    return !this.slow
  }

  onDrain(fn: () => void): void {
    this.waiting = fn
  }

  drain(): void {
    const fn = this.waiting
    this.waiting = null
    fn?.()
  }

  end(trailers: RawHeaders): void {
    this.trailers = trailers
  }

  interim(): void {}
  answer(): void {}

  destroy(): void {
    this.destroyed = true
  }
}

export function bodyOf(text: string, contentLength: number | null = text.length): NonNullable<FakeRequest['body']> {
  return () => ({ stream: Readable.from([Buffer.from(text)], { objectMode: false }), contentLength })
}
