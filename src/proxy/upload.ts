import type { Readable } from 'node:stream'
import type { Connection } from './connection.js'
import { codeOf } from './failure.js'

/** The request body of one attempt on its way out. */
export class Upload {
  /** Not yet wholly written. */
  running: boolean

  constructor(
    readonly stream: Readable | null,
    /** `null` = chunked, or no body. */
    readonly contentLength: number | null,
  ) {
    this.running = stream !== null
    // undici takes its handler off when it is done; an error may be on its way to the stream then.
    stream?.on('error', () => {})
  }

  /** The error came from the app's side. */
  broke(error: Error): boolean {
    if (this.stream === null || !this.running) return false
    return this.stream.errored === error || (this.stream.destroyed && codeOf(error) === 'UND_ERR_ABORTED')
  }

  /** All that the app has sent is with the upstream's side: the next byte is the app's to give. */
  owedByApp(connection: Connection): boolean {
    return this.stream !== null && this.running && this.stream.readableLength === 0 && !connection.backedUp
  }

  end(): void {
    this.stream?.destroy()
  }
}
