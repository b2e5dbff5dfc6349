/** A small HTTP server for operators: one listener per address, nothing a client sends can throw. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { formatAddress, type ListenAddress, parseListenAddress } from '../core/listen-address.js'
import { type Answer, problem } from './answer.js'

export interface AdminRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly host: string | undefined
  readonly origin: string | undefined
}

export type Handler = (request: AdminRequest) => Answer | Promise<Answer>

export interface ManagedServer {
  /** `HOST:PORT`; gives the addresses bound, with the real port for port 0. Rejects with a readable reason. */
  listen(address: string): Promise<readonly string[]>
  /** Running answers get up to a second to end. */
  close(): Promise<void>
}

/** A client has this long to send its request, ms. */
const REQUEST_TIMEOUT_MS = 10_000
const CLOSE_GRACE_MS = 1000
/** Two addresses must agree on a port that the first got at random. */
const RANDOM_PORT_TRIES = 5

export function createHttpServer(
  handler: Handler,
  refuse: (address: ListenAddress) => string | null = () => null,
): ManagedServer {
  const servers: Server[] = []

  async function listen(text: string): Promise<readonly string[]> {
    const address = parseListenAddress(text)
    if ('error' in address) throw new Error(address.error)
    const refused = refuse(address)
    if (refused !== null) throw new Error(refused)
    const bound = await bindAll(address, (request, response) => void respond(handler, request, response))
    servers.push(...bound)
    return bound.map(addressOf)
  }

  async function close(): Promise<void> {
    await Promise.all(servers.splice(0).map(closeServer))
  }

  return { listen, close }
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

async function bindAll(address: ListenAddress, listener: Listener): Promise<Server[]> {
  for (let tries = 1; ; tries += 1) {
    const bound: Server[] = []
    try {
      for (const host of address.hosts) {
        const first = bound[0]
        const port = first === undefined ? address.port : portOf(first)
        const server = await bind(host, port, listener).catch((error: unknown) => {
          // A host without IPv6 has no ::1.
          if (first !== undefined && hasCode(error, 'EADDRNOTAVAIL', 'EAFNOSUPPORT')) return null
          throw error
        })
        if (server !== null) bound.push(server)
      }
      return bound
    } catch (error) {
      await Promise.all(bound.map(closeServer))
      if (address.port === 0 && hasCode(error, 'EADDRINUSE') && tries < RANDOM_PORT_TRIES) continue
      throw error
    }
  }
}

function bind(host: string, port: number, listener: Listener): Promise<Server> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 5000 }, listener)
  return new Promise((resolve, reject) => {
    server.once('error', error =>
      reject(Object.assign(new Error(`cannot listen on ${formatAddress(host, port)}: ${error.message}`), { ...error })),
    )
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      // A connection that could not be accepted is its client's loss; the server goes on.
      server.on('error', () => undefined)
      resolve(server)
    })
  })
}

async function respond(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await answerOf(handler, request)
  if (answer.afterwards !== undefined) response.once('close', answer.afterwards)
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(answer.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...answer.headers,
  })
  response.end(answer.body)
}

async function answerOf(handler: Handler, { method = '', url = '', headers }: IncomingMessage): Promise<Answer> {
  const [path = '', ...query] = url.split('?')
  try {
    const { host, origin } = headers
    return await handler({ method, path, query: new URLSearchParams(query.join('?')), host, origin })
  } catch (error) {
    return problem(500, error instanceof Error ? error.message : String(error))
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function addressOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo
  return formatAddress(address, port)
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
