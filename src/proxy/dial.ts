import type { LookupAddress } from 'node:dns'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls, type SecureContext } from 'node:tls'
import type { Clock, Timer } from '../clock/clock.js'
import type { TargetSnapshot, UpstreamSnapshot } from '../core/snapshot.js'
import { AddressRace } from './address-race.js'
import { CONNECT_TIMEOUT, CodedError, FORBIDDEN_ADDRESS } from './failure.js'
import type { Resolver } from './resolver.js'
import type { TlsContexts } from './tls-context.js'

/** What a dial needs to know of an upstream. */
export interface DialTarget {
  readonly target: TargetSnapshot
  /** `null` = plain TCP; an error = the files of the `tls` section cannot be used. */
  readonly tls: { readonly context: () => SecureContext | CodedError; readonly serverName: string | undefined } | null
  /** Last TLS session, for a short handshake; good for the context that it began under. */
  session: { readonly ticket: Buffer; readonly of: SecureContext } | null
  /** Why an address, or a name whatever its address, must not be called. Every address that is dialled was asked for. */
  readonly whyForbidden?: (host: string) => string | null
}

export function dialTarget(
  { target, tls }: Pick<UpstreamSnapshot, 'target' | 'tls'>,
  contexts: TlsContexts,
): DialTarget {
  if (target.protocol === 'http:') return { target, tls: null, session: null }
  const files = contexts.of(tls)
  return { target, tls: { context: () => files.context(), serverName: tls.serverName }, session: null }
}

export type Dialled = (error: Error | null, socket: Socket | null) => void

/** TCP keep-alive probes, ms: a peer that vanished without a FIN is noticed while idle. */
const PROBE_AFTER_MS = 60_000

/** One connection being made: DNS, TCP and TLS on one clock. Calls back exactly once, never before it is returned. */
export class Dial {
  private race: AddressRace | null = null
  private socket: Socket | null = null
  private timer: Timer | null = null
  private context: SecureContext | null = null
  private done: Dialled | null

  constructor(
    private readonly to: DialTarget,
    private readonly resolver: Resolver,
    private readonly clock: Clock,
    private readonly timeoutMs: number,
    done: Dialled,
  ) {
    this.done = done
    if (timeoutMs !== Number.POSITIVE_INFINITY) {
      this.timer = clock.after(timeoutMs, () => {
        this.finish(new CodedError(CONNECT_TIMEOUT, `no connection within ${timeoutMs} ms`))
      })
    }
    queueMicrotask(() => this.start())
  }

  /** No call-back follows. */
  cancel(): void {
    this.done = null
    this.timer?.cancel()
    this.race?.cancel()
    this.socket?.destroy()
  }

  /** Ends it with this error. */
  fail(error: Error): void {
    this.finish(error)
  }

  private start(): void {
    if (this.done === null) return
    const { hostname, socketPath } = this.to.target
    const why = this.to.whyForbidden?.(hostname) ?? null
    const context = this.to.tls?.context() ?? null
    if (context instanceof CodedError) return this.finish(context)
    this.context = context
    if (why !== null) this.finish(forbidden(hostname, why))
    else if (isIP(hostname) !== 0 || socketPath !== undefined) this.connect(null)
    else
      this.resolver.resolve(hostname, (error, addresses) => {
        if (error === null) this.resolved(addresses)
        else this.finish(error)
      })
  }

  private resolved(addresses: readonly LookupAddress[]): void {
    const { whyForbidden, target } = this.to
    if (whyForbidden === undefined) return this.connect(addresses)
    const permitted = addresses.filter(({ address }) => whyForbidden(address) === null)
    const first = addresses[0]?.address ?? ''
    if (permitted.length > 0) this.connect(permitted)
    else this.finish(forbidden(`${target.hostname}, which resolves to ${first},`, whyForbidden(first) ?? ''))
  }

  private connect(addresses: readonly LookupAddress[] | null): void {
    if (this.done === null) return
    const { hostname, port, socketPath } = this.to.target
    const settings = { noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS }
    const open = (host: string) =>
      connectTcp(socketPath === undefined ? { host, port, ...settings } : { path: socketPath, ...settings })
    const known = addresses ?? [{ address: hostname, family: isIP(hostname) }]
    this.race = new AddressRace(known, this.timeoutMs, this.clock, open, (error, socket) => {
      if (socket === null) return this.finish(error)
      this.socket = socket
      socket.on('error', failure => this.finish(failure))
      if (this.context === null) this.finish(null)
      else this.handshake(socket, this.context, this.to.tls?.serverName)
    })
  }

  private handshake(tcp: Socket, context: SecureContext, serverName: string | undefined): void {
    const hostname = serverName ?? this.to.target.hostname
    const options: ConnectionOptions = {
      socket: tcp,
      secureContext: context,
      // An address must not be sent as a name (RFC 6066 §3), yet the certificate is checked against it.
      ...(isIP(hostname) === 0 ? { servername: hostname } : { host: hostname }),
      ALPNProtocols: ['http/1.1'],
      ...(this.to.session?.of === context && { session: this.to.session.ticket }),
    }
    const socket = connectTls(options)
    this.socket = socket
    socket.on('error', error => this.finish(error))
    socket.once('close', () => this.finish(new CodedError('ECONNRESET', 'closed during the TLS handshake')))
    socket.once('secureConnect', () => {
      socket.on('session', ticket => {
        this.to.session = { ticket, of: context }
      })
      this.finish(null)
    })
  }

  private finish(error: Error | null): void {
    const done = this.done
    if (done === null) return
    this.done = null
    this.timer?.cancel()
    if (error !== null) {
      this.race?.cancel()
      this.socket?.destroy()
      done(error, null)
    } else done(null, this.socket)
  }
}

function forbidden(what: string, why: string): CodedError {
  return new CodedError(FORBIDDEN_ADDRESS, `${what} is ${why}, and is called only when it is declared`)
}
