import type { Socket } from 'node:net'

/**
 * Joins two connections byte for byte. The end of one side is the end of the other's input only; a side that breaks takes
 * the other with it, as a reset, so that a cut cannot be taken for an end. Calls back once, when both are closed.
 */
export function join(a: Socket, b: Socket, onClosed: () => void): void {
  let open = 2
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.allowHalfOpen = true
    from.on('error', () => reset(to))
    from.once('close', () => {
      if (!from.readableEnded || !from.writableFinished) reset(to)
      open -= 1
      if (open === 0) onClosed()
    })
    from.pipe(to)
  }
}

function reset(socket: Socket): void {
  // Node resets TCP only; what has no address is a unix socket. Nor does it while the end is on its way, after the last
  // byte: it would leave the socket open for ever.
  const ending = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0
  if (ending || socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}
