import type { Clock, Timer } from '../clock/clock.js'
import type { Fault } from '../core/fault.js'
import type {
  Attempt,
  AttemptListener,
  AttemptRequest,
  HeldResponse,
  RawHeaders,
  ResponseHead,
  Transport,
} from '../pipeline/ports.js'

const STATUS_TEXT = 'Rehearsed Fault'
const BODY = 'a rehearsed fault of forbear, not the upstream\n'

/** Does to an attempt what its rehearsed fault says; all others go to the real transport. */
export class FaultTransport implements Transport {
  readonly #real: Transport
  readonly #clock: Clock

  constructor(real: Transport, clock: Clock) {
    this.#real = real
    this.#clock = clock
  }

  send(request: AttemptRequest, listener: AttemptListener): Attempt {
    const { fault } = request
    if (fault === null) return this.#real.send(request, listener)
    return new FaultyAttempt(request, listener, fault, this.#real, this.#clock)
  }

  settle(connection: object | null, failed: boolean): void {
    this.#real.settle(connection, failed)
  }
}

/** Pauses, then ends as the fault wants it, or becomes the real attempt. */
class FaultyAttempt implements Attempt {
  readonly #request: AttemptRequest
  readonly #listener: AttemptListener
  readonly #transport: Transport
  #sent: Timer
  #timer: Timer
  #real: Attempt | null = null
  #head: ResponseHead | null = null
  #delivered = 0
  #reading = false

  constructor(request: AttemptRequest, listener: AttemptListener, fault: Fault, transport: Transport, clock: Clock) {
    this.#request = request
    this.#listener = listener
    this.#transport = transport
    // The pause is a slowness of the upstream, so the attempt clock runs.
    this.#sent = clock.after(0, () => listener.onSent())
    this.#timer = clock.after(fault.delayMs, () => this.#strike(fault.then))
  }

  get connection(): object | null {
    return this.#real?.connection ?? null
  }

  get bytes(): number {
    return this.#real?.bytes ?? this.#delivered
  }

  get heldByApp(): boolean {
    return this.#real?.heldByApp ?? false
  }

  deliver(extra: RawHeaders): void {
    if (this.#real !== null) return this.#real.deliver(extra)
    if (this.#head === null) return
    this.#request.downstream.answer(this.#head, extra, BODY)
    this.#delivered = BODY.length
  }

  hold(maxBytes: number): void {
    this.#real?.hold(maxBytes)
  }

  read(maxBytes: number): void {
    if (this.#real === null) this.#reading = true
    else this.#real.read(maxBytes)
  }

  held(): HeldResponse | null {
    if (this.#real !== null) return this.#real.held()
    return this.#head === null ? null : { head: this.#head, body: Buffer.from(BODY) }
  }

  abort(): void {
    this.#sent.cancel()
    this.#timer.cancel()
    this.#real?.abort()
  }

  #strike(then: Fault['then']): void {
    this.#sent.cancel()
    switch (then.kind) {
      case 'call':
        this.#real = this.#transport.send(this.#request, alreadySent(this.#listener))
        return
      case 'abort':
        return this.#listener.onFailure({
          kind: 'reset',
          code: 'REHEARSED_FAULT',
          message: 'a rehearsed fault',
          permanent: false,
          byApp: false,
          idleBeforeMs: null,
        })
      case 'status':
        return this.#answer(then.status)
    }
  }

  #answer(status: number): void {
    this.#head = {
      status,
      statusText: STATUS_TEXT,
      headers: ['content-type', 'text/plain', 'content-length', String(BODY.length)],
    }
    this.#listener.onHead(this.#head)
    if (this.#reading) this.#listener.onRead(true)
    if (this.#delivered > 0) this.#listener.onDelivered(this.#delivered)
  }
}

/** The listener, without what it was told when the pause began. */
function alreadySent(listener: AttemptListener): AttemptListener {
  return {
    onSent() {},
    onInterim: (status, headers) => listener.onInterim(status, headers),
    onHead: head => listener.onHead(head),
    onRead: whole => listener.onRead(whole),
    onFailure: failure => listener.onFailure(failure),
    onDelivered: bytes => listener.onDelivered(bytes),
    onCut: (code, byApp) => listener.onCut(code, byApp),
  }
}
