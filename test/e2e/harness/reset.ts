import type { Socket } from 'node:net'

/**
 * RST. Node refuses it while the end of the socket is on its way to the system, and then neither closes the socket nor
 * tells of it: one that is ended already is closed in the ordinary way.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
