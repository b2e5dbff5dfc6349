/** All tunnels of one listener. http-proxy is loaded with the first of an upgrade. */
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type { UpgradeGranted } from '../pipeline/ports.js'
import { Tunnel, type TunnelDeps } from './tunnel.js'

/** Required, not imported: on Node 20 an `import()` of a CommonJS package may give it without its exports. */
function httpProxy(): typeof import('http-proxy') {
  return createRequire(import.meta.url)('http-proxy') as typeof import('http-proxy')
}

export class UpgradeTunnels {
  readonly #tunnels = new Set<{ destroy(): void }>()

  constructor(private readonly deps: TunnelDeps) {}

  get size(): number {
    return this.#tunnels.size
  }

  /** `tunnel` lives as long as the app's `socket`. */
  track(tunnel: { destroy(): void }, socket: Socket): void {
    this.#tunnels.add(tunnel)
    socket.once('close', () => this.#tunnels.delete(tunnel))
  }

  open(request: IncomingMessage, socket: Socket, head: Buffer, token: string, granted: UpgradeGranted): void {
    const tunnel = new Tunnel(request, socket, token, granted, this.deps)
    this.track(tunnel, socket)
    try {
      tunnel.start(httpProxy().createProxyServer(), head)
    } catch (error) {
      this.#failed(tunnel, error)
    }
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
