/** A small HTTP server for operators: one listener per address, nothing a client sends can throw. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { ListenAddress } from '../core/listen-address.js'
import { BindError, bindAll, boundAddress, readListenAddress } from '../proxy/bind.js'
import { type Answer, problem } from './answer.js'

export interface AdminRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly host: string | undefined
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`: which page made a browser send this. */
  readonly fetchSite?: string | undefined
}

export type Handler = (request: AdminRequest) => Answer | Promise<Answer>

export interface ManagedServer {
  /** `HOST:PORT`; gives the addresses bound, with the real port for port 0. Rejects with `BindError`. */
  listen(address: string): Promise<readonly string[]>
  /** Running answers get up to a second to end. */
  close(): Promise<void>
}

/** Times in ms; a client has 10 s to send its request. */
const OPTIONS = { requestTimeout: 10_000, connectionsCheckingInterval: 5000 } as const
const CLOSE_GRACE_MS = 1000

export function createHttpServer(
  handler: Handler,
  refuse: (address: ListenAddress) => string | null = () => null,
): ManagedServer {
  const servers: Server[] = []

  async function listen(text: string): Promise<readonly string[]> {
    const address = readListenAddress(text)
    const refused = refuse(address)
    if (refused !== null) throw new BindError(refused, 'EACCES')
    // A connection that could not be accepted is its client's loss; the server goes on.
    const bound = await bindAll(address, create, () => undefined)
    servers.push(...bound)
    return bound.map(boundAddress)
  }

  function create(): Server {
    return createServer(OPTIONS, (request, response) => void respond(handler, request, response))
  }

  async function close(): Promise<void> {
    await Promise.all(servers.splice(0).map(closeServer))
  }

  return { listen, close }
}

async function respond(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await answerOf(handler, request)
  if (answer.afterwards !== undefined) response.once('close', answer.afterwards)
  response.writeHead(answer.status, {
    'content-type': answer.contentType,
    ...(answer.stream === undefined && { 'content-length': Buffer.byteLength(answer.body) }),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...answer.headers,
  })
  if (answer.stream === undefined) response.end(answer.body)
  else answer.stream(response)
}

async function answerOf(handler: Handler, { method = '', url = '', headers }: IncomingMessage): Promise<Answer> {
  const [path = '', ...query] = url.split('?')
  try {
    const { host, origin, 'sec-fetch-site': site } = headers
    const fetchSite = typeof site === 'string' ? site : undefined
    return await handler({ method, path, query: new URLSearchParams(query.join('?')), host, origin, fetchSite })
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
