import { maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'
import { CodedError, RESET_BY_PEER } from './failure.js'
import { Client, readStatusAsLatin1 } from './undici-client.js'

/** The client asked for a second socket: its own has died and the request was not written. */
export const SPENT = 'FORBEAR_SPENT'

/** How long an idle connection is kept when the upstream gives no `Keep-Alive: timeout`, ms. */
const KEEP_ALIVE_MS = 4_000
/** Subtracted from the upstream's own hint, ms: we close first. */
const KEEP_ALIVE_MARGIN_MS = 1_000
/** Breaker failures in a row after which a connection is not used again. */
const MAX_FAILURES = 2

const NOTHING = Buffer.alloc(0)

/** undici wants one; no name is ever resolved and no Host field taken from it. */
const ORIGIN = new URL('http://upstream')

export interface ConnectionOwner {
  onClosed(connection: Connection): void
  /** It failed too often in a row and must not be used again. */
  onDoomed(connection: Connection): void
}

/** One socket with undici's client on it, for one request at a time. Opaque to the pipeline. */
export class Connection {
  readonly client: Client
  /** When the last call ended, monotonic ms; `null` = none yet. */
  lastUsedMs: number | null = null
  /** To be closed as soon as it is free. */
  doomed = false
  /** Reads a discarded answer only: may be closed when its place is needed. */
  expendable = false
  /** undici's: goes on with an answer that waits for the app; does nothing when none waits. */
  resumeReading: (() => void) | null = null
  /** undici has the socket, and sees to its end and to its idle time. */
  handed = false
  /** It ended by a reset although undici hears of an ordinary end. */
  reset: CodedError | null = null
  private failures = 0
  private idleMs: number | null = null
  private bytesReadBefore = 0

  constructor(
    private readonly socket: Socket,
    /** Monotonic ms. */
    readonly bornMs: number,
    /** Its own share of `pool.maxAge`, after which it is replaced. */
    readonly lifeFactor: number,
    private readonly owner: ConnectionOwner,
  ) {
    // These two must hear of it before undici does, which listens once it has connected.
    socket.on('error', renameReset)
    socket.on('end', () => this.onEnd())
    this.client = new Client(ORIGIN, {
      connect: (_options, done) => {
        const first = !this.handed
        this.handed = true
        // undici resumes only from an asynchronous answer.
        queueMicrotask(() => {
          if (first) done(null, socket)
          else done(new CodedError(SPENT, 'the idle connection was closed'), null)
        })
      },
      pipelining: 1,
      // The clocks are ours.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      // As for requests, so that a cookie which fits one way fits the other.
      maxHeaderSize,
      strictContentLength: true,
      allowH2: false,
    })
    this.client.once('connect', () => readStatusAsLatin1(socket))
    socket.once('close', () => owner.onClosed(this))
  }

  get usable(): boolean {
    return !this.socket.destroyed
  }

  /** A call begins after `idleMs` without one; `null` = it is the first. */
  begin(idleMs: number | null): void {
    this.idleMs = idleMs
    this.bytesReadBefore = this.socket.bytesRead
  }

  /** How long it had been idle before the call that is on it; `null` = not at all, or bytes of an answer have come since. */
  get idleBeforeMs(): number | null {
    return this.socket.bytesRead === this.bytesReadBefore ? this.idleMs : null
  }

  /** The upstream has yet to take what was written. */
  get backedUp(): boolean {
    return this.socket.writableLength > 0
  }

  /**
   * libuv tells a reset that comes in one moment with data as an ordinary end, which would complete a body that nothing
   * else frames. The system still knows: it refuses even to write nothing.
   */
  private onEnd(): void {
    // At the end all is read. undici's parser must not be found waiting there: it would throw.
    this.resumeReading?.()
    if (this.socket.writable) this.socket.write(NOTHING)
    if (this.socket.errored !== null) this.reset = new CodedError(RESET_BY_PEER, 'reset by the upstream')
  }

  /** Counts breaker failures in a row. */
  settle(failed: boolean): void {
    this.failures = failed ? this.failures + 1 : 0
    if (this.failures < MAX_FAILURES) return
    this.doomed = true
    this.owner.onDoomed(this)
  }

  /** The error is what undici makes of it by itself, but without one it takes this for the end of a body of no length. */
  destroy(): void {
    this.socket.destroy(new CodedError('UND_ERR_SOCKET', 'closed'))
  }
}

/** After `Connection: close` undici takes ECONNRESET for the end of the body; under another code it is the error it is. */
function renameReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = RESET_BY_PEER
}
