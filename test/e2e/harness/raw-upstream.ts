/** A TCP upstream for cases where the bytes matter. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** Called once for each request head (up to the blank line, latin1) that arrives on a connection. */
export type RawScript = (socket: Socket, head: string) => void

export class RawUpstream {
  /** All bytes received, latin1, one entry a connection. */
  readonly transcripts: string[] = []
  readonly sockets = new Set<Socket>()
  readonly server: Server

  private constructor(script: RawScript) {
    this.server = createServer(socket => {
      const index = this.transcripts.push('') - 1
      let scanned = 0
      this.sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.sockets.delete(socket))
      socket.on('data', chunk => {
        this.transcripts[index] += chunk.toString('latin1')
        const text = this.transcripts[index] ?? ''
        for (let end = text.indexOf('\r\n\r\n', scanned); end !== -1; end = text.indexOf('\r\n\r\n', scanned)) {
          const head = text.slice(scanned, end + 4)
          scanned = end + 4
          script(socket, head)
        }
      })
    })
  }

  static start(script: RawScript): Promise<RawUpstream> {
    const upstream = new RawUpstream(script)
    return new Promise(resolve => upstream.server.listen(0, '127.0.0.1', () => resolve(upstream)))
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  /** Gives what arrived since this call, connection after connection. */
  mark(): () => string {
    const before = this.transcripts.map(text => text.length)
    return () => this.transcripts.map((text, at) => text.slice(before[at] ?? 0)).join('')
  }

  close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    for (const socket of this.sockets) socket.destroy()
    return closed
  }
}
