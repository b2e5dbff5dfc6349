import type { Socket } from 'node:net'
import type { NodeDownstream } from './downstream.js'

/** How often an app that has closed its side is asked whether it still listens, ms. */
const ASK_EVERY_MS = 500
/** By then the system knows what became of what was sent, ms. */
const REPLY_MS = 20
const PROCESSING = 102
const NOTHING = Buffer.alloc(0)

/**
 * The app has ended its side of the connection. Whether it waits for its answer, as RFC 9112 §9.6 lets it, or has closed
 * altogether looks alike until something is sent: a connection that nobody has any more answers with a reset. So an
 * interim answer is sent, now and again, which whoever listens ignores.
 */
export function watchHalfClosed(socket: Socket, call: NodeDownstream): void {
  if (socket.destroyed || call.settled) return
  if (!call.takesInterim) {
    socket.destroy()
    return
  }
  call.interim(PROCESSING, [])
  // A reset is seen by the next write; one of nothing will do.
  setTimeout(() => socket.writable && socket.write(NOTHING), REPLY_MS).unref()
  setTimeout(() => watchHalfClosed(socket, call), ASK_EVERY_MS).unref()
}
