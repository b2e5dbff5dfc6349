import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export type Connect = (done: (error: Error | null, socket: Socket | null) => void) => void

/** For one request of Node's client, whose connection is made elsewhere. */
export class DialAgent extends Agent {
  constructor(private readonly connect: Connect) {
    super()
  }

  override createConnection(
    _options: ClientRequestArgs,
    done: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    // Node's type wants a socket beside an error, its code does not.
    this.connect(done as Parameters<Connect>[0])
  }
}
