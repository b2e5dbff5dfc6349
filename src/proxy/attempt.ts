import type { Clock } from '../clock/clock.js'
import type {
  Attempt,
  AttemptFailure,
  AttemptListener,
  AttemptRequest,
  HeldResponse,
  RawHeaders,
} from '../pipeline/ports.js'
import type { Connection } from './connection.js'
import type { ProxyDownstream } from './downstream-port.js'
import type { ConnectionPool } from './pool.js'
import { Upload } from './upload.js'
import { WireCall } from './wire-call.js'

export interface AttemptTools {
  readonly clock: Clock
  /** Calls `watchIdle` a little later, for all calls of that time at once, so that a short one costs no timer. */
  watchLater(call: WireCall): void
}

/** One call to the upstream: finds a connection, then leaves the rest to a call on its wire. */
export class UndiciAttempt implements Attempt {
  readonly downstream: ProxyDownstream
  /** Opened with the first connection: before, no byte of the body may be taken. */
  private upload: Upload | null = null
  private call: WireCall | null = null
  private cancelDial: (() => void) | null = null
  private dialled = false
  private aborted = false

  constructor(
    readonly request: AttemptRequest,
    readonly listener: AttemptListener,
    readonly pool: ConnectionPool,
    readonly tools: AttemptTools,
  ) {
    // The proxy makes every Downstream that the pipeline passes on.
    this.downstream = request.downstream as ProxyDownstream
  }

  get connection(): Connection | null {
    return this.call === null ? null : this.call.connection
  }

  get bytes(): number {
    return this.call?.delivery?.bytes ?? 0
  }

  get heldByApp(): boolean {
    return this.call?.paused === true
  }

  start(): void {
    const nowMs = this.tools.clock.nowMs()
    const connection = this.request.fresh ? null : this.pool.take(this.request.avoid, nowMs)
    if (connection === null) this.dial()
    else this.use(connection, connection.lastUsedMs === null ? null : nowMs - connection.lastUsedMs)
  }

  deliver(extra: RawHeaders): void {
    this.call?.deliver(extra)
  }

  hold(maxBytes: number): void {
    this.call?.keep('holding', maxBytes)
  }

  read(maxBytes: number): void {
    this.call?.keep('reading', maxBytes)
  }

  held(): HeldResponse | null {
    return this.call === null ? null : this.call.held
  }

  abort(): void {
    this.aborted = true
    this.cancelDial?.()
    this.cancelDial = null
    this.call?.abort()
    this.upload?.end()
  }

  /**
   * The idle connection died before a byte was written: nothing has happened yet that anybody could see, so the
   * attempt starts again on a new one. `false` = it already was a new one.
   */
  startAgain(): boolean {
    if (this.dialled || this.aborted) return false
    this.call = null
    this.dial()
    return true
  }

  private dial(): void {
    this.dialled = true
    this.cancelDial = this.pool.open(this.request.connectTimeoutMs, (failure, connection) =>
      this.dialEnded(failure, connection),
    )
  }

  private dialEnded(failure: AttemptFailure | null, connection: Connection | null): void {
    this.cancelDial = null
    if (connection !== null) this.use(connection, null)
    else if (failure !== null) {
      this.upload?.end()
      this.listener.onFailure(failure)
    }
  }

  private use(connection: Connection, idleBeforeMs: number | null): void {
    if (this.upload === null) {
      const opened = this.downstream.openBody()
      this.upload = opened === null ? new Upload(null, null) : new Upload(opened.stream, opened.contentLength)
    }
    connection.begin(idleBeforeMs)
    this.call = new WireCall(this, this.upload, connection)
    this.call.start()
  }
}
