import type { Exchange } from './exchange.js'
import type { AppListener, TunnelBytes } from './ports.js'
import { TunnelSlot } from './tunnel-slot.js'

/** A CONNECT: an exchange that may end in a tunnel. */
export class ConnectCall implements AppListener {
  readonly #exchange: Exchange
  readonly #slot: TunnelSlot

  constructor(exchange: Exchange) {
    const { lane, deps, upstream, route, generation, downstream, appPath } = exchange
    const facts = { upstream: upstream.name, route, method: downstream.method, path: appPath, generation }
    this.#exchange = exchange
    this.#slot = new TunnelSlot(lane.limiter, deps.clock, deps.sink, facts)
  }

  onTunnel(): void {
    this.#slot.open()
  }

  onAnswered(tunnelled?: TunnelBytes): void {
    this.#slot.close(tunnelled)
    this.#exchange.onAnswered()
  }

  onAppGone(): void {
    this.#slot.close()
    this.#exchange.onAppGone()
  }
}
