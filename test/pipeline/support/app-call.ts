import type { Clock } from '../../../src/clock/clock.js'
import type { AppListener, Downstream, RawHeaders, RequestBody, ResponseHead } from '../../../src/pipeline/ports.js'

/** Flat list of a plain object. */
export function flat(fields: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(fields).flat()
}

/** A request body of so many bytes that come all at the end, of which `complete()` is told when the last has come. */
export class AppBody implements RequestBody {
  complete: boolean
  untouched = true
  #maxBytes = 0
  #whenComplete: (() => void)[] = []

  constructor(
    readonly bytes: number,
    complete: boolean,
  ) {
    this.complete = complete
  }

  get capturedBytes(): number {
    return this.complete && this.replayable ? Math.min(this.bytes, this.#maxBytes) : 0
  }

  get replayable(): boolean {
    return this.untouched || this.bytes <= this.#maxBytes
  }

  whole(): Uint8Array | null {
    return this.complete && this.replayable ? new Uint8Array(this.bytes) : null
  }

  capture(maxBytes: number): void {
    this.#maxBytes = maxBytes
  }

  onComplete(fn: () => void): void {
    if (this.complete) fn()
    else this.#whenComplete.push(fn)
  }

  /** The app sends the last byte. */
  end(): void {
    this.complete = true
    for (const fn of this.#whenComplete.splice(0)) fn()
  }
}

/** One request of the app, and what it got for it. */
export class AppCall implements Downstream {
  path: string
  listener: AppListener | null = null
  /** The head that the app was given, own fields included; `null` = none yet. */
  head: ResponseHead | null = null
  text = ''
  answeredAtMs: number | null = null
  /** When its body was complete: from here its deadline counts. */
  readyAtMs: number
  /** The answer is complete. */
  answered = false
  destroyed = false
  gone = false
  /** A CONNECT whose tunnel stands until `closeTunnel`. */
  keepsTunnel = false
  readonly interims: number[] = []

  constructor(
    readonly method: string,
    readonly sentPath: string,
    readonly headers: RawHeaders,
    readonly body: AppBody | null,
    readonly clock: Clock,
  ) {
    this.path = sentPath
    this.readyAtMs = clock.nowMs()
    body?.onComplete(() => {
      this.readyAtMs = clock.nowMs()
    })
  }

  /** The app has nothing more to expect. */
  get over(): boolean {
    return this.answered || this.destroyed || this.gone
  }

  get status(): number | null {
    return this.head?.status ?? null
  }

  header(name: string): string | null {
    const headers = this.head?.headers ?? []
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1] as string
    return null
  }

  get outcome(): string | null {
    return this.header('forbear-outcome')
  }

  get attempts(): number {
    return Number(this.header('forbear-attempts'))
  }

  /** `200 delivered after 1`, or what became of it instead. */
  get summary(): string {
    if (this.destroyed) return 'destroyed'
    if (this.gone) return 'gone'
    if (!this.answered) return this.head === null ? 'waiting' : 'receiving'
    return `${this.status} ${this.outcome} after ${this.attempts}`
  }

  /** The app closes its connection. */
  hangUp(): void {
    if (this.over) return
    this.gone = true
    this.listener?.onAppGone()
  }

  setPath(path: string): void {
    this.path = path
  }

  interim(status: number): void {
    this.interims.push(status)
  }

  answer(head: ResponseHead, extra: RawHeaders, body: Uint8Array | string): void {
    this.begin(head, extra)
    this.end(typeof body === 'string' ? body : new TextDecoder().decode(body))
  }

  destroy(): void {
    this.#mustBeOpen()
    this.destroyed = true
  }

  /** A streamed answer begins. */
  begin(head: ResponseHead, extra: RawHeaders): void {
    this.#mustBeOpen()
    if (this.head !== null) throw new Error('a second answer')
    this.head = { ...head, headers: [...head.headers, ...extra] }
    this.answeredAtMs = this.clock.nowMs()
  }

  end(text: string): void {
    this.#mustBeOpen()
    this.text = text
    this.answered = true
    queueMicrotask(() => {
      if (this.keepsTunnel && this.head?.status === 200) this.listener?.onTunnel?.()
      else this.listener?.onAnswered()
    })
  }

  /** Both sides of its tunnel close. */
  closeTunnel(toUpstream = 0, toApp = 0): void {
    this.listener?.onAnswered({ toUpstream, toApp })
  }

  #mustBeOpen(): void {
    if (this.over) throw new Error(`an answer to a call that is over: ${this.method} ${this.sentPath}`)
  }
}
