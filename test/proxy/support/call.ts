import { once } from 'node:events'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'
import type { EffectivePolicy, Snapshot, TlsSettings, UpstreamSnapshot } from '../../../src/core/snapshot.js'
import type {
  Attempt,
  AttemptFailure,
  AttemptListener,
  AttemptRequest,
  RawHeaders,
  ResponseHead,
  Transport,
} from '../../../src/pipeline/ports.js'
import { FakeApp, type FakeRequest } from './fake-app.js'

export interface UpstreamOptions {
  readonly name?: string
  readonly protocol?: 'http:' | 'https:'
  readonly hostname?: string
  readonly basePath?: string
  readonly hostHeader?: 'target' | 'preserve'
  readonly tls?: TlsSettings
  readonly maxConnections?: number
  readonly maxAgeMs?: number
}

export function upstreamAt(port: number, options: UpstreamOptions = {}): UpstreamSnapshot {
  const hostname = options.hostname ?? '127.0.0.1'
  return {
    name: options.name ?? 'up',
    target: {
      protocol: options.protocol ?? 'http:',
      hostname,
      port,
      authority: `${hostname}:${port}`,
      basePath: options.basePath ?? '',
    },
    listen: null,
    match: { hosts: [], pathPrefix: '/up' },
    hostHeader: options.hostHeader ?? 'target',
    tls: options.tls ?? {},
    pool: { maxConnections: options.maxConnections ?? 256, maxAgeMs: options.maxAgeMs ?? 300_000 },
    // The transport takes its clocks from the request, not from the policy.
    policy: {} as EffectivePolicy,
    routes: [],
  }
}

export function snapshotOf(...upstreams: UpstreamSnapshot[]): Snapshot {
  return {
    generation: 1,
    hash: '',
    upstreams: new Map(upstreams.map(upstream => [upstream.name, upstream])),
    invalid: new Map(),
  }
}

/** What the listener of one attempt was told, in order, and how it ended. */
export interface Call {
  readonly app: FakeApp
  readonly attempt: Attempt
  readonly told: string[]
  readonly interims: { status: number; headers: RawHeaders }[]
  /** Resolves at the first of head (held or aborted), delivered, cut, failure. */
  readonly over: Promise<Ending>
}

export interface Ending {
  readonly end: 'delivered' | 'cut' | 'failure' | 'head'
  readonly head: ResponseHead | null
  readonly failure: AttemptFailure | null
  readonly code: string | null
  readonly bytes: number
}

export interface CallOptions extends FakeRequest {
  readonly app?: FakeApp
  readonly onHead?: (attempt: Attempt) => void
  readonly onRead?: (attempt: Attempt, whole: boolean) => void
  readonly set?: RawHeaders
  readonly avoid?: readonly object[]
  readonly fresh?: boolean
  readonly connectTimeoutMs?: number
  readonly idleTimeoutMs?: number
}

/** Sends one attempt; delivers its answer unless `onHead` says otherwise. */
export function call(transport: Transport, upstream: UpstreamSnapshot, options: CallOptions = {}): Call {
  const app = options.app ?? new FakeApp(options)
  const told: string[] = []
  const interims: Call['interims'] = []
  let settle: (ending: Ending) => void = () => {}
  const over = new Promise<Ending>(resolve => {
    settle = resolve
  })
  let head: ResponseHead | null = null
  const finish = (end: Ending['end'], part: Partial<Ending> = {}) => {
    told.push(end)
    settle({ end, head, failure: null, code: null, bytes: 0, ...part })
  }
  const listener: AttemptListener = {
    onSent: () => told.push('sent'),
    onInterim: (status, headers) => {
      told.push(`interim ${status}`)
      interims.push({ status, headers })
    },
    onHead: received => {
      head = received
      if (options.onHead === undefined) {
        told.push('head')
        attempt.deliver([])
      } else {
        options.onHead(attempt)
        finish('head')
      }
    },
    onRead: whole => {
      told.push(whole ? 'read' : 'overrun')
      options.onRead?.(attempt, whole)
    },
    onFailure: failure => finish('failure', { failure }),
    onDelivered: bytes => finish('delivered', { bytes }),
    onCut: code => finish('cut', { code, bytes: attempt.bytes }),
  }
  const request: AttemptRequest = {
    upstream,
    downstream: app,
    set: options.set ?? [],
    avoid: options.avoid ?? [],
    fresh: options.fresh ?? false,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 5_000,
    fault: null,
  }
  const attempt = transport.send(request, listener)
  told.push('returned')
  return { app, attempt, told, interims, over }
}

/** An upstream of bare TCP. `port` is known once it is awaited. */
export class RawUpstream {
  readonly sockets = new Set<Socket>()
  accepted = 0
  private constructor(
    readonly server: Server,
    readonly port: number,
  ) {}

  static async start(onSocket: (socket: Socket, n: number) => void, host = '127.0.0.1'): Promise<RawUpstream> {
    const server = createTcp()
    server.listen(0, host)
    await once(server, 'listening')
    const upstream = new RawUpstream(server, (server.address() as AddressInfo).port)
    server.on('connection', socket => {
      upstream.sockets.add(socket)
      upstream.accepted++
      socket.on('error', () => {})
      // Without a reader the end of the connection would go unnoticed.
      socket.resume()
      socket.on('close', () => upstream.sockets.delete(socket))
      onSocket(socket, upstream.accepted)
    })
    return upstream
  }

  /** Answers each request head with the same bytes; remembers what came. */
  static async answering(answer: string, seen: string[] = []): Promise<RawUpstream> {
    return RawUpstream.start(socket => {
      let text = ''
      socket.on('data', chunk => {
        text += chunk.toString('latin1')
        if (!text.includes('\r\n\r\n')) return
        seen.push(text)
        text = ''
        socket.write(answer, 'latin1')
      })
    })
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    this.server.close()
    await once(this.server, 'close')
  }
}

/** Waits for a condition that sockets bring about. */
export async function until(met: () => boolean): Promise<void> {
  while (!met()) await new Promise(resolve => setTimeout(resolve, 2))
}
