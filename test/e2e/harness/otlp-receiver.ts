/** A collector that understands OTLP over HTTP in its JSON form, as far as the tests read it. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from './time.js'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 2 SERVER, 3 CLIENT. */
  readonly kind: number
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** 0 unset, 2 error. */
  readonly status: number
  readonly resource: Readonly<Record<string, unknown>>
}

type Reaction = { readonly status: number } | 'hang'

export class OtlpReceiver {
  readonly spans: Span[] = []
  readonly exports: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = []
  reaction: Reaction = { status: 200 }
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<OtlpReceiver> {
    const server = createServer()
    const receiver = new OtlpReceiver(server)
    server.on('request', (req, res) => {
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => {
        receiver.exports.push({ path: req.url ?? '', headers: req.headers })
        if (receiver.reaction === 'hang') return
        if (receiver.reaction.status === 200) receiver.#keep(Buffer.concat(chunks).toString())
        res.writeHead(receiver.reaction.status, { 'content-type': 'application/json' }).end('{}')
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The spans of the trace, once there are so many. */
  async trace(traceId: string, count: number): Promise<Span[]> {
    const found = () => this.spans.filter(span => span.traceId === traceId)
    await until(`${count} spans of ${traceId}`, () => found().length >= count, 15_000)
    return found()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  #keep(text: string): void {
    const { resourceSpans } = JSON.parse(text) as { resourceSpans: RawResource[] }
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const raw of scopeSpans.flatMap(scope => scope.spans)) {
        this.spans.push({
          ...raw,
          startNs: BigInt(raw.startTimeUnixNano),
          endNs: BigInt(raw.endTimeUnixNano),
          attributes: plain(raw.attributes),
          events: raw.events.map(event => ({ name: event.name, attributes: plain(event.attributes) })),
          status: raw.status.code ?? 0,
          resource: plain(resource.attributes),
        })
      }
    }
  }
}

interface RawAttribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface RawSpan extends Pick<Span, 'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'kind' | 'links'> {
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly RawAttribute[]
  readonly events: readonly { readonly name: string; readonly attributes: readonly RawAttribute[] }[]
  readonly status: { readonly code?: number }
}

interface RawResource {
  readonly resource: { readonly attributes: readonly RawAttribute[] }
  readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[]
}

function plain(attributes: readonly RawAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
