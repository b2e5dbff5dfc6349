import type { Server } from 'node:net'

/** How often refused connections are told of, ms. */
const TELL_EVERY_MS = 60_000

/**
 * Bounds the open connections of one listener; one more is closed before a byte of it is read. The first is told at once,
 * the others by their number.
 */
export function limitConnections(server: Server, max: number, tell: (refused: number) => void): void {
  let refused = 0
  let timer: NodeJS.Timeout | null = null
  const say = (): void => {
    timer = refused === 0 ? null : setTimeout(say, TELL_EVERY_MS).unref()
    if (refused > 0) tell(refused)
    refused = 0
  }
  server.maxConnections = max
  server.on('drop', () => {
    refused += 1
    if (timer === null) say()
  })
}
