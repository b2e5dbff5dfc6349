/** Binding of listeners, those of the health and admin ports included. */
import type { AddressInfo, Server } from 'node:net'
import { formatAddress, type ListenAddress, parseListenAddress } from '../core/listen-address.js'

/** An HTTP server of whatever request and response classes. */
type HttpServer = Server & { closeAllConnections(): void }

/** A listener could not be bound; the message says where, why and what to do. */
export class BindError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message)
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has this port; stop it or choose another port',
  EADDRNOTAVAIL: 'this host has no such address; use 127.0.0.1 or localhost',
  EACCES: 'this user may not bind the port; choose one above 1023',
}

/** The address family that `localhost` means beside the first may be missing on this host. */
const MISSING_FAMILY: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])
/** Two addresses must agree on a port that the first got at random. */
const RANDOM_PORT_TRIES = 5

/** Throws `BindError`. */
export function readListenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text)
  if ('error' in address) throw new BindError(address.error, 'EINVAL')
  return address
}

/**
 * One server for each host, all on one port; rejects with `BindError` and then holds nothing. `onError` hears of what goes
 * wrong with a bound one.
 */
export async function bindAll<S extends HttpServer>(
  { hosts, port }: ListenAddress,
  create: () => S,
  onError: (error: Error) => void,
): Promise<S[]> {
  for (let tries = 1; ; tries += 1) {
    const bound: S[] = []
    try {
      for (const host of hosts) await bindNext(bound, host, port, create, onError)
      return bound
    } catch (error) {
      await Promise.all(bound.map(drop))
      const unlucky = port === 0 && error instanceof BindError && error.code === 'EADDRINUSE'
      if (!unlucky || tries === RANDOM_PORT_TRIES) throw error
    }
  }
}

/** `host:port` that the server is bound to. */
export function boundAddress(server: Server): string {
  const { address, port } = server.address() as AddressInfo
  return formatAddress(address, port)
}

async function bindNext<S extends HttpServer>(
  bound: S[],
  host: string,
  wantedPort: number,
  create: () => S,
  onError: (error: Error) => void,
): Promise<void> {
  const first = bound[0]
  const port = first === undefined ? wantedPort : (first.address() as AddressInfo).port
  try {
    bound.push(await bind(create(), host, port, onError))
  } catch (error) {
    if (first === undefined || !(error instanceof BindError) || !MISSING_FAMILY.has(error.code)) throw error
  }
}

/**
 * Connections that may wait to be accepted. Node's 511 overflow when a busy host keeps the process from the core for a
 * moment, and the kernel then drops calls; it takes no more than `net.core.somaxconn`.
 */
const BACKLOG = 4096

function bind<S extends HttpServer>(
  server: S,
  host: string,
  port: number,
  onError: (error: Error) => void,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const refuse = ({ code = 'unknown error' }: NodeJS.ErrnoException) => {
      const why = REMEDIES[code] ?? 'the system refused it'
      reject(new BindError(`cannot listen on ${formatAddress(host, port)}: ${why} (${code})`, code))
    }
    server.once('error', refuse)
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', refuse)
      server.on('error', onError)
      resolve(server)
    })
  })
}

function drop(server: HttpServer): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
