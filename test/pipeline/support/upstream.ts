import type { Clock, Timer } from '../../../src/clock/clock.js'
import type {
  Attempt,
  AttemptFailureKind,
  AttemptListener,
  AttemptRequest,
  HeldResponse,
  RawHeaders,
  ResponseHead,
  Transport,
} from '../../../src/pipeline/ports.js'
import { type AppCall, flat } from './app-call.js'

/** How the upstream treats one attempt. Times in ms from the sending, of the body from the head. */
export type Play =
  | {
      readonly kind: 'reply'
      readonly status: number
      readonly headers: RawHeaders
      readonly body: string
      readonly afterMs: number
      readonly bodyMs: number
      readonly cut: boolean
      /** The cut is the app's doing. */
      readonly byApp: boolean
      readonly interim: number | null
    }
  | {
      readonly kind: 'fail'
      readonly failure: AttemptFailureKind
      readonly afterMs: number
      readonly idleMs: number | null
      readonly permanent: boolean
      readonly byApp: boolean
      readonly refused: string | null
    }
  | { readonly kind: 'hang'; readonly connects: boolean }

export interface ReplyOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Default 10. */
  readonly afterMs?: number
  readonly bodyMs?: number
  readonly cut?: boolean
  readonly byApp?: boolean
  readonly interim?: number
}

export function reply(status: number, options: ReplyOptions = {}): Play {
  const { headers = {}, body = `body of ${status}`, afterMs = 10, bodyMs = 0 } = options
  const { cut = false, byApp = false, interim = null } = options
  return { kind: 'reply', status, headers: flat(headers), body, afterMs, bodyMs, cut, byApp, interim }
}

export interface FailOptions {
  /** Default 5. */
  readonly afterMs?: number
  /** How long the connection had been idle; default: it was fresh. */
  readonly idleMs?: number
  readonly permanent?: boolean
  readonly byApp?: boolean
  /** Nobody may be called there, and why. */
  readonly refused?: string
}

export function fail(failure: AttemptFailureKind, options: FailOptions = {}): Play {
  const { afterMs = 5, idleMs = null, permanent = false, byApp = false, refused = null } = options
  return { kind: 'fail', failure, afterMs, idleMs, permanent, byApp, refused }
}

/** Takes the request and never answers. */
export function hang(): Play {
  return { kind: 'hang', connects: true }
}

/** One attempt as the upstream saw it. */
export class Sent implements Attempt {
  connection: object | null = null
  bytes = 0
  /** The pipeline ended it. */
  aborted = false
  /** Nothing more will come of it. */
  ended = false
  readonly atMs: number
  readonly fields: Readonly<Record<string, string>>
  readonly #timers: Timer[] = []
  #choice: 'none' | 'open' | 'made' = 'none'
  #held: HeldResponse | null = null

  constructor(
    readonly call: AppCall,
    readonly request: AttemptRequest,
    readonly listener: AttemptListener,
    readonly play: Play,
    readonly clock: Clock,
  ) {
    this.atMs = clock.nowMs()
    const { set } = request
    this.fields = Object.fromEntries(set.flatMap((name, i) => (i % 2 === 0 ? [[name, set[i + 1] as string]] : [])))
    if (play.kind !== 'fail' || play.failure !== 'connect') this.#connect()
    if (play.kind === 'reply') this.#later(play.afterMs, () => this.#head(play))
    if (play.kind === 'fail') this.#later(play.afterMs, () => this.#fail(play))
  }

  get heldByApp(): boolean {
    return this.play.kind === 'reply' && this.play.byApp
  }

  deliver(extra: RawHeaders): void {
    const play = this.#choose()
    const { call, listener } = this
    call.begin(headOf(play), extra)
    this.bytes = play.body.length
    this.#later(play.bodyMs, () => {
      this.ended = true
      if (play.cut) {
        call.destroy()
        listener.onCut('UND_ERR_SOCKET', play.byApp)
        return
      }
      listener.onDelivered(play.body.length)
      if (!call.over) call.end(play.body)
    })
  }

  hold(maxBytes: number): void {
    const play = this.#choose()
    if (play.body.length > maxBytes) {
      this.ended = true
      return
    }
    const keep = () => {
      this.#held = { head: headOf(play), body: new TextEncoder().encode(play.body) }
      this.ended = true
    }
    if (play.bodyMs === 0) keep()
    else this.#later(play.bodyMs, keep)
  }

  read(maxBytes: number): void {
    const play = this.#choose()
    this.#later(play.bodyMs, () => {
      if (play.body.length > maxBytes) {
        this.#choice = 'open'
        this.listener.onRead(false)
        return
      }
      this.ended = true
      if (play.cut) return this.listener.onFailure(CUT)
      this.#held = { head: headOf(play), body: new TextEncoder().encode(play.body) }
      this.listener.onRead(true)
    })
  }

  held(): HeldResponse | null {
    return this.#held
  }

  abort(): void {
    for (const timer of this.#timers) timer.cancel()
    if (!this.ended) this.aborted = true
    this.ended = true
    this.#choice = 'made'
  }

  #connect(): void {
    this.connection = { of: this.call.sentPath }
    const { body } = this.call
    if (body !== null) body.untouched = false
    // The body goes out as it comes in, so the attempt clock waits for its end.
    const sent = () => this.#later(0, () => this.#beforeHead(() => this.listener.onSent()))
    if (body === null || body.complete) sent()
    else body.onComplete(() => !this.ended && sent())
  }

  #head(play: Extract<Play, { kind: 'reply' }>): void {
    if (play.interim !== null) this.listener.onInterim(play.interim, [])
    this.#choice = 'open'
    this.listener.onHead(headOf(play))
    if (this.#choice === 'open') throw new Error('onHead chose neither deliver nor hold nor abort')
  }

  #fail(play: Extract<Play, { kind: 'fail' }>): void {
    this.ended = true
    for (const timer of this.#timers) timer.cancel()
    const { failure, permanent, byApp, idleMs, refused } = play
    const what = { kind: failure, code: 'TEST', message: refused ?? 'scripted', refused: refused !== null }
    this.listener.onFailure({ ...what, permanent, byApp, idleBeforeMs: idleMs })
  }

  #choose(): Extract<Play, { kind: 'reply' }> {
    if (this.#choice !== 'open' || this.play.kind !== 'reply') throw new Error('a choice outside onHead')
    this.#choice = 'made'
    return this.play
  }

  #beforeHead(fn: () => void): void {
    if (this.#choice === 'none') fn()
  }

  #later(ms: number, fn: () => void): void {
    this.#timers.push(this.clock.after(ms, () => !this.ended && fn()))
  }
}

const CUT = {
  kind: 'reset',
  code: 'TEST',
  message: 'scripted',
  permanent: false,
  byApp: false,
  idleBeforeMs: null,
} as const

/** Plays a script instead of a network. */
export class ScriptedUpstream implements Transport {
  /** Every attempt, in order. */
  readonly sent: Sent[] = []
  readonly settled: { readonly connection: object | null; readonly failed: boolean }[] = []
  #script: (n: number, call: AppCall) => Play = () => reply(200)

  constructor(readonly clock: Clock) {}

  /** One play an attempt, whichever request it is of; the last for all further ones. */
  plays(...plays: readonly [Play, ...Play[]]): void {
    const from = this.sent.length
    this.#script = n => plays[Math.min(n - from, plays.length - 1)] as Play
  }

  /** One list a path; the last play of each for all further attempts of it. */
  playsByPath(lists: Readonly<Record<string, readonly [Play, ...Play[]]>>, others: Play = reply(200)): void {
    const counts = new Map<string, number>()
    this.#script = (_n, call) => {
      const list = lists[call.path]
      if (list === undefined) return others
      const n = counts.get(call.path) ?? 0
      counts.set(call.path, n + 1)
      return list[Math.min(n, list.length - 1)] as Play
    }
  }

  /** Decides at each attempt. `n` counts from 0. */
  decides(script: (n: number, call: AppCall) => Play): void {
    this.#script = script
  }

  /** Attempts that neither side has ended. */
  get open(): number {
    return this.sent.filter(sent => !sent.ended).length
  }

  get times(): number[] {
    return this.sent.map(sent => sent.atMs)
  }

  get paths(): string[] {
    return this.sent.map(sent => sent.call.path)
  }

  send(request: AttemptRequest, listener: AttemptListener): Sent {
    // Every Downstream of these tests is an AppCall.
    const call = request.downstream as AppCall
    const sent = new Sent(call, request, listener, this.#script(this.sent.length, call), this.clock)
    this.sent.push(sent)
    return sent
  }

  settle(connection: object | null, failed: boolean): void {
    this.settled.push({ connection, failed })
  }
}

function headOf(play: Extract<Play, { kind: 'reply' }>): ResponseHead {
  return { status: play.status, statusText: '', headers: play.headers }
}
