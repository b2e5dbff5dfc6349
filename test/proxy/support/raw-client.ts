import { connect, type Socket } from 'node:net'

/** A TCP client that sees every byte. */
export class RawClient {
  received = ''
  closed = false
  readonly socket: Socket
  #waiting: (() => void)[] = []

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', text => {
      this.received += text
      this.#wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
      this.#wake()
    })
  }

  static async open(address: string): Promise<RawClient> {
    const url = new URL(`tcp://${address}`)
    const socket = connect({ host: url.hostname.replace(/[[\]]/g, ''), port: Number(url.port), noDelay: true })
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new RawClient(socket)
  }

  send(text: string): void {
    this.socket.write(text, 'latin1')
  }

  /** Resolves when everything received satisfies the test, or fails when the connection closes before. */
  async until(test: (received: string) => boolean): Promise<string> {
    while (!test(this.received)) {
      if (this.closed) throw new Error(`closed after ${JSON.stringify(this.received)}`)
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
    return this.received
  }

  untilHas(part: string): Promise<string> {
    return this.until(received => received.includes(part))
  }

  async untilClosed(): Promise<string> {
    while (!this.closed) await new Promise<void>(resolve => this.#waiting.push(resolve))
    return this.received
  }

  destroy(): void {
    this.socket.destroy()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const fn of waiting) fn()
  }
}

/** Body of the first response received. */
export function bodyOf(received: string): string {
  return received.slice(received.indexOf('\r\n\r\n') + 4)
}

/** Value of a field of the first response received. */
export function fieldOf(received: string, name: string): string | undefined {
  const head = received.slice(0, received.indexOf('\r\n\r\n'))
  const line = head.split('\r\n').find(l => l.toLowerCase().startsWith(`${name.toLowerCase()}:`))
  return line?.slice(name.length + 1).trim()
}
