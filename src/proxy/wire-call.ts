import type { Dispatcher } from 'undici'
import type { AttemptFailure, HeldResponse, RawHeaders, ResponseHead } from '../pipeline/ports.js'
import type { UndiciAttempt } from './attempt.js'
import { type Connection, SPENT } from './connection.js'
import { Delivery } from './delivery.js'
import * as fail from './failure.js'
import { HeldBody, HOLD_MS } from './held-body.js'
import { IdleTimer } from './idle-timer.js'
import { interimFault } from './interim-fault.js'
import { decodeHeaders, hasForeignCoding } from './raw-headers.js'
import type { Upload } from './upload.js'
import { wireRequest } from './wire-request.js'

/**
 * queued (handed to undici, nothing written) → waiting (written) → delivering, holding, or reading and then perhaps
 * delivering → done; failing = the failure is known and about to be told.
 */
type Phase = 'queued' | 'waiting' | 'delivering' | 'holding' | 'reading' | 'failing' | 'done'
const RECEIVING: ReadonlySet<Phase> = new Set(['delivering', 'holding', 'reading'])

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

  get paused(): boolean {
    return this.delivery?.paused === true
  }

  /** Tells the listener nothing before it returns. */
  start(): void {
    const options = wireRequest(this.attempt.request, this.attempt.downstream, this.upload)
    this.starting = true
    this.connection.client.dispatch(options, this)
    this.starting = false
  }

  deliver(extra: RawHeaders): void {
    if ((this.phase !== 'waiting' && this.phase !== 'reading') || this.head === null || this.resumeWire === null) return
    this.phase = 'delivering'
    this.delivery = new Delivery(this.attempt.downstream, this.resumeWire)
    this.attempt.tools.watchLater(this)
    this.delivery.begin(this.head, extra, this.holder?.chunks)
    this.holder = null
  }

  /** Takes the body into memory: of an answer that is given up, or of one that is to be judged. */
  keep(phase: 'holding' | 'reading', maxBytes: number): void {
    if (this.phase !== 'waiting' || this.head === null) return
    this.phase = phase
    this.holder = new HeldBody(maxBytes)
    if (phase === 'holding') this.connection.expendable = true
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
    const watched = RECEIVING.has(this.phase) || (this.phase === 'waiting' && this.upload.running)
    if (this.phase === 'holding') this.idle = new IdleTimer(clock, HOLD_MS, () => this.abort())
    else if (watched && idleTimeoutMs !== Number.POSITIVE_INFINITY)
      this.idle = new IdleTimer(clock, idleTimeoutMs, () => this.onIdle())
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
      const fault = interimFault(status, ++this.interims)
      if (fault === null) this.attempt.listener.onInterim(status, headers)
      else this.breakOff(fault.code, fault.message)
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
    if (this.phase === 'reading') this.idle?.touch()
    if (this.holder === null || this.holder.push(chunk)) return true
    // More than is kept of it.
    if (this.phase === 'reading') this.attempt.listener.onRead(false)
    if (this.holder !== null) this.abort()
    return !this.paused
  }

  onComplete(trailers: unknown): void {
    const read = this.phase === 'reading'
    if (!RECEIVING.has(this.phase)) return
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
    else if (read) this.attempt.listener.onRead(true)
  }

  onError(error: Error): void {
    if (this.phase === 'queued') this.unwritten(error)
    else if (this.phase === 'waiting') this.lost(error)
    else if (RECEIVING.has(this.phase)) this.broken(error)
    else if (error === TAKEN_BACK) this.giveBack()
  }

  private onIdle(): void {
    const byApp = this.paused || this.upload.owedByApp(this.connection)
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
    else if (this.phase === 'reading') this.tell(fail.wireFailure(error, null))
    else if (this.upload.broke(error)) this.later(setImmediate, () => this.cut(fail.REQUEST_BODY))
    else this.cut(code)
  }

  private breakOff(code: string, message: string): void {
    this.phase = 'failing'
    this.abortWire?.()
    this.tell(fail.wireFailure(new fail.CodedError(code, message), this.connection.idleBeforeMs))
  }

  private tell(failure: AttemptFailure): void {
    if (this.starting) return this.later(queueMicrotask, () => this.attempt.listener.onFailure(failure))
    this.finish()
    this.attempt.listener.onFailure(failure)
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
    this.holder = null
    this.stopIdle()
    this.upload.end()
  }
}
