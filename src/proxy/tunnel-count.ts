import type { Socket } from 'node:net'
import type { TunnelBytes } from '../pipeline/ports.js'

/** Counts what passes an open tunnel, at the app's socket: there it is in plain, whatever the other side. */
export class TunnelCount {
  readonly #readBefore: number
  readonly #writtenBefore: number

  /** The answer that opens the tunnel has been written; `early` = bytes that came before it and belong to the tunnel. */
  constructor(
    private readonly socket: Socket,
    early: number,
  ) {
    this.#readBefore = socket.bytesRead - early
    this.#writtenBefore = socket.bytesWritten
  }

  get bytes(): TunnelBytes {
    const { bytesRead, bytesWritten } = this.socket
    return { toUpstream: bytesRead - this.#readBefore, toApp: bytesWritten - this.#writtenBefore }
  }
}
