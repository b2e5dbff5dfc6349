import type { Socket } from 'node:net'
import { UNMATCHED } from '../core/unmatched.js'
import type { Attempt, AttemptListener, AttemptRequest, HeldResponse, RawHeaders } from '../pipeline/ports.js'
import type { ConnectDownstream } from './connect-downstream.js'
import { Dial } from './dial.js'
import { connectFailure } from './failure.js'
import { whyForbidden } from './forbidden-address.js'
import type { PoolTools } from './pool.js'

const ESTABLISHED = Object.freeze({ status: 200, statusText: 'Connection Established', headers: [] })

/** One connection to the upstream for a CONNECT of the app: TCP alone, whatever the target's scheme. */
export class ConnectAttempt implements Attempt {
  readonly connection = null
  readonly bytes = 0
  readonly heldByApp = false
  private readonly dial: Dial
  /** Between the connection and its delivery. */
  private socket: Socket | null = null

  constructor(
    request: AttemptRequest,
    private readonly downstream: ConnectDownstream,
    private readonly listener: AttemptListener,
    { clock, resolver }: PoolTools,
  ) {
    const { name, target } = request.upstream
    const to = { target, tls: null, session: null, ...(name === UNMATCHED && { whyForbidden }) }
    this.dial = new Dial(to, resolver, clock, request.connectTimeoutMs, (error, socket) => this.dialled(error, socket))
  }

  deliver(extra: RawHeaders): void {
    const { socket } = this
    if (socket === null) return
    this.socket = null
    this.downstream.open(socket, extra)
    // What happens within the tunnel is no longer the attempt's business.
    this.listener.onDelivered(0)
  }

  /** There is no answer that could be kept. */
  hold(): void {
    this.abort()
  }

  read(): void {
    this.abort()
  }

  held(): HeldResponse | null {
    return null
  }

  abort(): void {
    this.dial.cancel()
    this.socket?.destroy()
    this.socket = null
  }

  private dialled(error: Error | null, socket: Socket | null): void {
    if (socket === null) return this.listener.onFailure(connectFailure(error ?? new Error('no socket')))
    this.socket = socket
    this.listener.onHead(ESTABLISHED)
    if (this.socket !== null) this.abort()
  }
}
