import type { Dispatcher } from 'undici'
import type { AttemptFailure, HeldResponse, RawHeaders, ResponseHead } from '../pipeline/ports.js'
import type { UndiciAttempt } from './attempt.js'
import { type Connection, SPENT } from './connection.js'
import { Delivery } from './delivery.js'
import * as fail from './failure.js'
import { HeldBody } from './held-body.js'
import { IdleTimer } from './idle-timer.js'
import { decodeHeaders, hasForeignCoding } from './raw-headers.js'
import type { Upload } from './upload.js'
import { wireRequest } from './wire-request.js'

/**
 * queued (handed to undici, nothing written) → waiting (written) → delivering or holding → done;
 * failing = the failure is known and about to be told.
 */
type Phase = 'queued' | 'waiting' | 'delivering' | 'holding' | 'failing' | 'done'

/** More interim (1xx) responses than this are an attack or a bug. */
const MAX_INTERIM = 100
/** How long a discarded answer may take to be read, ms. */
const HOLD_MS = 1_000
/** Thrown at undici to take back a request that it has not written; the connection stays good. */
const TAKEN_BACK = new fail.CodedError('TAKEN_BACK', 'the attempt was aborted')

/** One request and its answer on one connection; undici calls it as its handler. */
export class WireCall implements Dispatcher.DispatchHandler {
  held: HeldResponse | null = null
  delivery: Delivery | null = null
  private phase: Phase = 'queued'
  private starting = false
  private abortWire: (() => void) | null = null
  private resumeWire: (() => void) | null = null
  private idle: IdleTimer | null = null
  private interims = 0
  private head: ResponseHead | null = null
  private holder: HeldBody | null = null

  constructor(
    private readonly attempt: UndiciAttempt,
    private readonly upload: Upload,
    readonly connection: Connection,
  ) {}

  /** Tells the listener nothing before it returns. */
  start(): void {
    const options = wireRequest(this.attempt.request, this.attempt.downstream, this.upload)
    this.starting = true
    this.connection.client.dispatch(options, this)
    this.starting = false
  }

  deliver(extra: RawHeaders): void {
    if (this.phase !== 'waiting' || this.head === null || this.resumeWire === null) return
    this.phase = 'delivering'
    this.delivery = new Delivery(this.attempt.downstream, this.resumeWire)
    this.attempt.tools.watchLater(this)
    this.attempt.downstream.begin(this.head, extra)
  }

  hold(maxBytes: number): void {
    if (this.phase !== 'waiting' || this.head === null) return
    this.phase = 'holding'
    this.holder = new HeldBody(maxBytes)
    this.connection.expendable = true
    this.stopIdle()
    this.attempt.tools.watchLater(this)
  }

  abort(): void {
    if (this.phase === 'done') return
    this.finish()
    this.abortWire?.()
  }

  watchIdle(): void {
    if (this.idle !== null) return
    const { clock } = this.attempt.tools
    const { idleTimeoutMs } = this.attempt.request
    if (this.phase === 'holding') this.idle = new IdleTimer(clock, HOLD_MS, () => this.abort())
    else if (idleTimeoutMs === Number.POSITIVE_INFINITY) return
    else if (this.phase === 'delivering' || (this.phase === 'waiting' && this.upload.running)) {
      this.idle = new IdleTimer(clock, idleTimeoutMs, () => this.onIdle())
    }
  }

  onConnect(abort: () => void): void {
    if (this.phase !== 'queued') throw TAKEN_BACK
    this.phase = 'waiting'
    this.abortWire = abort
    if (this.upload.running) this.attempt.tools.watchLater(this)
  }

  onBodySent(): void {
    this.idle?.touch()
  }

  onRequestSent(): void {
    this.upload.running = false
    if (this.phase !== 'waiting') return
    this.stopIdle()
    if (this.starting) queueMicrotask(() => this.phase === 'waiting' && this.attempt.listener.onSent())
    else this.attempt.listener.onSent()
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, statusText: string): boolean {
    if (this.phase !== 'waiting') return true
    const headers = decodeHeaders(raw)
    if (status < 200) {
      this.interim(status, headers)
      return true
    }
    this.idle?.touch()
    this.head = { status, statusText, headers }
    if (hasForeignCoding(headers)) {
      this.breakOff(fail.TRANSFER_CODING, 'a transfer coding other than chunked')
      return true
    }
    this.resumeWire = resume
    this.connection.resumeReading = resume
    this.attempt.listener.onHead(this.head)
    if (this.phase === 'waiting') this.abort()
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.delivery !== null) {
      this.idle?.touch()
      return this.phase === 'delivering' ? this.delivery.push(chunk) : true
    }
    if (this.holder !== null && !this.holder.push(chunk)) this.abort()
    return true
  }

  onComplete(trailers: unknown): void {
    if (this.phase !== 'delivering' && this.phase !== 'holding') return
    if (this.connection.reset !== null) return this.broken(this.connection.reset)
    // undici's type says strings; the raw handler interface gives buffers.
    if (this.phase === 'delivering') this.attempt.downstream.end(decodeHeaders((trailers ?? []) as Buffer[]))
    if (this.holder !== null && this.head !== null) this.held = { head: this.head, body: this.holder.whole() }
    // With the upload still running undici closes the connection by itself.
    if (!this.upload.running) {
      if (this.attempt.downstream.method === 'HEAD') this.attempt.pool.releaseLater(this.connection)
      else this.giveBack()
    }
    this.finish()
    if (this.delivery !== null) this.attempt.listener.onDelivered(this.delivery.bytes)
  }

  onError(error: Error): void {
    if (this.phase === 'queued') this.unwritten(error)
    else if (this.phase === 'waiting') this.lost(error)
    else if (this.phase === 'delivering' || this.phase === 'holding') this.broken(error)
    else if (error === TAKEN_BACK) this.giveBack()
  }

  private interim(status: number, headers: RawHeaders): void {
    this.interims++
    if (status < 100) this.breakOff(fail.INVALID_STATUS, `the status ${status}`)
    else if (status === 101) this.breakOff('UNEXPECTED_UPGRADE', 'a 101 that nobody asked for')
    else if (this.interims > MAX_INTERIM) this.breakOff('TOO_MANY_INTERIM', `over ${MAX_INTERIM} interim responses`)
    else this.attempt.listener.onInterim(status, headers)
  }

  private onIdle(): void {
    const byApp = this.delivery?.paused === true || this.upload.owedByApp(this.connection)
    const code = byApp ? fail.APP_IDLE_TIMEOUT : fail.IDLE_TIMEOUT
    if (this.delivery !== null) this.cut(code)
    else this.breakOff(code, `no body byte moved for ${this.attempt.request.idleTimeoutMs} ms`)
  }

  /** undici gave the request up before a byte was written. */
  private unwritten(error: Error): void {
    if (fail.codeOf(error) === SPENT) {
      if (!this.attempt.startAgain()) this.tell(fail.connectFailure(error))
      return
    }
    if (this.upload.broke(error) || !this.connection.handed) this.connection.destroy()
    else this.giveBack()
    this.lost(error)
  }

  private lost(error: Error): void {
    if (this.upload.broke(error)) {
      // The app is going; its side aborts us, if it has not been told of this already.
      const cause = new fail.CodedError(fail.REQUEST_BODY, error.message)
      const failure = fail.wireFailure(cause, this.connection.idleBeforeMs)
      this.later(setImmediate, () => this.attempt.listener.onFailure(failure))
    } else this.tell(fail.wireFailure(error, this.connection.idleBeforeMs))
  }

  private broken(error: Error): void {
    const code = fail.codeOf(error)
    if (this.head !== null && fail.isBodylessMismatch(this.head.status, code)) this.onComplete([])
    else if (this.phase === 'holding') this.finish()
    else if (this.upload.broke(error)) this.later(setImmediate, () => this.cut(fail.REQUEST_BODY))
    else this.cut(code)
  }

  private breakOff(code: string, message: string): void {
    this.phase = 'failing'
    this.abortWire?.()
    this.tell(fail.wireFailure(new fail.CodedError(code, message), this.connection.idleBeforeMs))
  }

  private tell(failure: AttemptFailure): void {
    const { listener } = this.attempt
    if (this.starting) this.later(queueMicrotask, () => listener.onFailure(failure))
    else {
      this.finish()
      listener.onFailure(failure)
    }
  }

  /** An abort until then keeps it untold. */
  private later(schedule: (fn: () => void) => unknown, tell: () => void): void {
    this.finish()
    this.phase = 'failing'
    schedule(() => {
      if (this.phase !== 'failing') return
      this.phase = 'done'
      tell()
    })
  }

  private cut(code: string): void {
    this.finish()
    this.abortWire?.()
    this.attempt.downstream.destroy()
    this.attempt.listener.onCut(code, fail.isByApp(code))
  }

  private giveBack(): void {
    this.attempt.pool.release(this.connection, this.attempt.tools.clock.nowMs())
  }

  private stopIdle(): void {
    this.idle?.cancel()
    this.idle = null
  }

  private finish(): void {
    this.phase = 'done'
    this.stopIdle()
    this.upload.end()
  }
}
