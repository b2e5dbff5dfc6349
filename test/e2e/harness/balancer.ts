/** What stands between a sidecar and the replicas of a service: real sockets in, real sockets out. */
import { Agent, createServer as createHttp, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcp, type Server, type Socket } from 'node:net'
import type { Upstream } from './upstream.js'

/**
 * `connection`: as kube-proxy, a connection stays with the replica that it was given to. `request`: as an ingress, each
 * request goes to the next replica, and one that cannot be reached is a 503.
 */
export type Balancing = 'connection' | 'request'

export class Balancer {
  /** Those that get new connections or requests. */
  readonly endpoints: Upstream[]
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #agent = new Agent({ keepAlive: true })
  #turn = 0

  private constructor(balancing: Balancing, replicas: readonly Upstream[]) {
    this.endpoints = [...replicas]
    this.#server =
      balancing === 'connection'
        ? createTcp({ noDelay: true }, socket => this.#join(socket))
        : createHttp({ keepAliveTimeout: 60_000 }, (req, res) => this.#pass(req, res))
    this.#server.on('connection', socket => this.#keep(socket))
  }

  static start(balancing: Balancing, replicas: readonly Upstream[]): Promise<Balancer> {
    const balancer = new Balancer(balancing, replicas)
    return new Promise(resolve => balancer.#server.listen(0, '127.0.0.1', () => resolve(balancer)))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** As when the endpoints controller hears that a replica is gone. */
  remove(replica: Upstream): void {
    this.endpoints.splice(this.endpoints.indexOf(replica), 1)
  }

  close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    this.#agent.destroy()
    for (const socket of this.#sockets) socket.destroy()
    return closed
  }

  #next(): Upstream {
    return this.endpoints[this.#turn++ % this.endpoints.length] as Upstream
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #join(client: Socket): void {
    const replica = connect({ port: this.#next().port, host: '127.0.0.1', noDelay: true })
    this.#keep(replica)
    client.pipe(replica).pipe(client)
    replica.on('error', () => client.resetAndDestroy())
    replica.on('close', () => client.destroy())
    client.on('close', () => replica.destroy())
  }

  #pass(req: IncomingMessage, res: ServerResponse): void {
    const { method, headers, url: path } = req
    const { port } = this.#next()
    const onward = request({ port, host: '127.0.0.1', method, headers, path, agent: this.#agent })
    onward.on('response', answer => {
      res.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(res)
      answer.on('error', () => res.destroy())
    })
    onward.on('error', () => {
      if (res.headersSent) res.destroy()
      else res.writeHead(503).end()
    })
    res.on('close', () => {
      if (!res.writableFinished) onward.destroy()
    })
    req.pipe(onward)
  }
}
