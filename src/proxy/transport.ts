import type { Clock } from '../clock/clock.js'
import type { Snapshot, UpstreamSnapshot } from '../core/snapshot.js'
import type { Attempt, AttemptListener, AttemptRequest, Transport } from '../pipeline/ports.js'
import { UndiciAttempt } from './attempt.js'
import { ConnectAttempt } from './connect-attempt.js'
import { ConnectDownstream } from './connect-downstream.js'
import { Connection } from './connection.js'
import { ConnectionPool, type PoolTools, poolKey } from './pool.js'
import { Resolver } from './resolver.js'
import { TlsContexts } from './tls-context.js'
import type { WireCall } from './wire-call.js'

export interface TransportOptions {
  readonly clock: Clock
  readonly resolver?: Resolver
  /** Shared with the tunnels. */
  readonly tls?: TlsContexts
  /** Uniform in [0, 1); spreads the age of connections. */
  readonly random?: () => number
}

/** Most calls are over before their idle clock is started: it costs them nothing, and starts this late, ms. */
const WATCH_AFTER_MS = 10

/** Calls upstreams over HTTP/1.1; one pool of connections each. */
export class UndiciTransport implements Transport {
  readonly clock: Clock
  private readonly tools: PoolTools
  private readonly pools = new Map<string, ConnectionPool>()
  /** Of removed or changed upstreams: kept while requests that began under an older snapshot use them. */
  private readonly retired = new Set<ConnectionPool>()
  private toWatch: WireCall[] = []

  constructor(options: TransportOptions) {
    const { clock } = options
    this.clock = clock
    this.tools = {
      clock,
      resolver: options.resolver ?? new Resolver(clock),
      tls: options.tls ?? new TlsContexts(clock, () => {}),
      random: options.random ?? Math.random,
    }
  }

  send(request: AttemptRequest, listener: AttemptListener): Attempt {
    const { downstream } = request
    if (downstream instanceof ConnectDownstream) return new ConnectAttempt(request, downstream, listener, this.tools)
    const attempt = new UndiciAttempt(request, listener, this.poolOf(request.upstream), this)
    attempt.start()
    return attempt
  }

  settle(connection: object | null, failed: boolean): void {
    if (connection instanceof Connection) connection.settle(failed)
  }

  /** Keeps the connections of every upstream whose target and tls stay the same; the others' end with their calls. */
  reconcile(snapshot: Snapshot): void {
    for (const [name, pool] of this.pools) {
      const upstream = snapshot.upstreams.get(name)
      if (upstream !== undefined && poolKey(upstream) === pool.key) pool.reconfigure(upstream)
      else this.retire(name, pool)
    }
    for (const [name, upstream] of snapshot.upstreams) {
      if (!this.pools.has(name)) this.pools.set(name, new ConnectionPool(upstream, this.tools))
    }
    this.tools.tls.reconcile(snapshot)
  }

  /** Open connections of an upstream. */
  connections(upstreamName: string): number {
    return this.pools.get(upstreamName)?.size ?? 0
  }

  /** Ends every call and connection; resolves when all sockets are closed. */
  async destroy(): Promise<void> {
    const pools = [...this.pools.values(), ...this.retired]
    this.pools.clear()
    this.retired.clear()
    await Promise.all(pools.map(pool => pool.destroy()))
  }

  watchLater(call: WireCall): void {
    if (this.toWatch.push(call) === 1) this.clock.after(WATCH_AFTER_MS, this.watchAll)
  }

  private readonly watchAll = (): void => {
    const calls = this.toWatch
    this.toWatch = []
    for (const call of calls) call.watchIdle()
  }

  private poolOf(upstream: UpstreamSnapshot): ConnectionPool {
    const pool = this.pools.get(upstream.name)
    return pool !== undefined && pool.upstream === upstream ? pool : this.findPool(upstream, pool)
  }

  /** For an upstream of another snapshot than the current one. */
  private findPool(upstream: UpstreamSnapshot, current: ConnectionPool | undefined): ConnectionPool {
    const key = poolKey(upstream)
    if (current?.key === key) return current
    for (const pool of this.retired) if (pool.key === key) return pool
    const pool = new ConnectionPool(upstream, this.tools)
    this.retire(upstream.name, pool)
    return pool
  }

  private retire(name: string, pool: ConnectionPool): void {
    if (this.pools.get(name) === pool) this.pools.delete(name)
    pool.drain()
    for (const old of this.retired) if (old.empty) this.retired.delete(old)
    this.retired.add(pool)
  }
}
