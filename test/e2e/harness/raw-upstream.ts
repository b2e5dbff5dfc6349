/** A TCP upstream for cases where the bytes matter. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

const BLANK_LINE = '\r\n\r\n'

/** Called once for each request head (up to the blank line, latin1) that arrives on a connection. */
export type RawScript = (socket: Socket, head: string) => void

/** Cuts a stream at its blank lines. It looks at each byte once, so that a body of many megabytes costs no more than its length. */
class HeadReader {
  #open: string[] = []
  #tail = ''

  read(text: string): string[] {
    const heads: string[] = []
    let rest = text
    let at = (this.#tail + rest).indexOf(BLANK_LINE)
    while (at !== -1) {
      const end = at + BLANK_LINE.length - this.#tail.length
      heads.push([...this.#open, rest.slice(0, end)].join(''))
      rest = rest.slice(end)
      this.#open = []
      this.#tail = ''
      at = rest.indexOf(BLANK_LINE)
    }
    this.#open.push(rest)
    this.#tail = (this.#tail + rest).slice(1 - BLANK_LINE.length)
    return heads
  }
}

export class RawUpstream {
  /** All bytes received, latin1, one entry a connection. */
  readonly transcripts: string[] = []
  readonly sockets = new Set<Socket>()
  readonly server: Server

  private constructor(script: RawScript) {
    this.server = createServer(socket => {
      const index = this.transcripts.push('') - 1
      const heads = new HeadReader()
      this.sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.sockets.delete(socket))
      socket.on('data', chunk => {
        const text = chunk.toString('latin1')
        this.transcripts[index] += text
        for (const head of heads.read(text)) script(socket, head)
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
