/** All tunnelled sessions of one listener. http-proxy is loaded with the first of them. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { UpgradeGranted } from '../pipeline/ports.js'
import { Tunnel, type TunnelDeps } from './tunnel.js'

export class UpgradeTunnels {
  readonly #tunnels = new Set<Tunnel>()

  constructor(private readonly deps: TunnelDeps) {}

  get size(): number {
    return this.#tunnels.size
  }

  open(request: IncomingMessage, socket: Socket, head: Buffer, token: string, granted: UpgradeGranted): void {
    const tunnel = new Tunnel(request, socket, token, granted, this.deps)
    this.#tunnels.add(tunnel)
    socket.once('close', () => this.#tunnels.delete(tunnel))
    import('http-proxy')
      // Named exports of CommonJS are found by a scan of its text, and are not there when that fails; `default` always is.
      .then(({ default: library }) => tunnel.start(library.createProxyServer(), head))
      .catch(error => this.#failed(tunnel, error))
  }

  #failed(tunnel: Tunnel, error: unknown): void {
    const text = error instanceof Error ? error.message : String(error)
    this.deps.events.emit({ type: 'notice', level: 'error', message: 'tunnel failed', detail: { error: text } })
    tunnel.destroy()
  }

  destroyAll(): void {
    for (const tunnel of this.#tunnels) tunnel.destroy()
  }
}
