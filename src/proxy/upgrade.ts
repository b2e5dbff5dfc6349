/** All tunnels of one listener. http-proxy is loaded with the first of an upgrade. */
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type { UpgradeGranted } from '../pipeline/upgrade-ports.js'
import { Tunnel, type TunnelDeps } from './tunnel.js'

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
      tunnel.start(loadHttpProxy().createProxyServer(), head)
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

/** Not by `import()`: on a busy host Node 20 now and then makes an empty namespace of it, and keeps that for good. */
function loadHttpProxy(): typeof import('http-proxy') {
  return createRequire(import.meta.url)('http-proxy')
}
