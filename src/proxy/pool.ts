import type { Clock } from '../clock/clock.js'
import type { UpstreamSnapshot } from '../core/snapshot.js'
import type { AttemptFailure } from '../pipeline/ports.js'
import { Connection, type ConnectionOwner } from './connection.js'
import { Dial, type DialTarget, dialTarget } from './dial.js'
import { CodedError, connectFailure } from './failure.js'
import type { Resolver } from './resolver.js'
import type { TlsContexts } from './tls-context.js'

export interface PoolTools {
  readonly clock: Clock
  readonly resolver: Resolver
  readonly tls: TlsContexts
  /** Uniform in [0, 1). */
  readonly random: () => number
}

export type Opened = (failure: AttemptFailure | null, connection: Connection | null) => void

/** Share of `maxAge` by which the life of a connection varies, so that a fleet does not reconnect at once. */
const AGE_SPREAD = 0.1

/** All connections to one upstream. */
export class ConnectionPool implements ConnectionOwner {
  /** What the pool was made for; a change of it needs a new pool. */
  readonly key: string
  private readonly to: DialTarget
  /** Longest idle first, so that calls are spread over all. */
  private readonly idle: Connection[] = []
  private readonly all = new Set<Connection>()
  private readonly dials = new Set<Dial>()
  private draining = false
  private whenEmpty: (() => void) | null = null

  constructor(
    public upstream: UpstreamSnapshot,
    private readonly tools: PoolTools,
  ) {
    this.key = poolKey(upstream)
    this.to = dialTarget(upstream, tools.tls)
  }

  get size(): number {
    return this.all.size
  }

  /** An idle connection that is not in `avoid`, or `null`. */
  take(avoid: readonly object[], nowMs: number): Connection | null {
    for (let at = 0; at < this.idle.length; ) {
      const connection = this.idle[at] as Connection
      if (avoid.length > 0 && avoid.includes(connection)) {
        at++
        continue
      }
      if (at === 0) this.idle.shift()
      else this.idle.splice(at, 1)
      if (connection.usable && !this.expired(connection, nowMs)) return connection
      connection.destroy()
    }
    return null
  }

  /** Makes a new connection. Returns how to give up on it. */
  open(timeoutMs: number, opened: Opened): () => void {
    this.makeRoom()
    const { clock, resolver } = this.tools
    const dial = new Dial(this.to, resolver, clock, timeoutMs, (error, socket) => {
      this.dials.delete(dial)
      if (socket === null) {
        this.checkEmpty()
        opened(connectFailure(error ?? new Error('no socket')), null)
        return
      }
      const connection = new Connection(socket, clock.nowMs(), this.lifeFactor(), this)
      this.all.add(connection)
      opened(null, connection)
    })
    this.dials.add(dial)
    return () => {
      dial.cancel()
      this.dials.delete(dial)
      this.checkEmpty()
    }
  }

  /** The call on it is over and its framing is intact. */
  release(connection: Connection, nowMs: number): void {
    connection.lastUsedMs = nowMs
    connection.expendable = false
    if (!connection.usable) return
    if (this.draining || connection.doomed || this.excess > 0 || this.expired(connection, nowMs)) connection.destroy()
    else this.idle.push(connection)
  }

  /**
   * As `release`, but a turn later, so that no call is sent before the sockets were looked at again: a body that a HEAD did
   * not ask for would be taken for the answer to that call; now it ends the connection.
   */
  releaseLater(connection: Connection): void {
    setImmediate(() => this.release(connection, this.tools.clock.nowMs()))
  }

  /** Takes over other limits; idle connections beyond them go at once, busy ones when they are free. */
  reconfigure(upstream: UpstreamSnapshot): void {
    this.upstream = upstream
    const { excess } = this
    for (const connection of this.idle.splice(0, Math.max(0, excess))) connection.destroy()
  }

  onDoomed(connection: Connection): void {
    if (this.dropIdle(connection)) connection.destroy()
  }

  onClosed(connection: Connection): void {
    this.all.delete(connection)
    this.dropIdle(connection)
    this.checkEmpty()
  }

  /** Running calls end in their own time, nothing is kept after them. */
  drain(): void {
    this.draining = true
    for (const connection of this.idle.splice(0)) connection.destroy()
  }

  /** Ends everything at once; resolves when every socket is closed. */
  destroy(): Promise<void> {
    this.draining = true
    for (const dial of this.dials) dial.fail(new CodedError('CLOSED', 'the transport was closed'))
    for (const connection of this.all) connection.destroy()
    return new Promise(resolve => {
      this.whenEmpty = resolve
      this.checkEmpty()
    })
  }

  get empty(): boolean {
    return this.all.size === 0 && this.dials.size === 0
  }

  /** At the limit, an idle connection (all that are left are to be avoided) or one that reads a discarded answer goes. */
  private makeRoom(): void {
    if (this.excess < 0) return
    const idle = this.idle.shift()
    if (idle !== undefined) {
      idle.destroy()
      return
    }
    for (const connection of this.all) {
      if (!connection.expendable || !connection.usable) continue
      connection.destroy()
      return
    }
  }

  /** Connections above the limit; negative = there is room. */
  private get excess(): number {
    const excess = this.all.size + this.dials.size - this.upstream.pool.maxConnections
    if (excess < 0) return excess
    let closing = 0
    for (const connection of this.all) if (!connection.usable) closing += 1
    return excess - closing
  }

  private lifeFactor(): number {
    return 1 - AGE_SPREAD + 2 * AGE_SPREAD * this.tools.random()
  }

  private expired(connection: Connection, nowMs: number): boolean {
    return nowMs >= connection.bornMs + this.upstream.pool.maxAgeMs * connection.lifeFactor
  }

  private dropIdle(connection: Connection): boolean {
    const at = this.idle.indexOf(connection)
    if (at >= 0) this.idle.splice(at, 1)
    return at >= 0
  }

  private checkEmpty(): void {
    if (this.empty) this.whenEmpty?.()
  }
}

/** Where an upstream is and how it is trusted; equal keys may share connections. */
export function poolKey(upstream: UpstreamSnapshot): string {
  const { protocol, hostname, port, socketPath } = upstream.target
  const { caFile, certFile, keyFile, serverName } = upstream.tls
  return JSON.stringify([protocol, hostname, port, socketPath, caFile, certFile, keyFile, serverName])
}
