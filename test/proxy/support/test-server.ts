import { ownAnswer } from '../../../src/pipeline/answers.js'
import type { AppListener, RequestAddress } from '../../../src/pipeline/ports.js'
import { ConnectDownstream } from '../../../src/proxy/connect-downstream.js'
import { Dial, dialTarget } from '../../../src/proxy/dial.js'
import type { ProxyDownstream } from '../../../src/proxy/downstream-port.js'
import type { RequestHandler } from '../../../src/proxy/request-handler.js'
import { type Lookup, Resolver } from '../../../src/proxy/resolver.js'
import { ProxyServer, type ServerOptions } from '../../../src/proxy/server.js'
import { TlsContexts } from '../../../src/proxy/tls-context.js'
import type { ForbearEvent } from '../../../src/telemetry/events.js'
import { RawClient } from './raw-client.js'
import { systemClock } from './system-clock.js'

export interface Exchange {
  readonly downstream: ProxyDownstream
  readonly address: RequestAddress
  gone: number
  answered: number
}

/** A server whose requests the test answers by hand. */
export class TestServer {
  readonly exchanges: Exchange[] = []
  readonly events: ForbearEvent[] = []
  readonly server: ProxyServer
  addresses: string[] = []
  readonly dials: Dial[] = []
  readonly #clients: RawClient[] = []
  readonly #tls = new TlsContexts(systemClock, () => {})
  readonly #asked: (() => void)[] = []
  readonly #resolver = new Resolver(systemClock, this.#lookup(), this.#lookup())

  constructor(
    onRequest: (exchange: Exchange) => void,
    options: Partial<ServerOptions> = {},
    upgrade: RequestHandler['upgrade'] = () => ({ proceed: false, answer: ownAnswer('no-route') }),
    onTunnel: (downstream: ConnectDownstream) => AppListener = refuseTunnel,
  ) {
    const handler: RequestHandler = {
      handle: (downstream, address) => {
        if (downstream instanceof ConnectDownstream) return onTunnel(downstream)
        const exchange: Exchange = { downstream, address, gone: 0, answered: 0 }
        this.exchanges.push(exchange)
        onRequest(exchange)
        return {
          onAppGone: () => {
            exchange.gone += 1
          },
          onAnswered: () => {
            exchange.answered += 1
          },
        }
      },
      upgrade,
    }
    const all: ServerOptions = { listen: '127.0.0.1:0', role: 'shared', upstreamName: null, ...options }
    this.server = new ProxyServer(all, handler, {
      events: { emit: event => this.events.push(event) },
      dial: (upstream, timeoutMs, done) => {
        const dial = new Dial(dialTarget(upstream, this.#tls), this.#resolver, systemClock, timeoutMs, done)
        this.dials.push(dial)
        return dial
      },
    })
  }

  async start(): Promise<this> {
    this.addresses = await this.server.listen()
    return this
  }

  get address(): string {
    return this.addresses[0] as string
  }

  async client(): Promise<RawClient> {
    const client = await RawClient.open(this.address)
    this.#clients.push(client)
    return client
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.destroy()
    this.server.destroyAll()
    await this.server.close()
  }

  /** Of those who asked for `never.example`. */
  answerNames(): void {
    for (const answer of this.#asked.splice(0)) answer()
  }

  get notices(): string[] {
    return this.events.flatMap(event => (event.type === 'notice' ? [event.message] : []))
  }

  /** There is `known.example`, and `never.example` without an answer. */
  #lookup(): Lookup {
    return (name, done) => {
      if (name === 'known.example') done(null, [LOCALHOST])
      else if (name === 'never.example') this.#asked.push(() => done(null, [LOCALHOST]))
      else done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), [])
    }
  }
}

export async function eventually(test: () => boolean): Promise<void> {
  for (let i = 0; i < 400; i += 1) {
    if (test()) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  throw new Error('it did not happen')
}

/** Answers with everything it was sent, streamed. */
export function echo(exchange: Exchange): void {
  const { downstream } = exchange
  const body = downstream.openBody()
  const head = { status: 200, statusText: 'OK', headers: ['X-Path', downstream.path, 'X-Method', downstream.method] }
  if (body === null) {
    downstream.begin({ ...head, headers: [...head.headers, 'Content-Length', '0'] }, ['forbear-attempts', '1'])
    downstream.end([])
    return
  }
  downstream.body?.capture(0)
  downstream.begin(head, ['forbear-attempts', '1'])
  body.stream.on('data', (chunk: Buffer) => {
    if (downstream.write(chunk)) return
    body.stream.pause()
    downstream.onDrain(() => body.stream.resume())
  })
  body.stream.on('end', () => downstream.end([]))
  body.stream.on('error', () => downstream.destroy())
}

function refuseTunnel(downstream: ConnectDownstream): AppListener {
  const { status, statusText, headers, body } = ownAnswer('no-route')
  downstream.answer({ status, statusText, headers }, [], body)
  return { onAnswered() {}, onAppGone() {} }
}

const LOCALHOST = { address: '127.0.0.1', family: 4 }
