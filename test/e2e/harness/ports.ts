import { createServer } from 'node:net'

/**
 * Ports below the ephemeral range: an outgoing connection of another test can never take one between its choice here and the
 * moment that a child process binds it.
 */
const LOWEST = 12_000
const HIGHEST = 31_999
const given = new Set<number>()

/** A port of 127.0.0.1 on which nobody listens, not given before in this process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1))
    if (given.has(port)) continue
    given.add(port)
    if (await bindable(port)) return port
  }
}

function bindable(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
