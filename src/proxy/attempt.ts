import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Clock } from '../clock/clock.js'
import type {
  Attempt,
  AttemptFailure,
  AttemptListener,
  AttemptRequest,
  HeldResponse,
  RawHeaders,
  ResponseHead,
} from '../pipeline/ports.js'
import { type Connection, SPENT } from './connection.js'
import type { ProxyDownstream } from './downstream-port.js'
import * as fail from './failure.js'
import { HeldBody } from './held-body.js'
import { IdleTimer } from './idle-timer.js'
import type { ConnectionPool } from './pool.js'
import { decodeHeaders, requestHeaders, statusPhrase } from './raw-headers.js'

export interface AttemptTools {
  readonly clock: Clock
  /** Calls `watchIdle` once what has already arrived is handled, so that a short answer costs no timer. */
  watchLater(attempt: UndiciAttempt): void
}

/**
 * connecting → queued (handed to undici, nothing written) → waiting (written) → delivering or holding → done;
 * failing = the failure is known and about to be told.
 */
type Phase = 'connecting' | 'queued' | 'waiting' | 'delivering' | 'holding' | 'failing' | 'done'

/** More interim (1xx) responses than this are an attack or a bug. */
const MAX_INTERIM = 100
/** How long a discarded answer may take to be read, ms. */
const HOLD_MS = 1_000
/** Thrown at undici to take back a request that it has not written; the connection stays good. */
const TAKEN_BACK = new fail.CodedError('TAKEN_BACK', 'the attempt was aborted')

/** One call on the wire; undici calls it as its handler, the pipeline as its `Attempt`. */
export class UndiciAttempt implements Attempt, Dispatcher.DispatchHandler {
  connection: Connection | null = null
  private phase: Phase = 'connecting'
  private readonly downstream: ProxyDownstream
  private starting = true
  private dialled = false
  private cancelDial: (() => void) | null = null
  private abortWire: (() => void) | null = null
  private resumeWire: (() => void) | null = null
  private idleBeforeMs: number | null = null
  private upload: Readable | null = null
  private uploadBytes: number | null = null
  private uploading = false
  private idle: IdleTimer | null = null
  private interims = 0
  private head: ResponseHead | null = null
  private paused = false
  private bytes = 0
  private holder: HeldBody | null = null
  private heldResponse: HeldResponse | null = null

  constructor(
    private readonly request: AttemptRequest,
    private readonly listener: AttemptListener,
    private readonly pool: ConnectionPool,
    private readonly tools: AttemptTools,
  ) {
    // The proxy makes every Downstream that the pipeline passes on.
    this.downstream = request.downstream as ProxyDownstream
  }

  start(): void {
    const nowMs = this.tools.clock.nowMs()
    const connection = this.request.fresh ? null : this.pool.take(this.request.avoid, nowMs)
    if (connection === null) this.dial()
    else this.dispatch(connection, connection.lastUsedMs === null ? null : nowMs - connection.lastUsedMs)
    this.starting = false
  }

  deliver(extra: RawHeaders): void {
    if (this.phase !== 'waiting' || this.head === null) return
    this.phase = 'delivering'
    this.tools.watchLater(this)
    this.downstream.begin(this.head, extra)
  }

  hold(maxBytes: number): void {
    if (this.phase !== 'waiting' || this.connection === null) return
    this.phase = 'holding'
    this.holder = new HeldBody(maxBytes)
    this.connection.expendable = true
    this.stopIdle()
    this.tools.watchLater(this)
  }

  held(): HeldResponse | null {
    return this.heldResponse
  }

  abort(): void {
    if (this.phase === 'done') return
    this.finish()
    this.cancelDial?.()
    this.abortWire?.()
  }

  watchIdle(): void {
    if (this.idle !== null) return
    const holding = this.phase === 'holding'
    if (!holding && this.phase !== 'delivering' && !(this.phase === 'waiting' && this.uploading)) return
    const limitMs = holding ? HOLD_MS : this.request.idleTimeoutMs
    if (limitMs !== Number.POSITIVE_INFINITY) this.idle = new IdleTimer(this.tools.clock, limitMs, () => this.onIdle())
  }

  onConnect(abort: () => void): void {
    if (this.phase !== 'queued') throw TAKEN_BACK
    this.phase = 'waiting'
    this.abortWire = abort
    if (this.uploading) this.tools.watchLater(this)
  }

  onBodySent(): void {
    this.idle?.touch()
  }

  onRequestSent(): void {
    this.uploading = false
    if (this.phase !== 'waiting') return
    this.stopIdle()
    if (this.starting) queueMicrotask(() => this.phase === 'waiting' && this.listener.onSent())
    else this.listener.onSent()
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, statusText: string): boolean {
    if (this.phase !== 'waiting') return true
    const headers = decodeHeaders(raw)
    if (status < 200) {
      this.interim(status, headers)
      return true
    }
    this.idle?.touch()
    this.head = { status, statusText: statusPhrase(statusText), headers }
    this.resumeWire = resume
    this.listener.onHead(this.head)
    if (this.phase === 'waiting') this.abort()
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.phase === 'delivering') {
      this.idle?.touch()
      this.bytes += chunk.length
      if (this.downstream.write(chunk)) return true
      this.paused = true
      this.downstream.onDrain(() => this.resume())
      return !this.paused
    }
    if (this.holder !== null && !this.holder.push(chunk)) this.abort()
    return true
  }

  onComplete(trailers: unknown): void {
    const delivering = this.phase === 'delivering'
    // undici's type says strings; the raw handler interface gives buffers.
    if (delivering) this.downstream.end(decodeHeaders((trailers ?? []) as Buffer[]))
    else if (this.holder !== null && this.head !== null) {
      this.heldResponse = { head: this.head, body: this.holder.whole() }
    }
    // With the upload still running undici closes the connection by itself.
    if (!this.uploading && this.connection !== null) {
      const nowMs = this.tools.clock.nowMs()
      this.connection.lastUsedMs = nowMs
      this.pool.release(this.connection, nowMs)
    }
    this.finish()
    if (delivering) this.listener.onDelivered(this.bytes)
  }

  onError(error: Error): void {
    if (this.phase === 'queued') this.unwritten(error)
    else if (this.phase === 'waiting') this.lost(error)
    else if (this.head?.status === 304 && fail.codeOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
      // A 304 tells the length of the body that it does not have (RFC 9110 §15.4.5); undici waits for it in vain.
      this.onComplete([])
    } else if (this.phase === 'delivering') this.cut(fail.codeOf(error))
    else if (this.phase === 'holding') this.finish()
    else if (error === TAKEN_BACK) this.giveBack()
  }

  private dial(): void {
    this.phase = 'connecting'
    this.dialled = true
    this.cancelDial = this.pool.open(this.request.connectTimeoutMs, (failure, connection) => {
      this.cancelDial = null
      if (connection !== null) this.dispatch(connection, null)
      else if (failure !== null) this.tell(failure)
    })
  }

  private dispatch(connection: Connection, idleBeforeMs: number | null): void {
    this.connection = connection
    this.idleBeforeMs = idleBeforeMs
    this.phase = 'queued'
    const { upstream, set } = this.request
    const { method, forwardHeaders, path, host } = this.downstream
    this.openUpload()
    const authority =
      upstream.hostHeader === 'preserve' ? (host ?? upstream.target.authority) : upstream.target.authority
    const options = {
      path: upstream.target.basePath + path,
      method: method as Dispatcher.HttpMethod,
      headers: requestHeaders(authority, forwardHeaders, set, this.uploadBytes),
      body: this.upload,
    }
    // undici would close the connection after a HEAD, for servers that wrongly send a body; such bytes are noticed.
    if (method === 'HEAD' && this.upload === null) connection.client.dispatch({ ...options, reset: false }, this)
    else connection.client.dispatch(options, this)
  }

  /** Once per attempt, also when a spent connection makes it start again: nothing has been read from it then. */
  private openUpload(): void {
    if (this.upload !== null) return
    const opened = this.downstream.openBody()
    if (opened === null) return
    this.upload = opened.stream
    this.uploadBytes = opened.contentLength
    this.uploading = true
  }

  private interim(status: number, headers: RawHeaders): void {
    this.interims++
    if (status === 101) this.breakOff('UNEXPECTED_UPGRADE', 'a 101 that nobody asked for')
    else if (this.interims > MAX_INTERIM) this.breakOff('TOO_MANY_INTERIM', `over ${MAX_INTERIM} interim responses`)
    else this.listener.onInterim(status, headers)
  }

  private resume(): void {
    if (!this.paused) return
    this.paused = false
    this.idle?.touch()
    if (this.phase === 'delivering') this.resumeWire?.()
  }

  private onIdle(): void {
    if (this.phase === 'delivering') this.cut(this.paused ? fail.APP_IDLE_TIMEOUT : fail.IDLE_TIMEOUT)
    else if (this.phase === 'holding') this.abort()
    else if (this.phase === 'waiting') {
      this.breakOff(fail.IDLE_TIMEOUT, `no body byte moved for ${this.request.idleTimeoutMs} ms`)
    }
  }

  /** undici gave the request up before a byte was written. */
  private unwritten(error: Error): void {
    const spent = fail.codeOf(error) === SPENT
    if (spent && !this.dialled) {
      // Nothing has happened yet that anybody could see.
      this.connection = null
      this.dial()
      return
    }
    if (this.uploadBroke(error)) this.connection?.destroy()
    else if (!spent) this.giveBack()
    this.lost(error)
  }

  private lost(error: Error): void {
    if (this.uploadBroke(error)) {
      // The app is going; its side aborts us, if it has not been told of this already.
      const failure = fail.exchangeFailure(new fail.CodedError(fail.REQUEST_BODY, error.message), this.idleBeforeMs)
      this.tellLater(failure, setImmediate)
    } else if (fail.codeOf(error) === SPENT) this.tell(fail.connectFailure(error))
    else this.tell(fail.exchangeFailure(error, this.idleBeforeMs))
  }

  private uploadBroke(error: Error): boolean {
    if (this.upload === null || !this.uploading) return false
    return this.upload.errored === error || (this.upload.destroyed && fail.codeOf(error) === 'UND_ERR_ABORTED')
  }

  private breakOff(code: string, message: string): void {
    this.phase = 'failing'
    this.abortWire?.()
    this.tell(fail.exchangeFailure(new fail.CodedError(code, message), this.idleBeforeMs))
  }

  private tell(failure: AttemptFailure): void {
    if (this.starting) {
      this.tellLater(failure, queueMicrotask)
      return
    }
    this.finish()
    this.listener.onFailure(failure)
  }

  private tellLater(failure: AttemptFailure, later: (fn: () => void) => unknown): void {
    this.finish()
    this.phase = 'failing'
    later(() => {
      if (this.phase !== 'failing') return
      this.phase = 'done'
      this.listener.onFailure(failure)
    })
  }

  private cut(code: string): void {
    this.finish()
    this.abortWire?.()
    this.downstream.destroy()
    this.listener.onCut(code)
  }

  private giveBack(): void {
    if (this.connection !== null) this.pool.release(this.connection, this.tools.clock.nowMs())
  }

  private stopIdle(): void {
    this.idle?.cancel()
    this.idle = null
  }

  private finish(): void {
    this.phase = 'done'
    this.stopIdle()
    this.upload?.destroy()
  }
}
