import type { Clock } from '../clock/clock.js'
import type { Fault } from '../core/fault.js'
import type { PollSettings } from '../core/poll.js'
import type { DenialReason, HedgeDenial } from '../core/reasons.js'
import type { Tracing } from '../core/request-trace.js'
import type { EventSink } from '../telemetry/events.js'
import type { Exchange } from './exchange.js'
import type { Parking } from './parking.js'
import type { Transport } from './ports.js'

/** What every exchange is given. */
export interface ExchangeDeps {
  readonly clock: Clock
  readonly transport: Transport
  readonly sink: EventSink
  /** U(0,1). */
  readonly random: () => number
  /** A new idempotency key. */
  readonly newKey: () => string
  readonly parking: Parking | null
  /** `null` unless traces are exported. */
  readonly tracing: Tracing | null
  /** The operator's kill switch. */
  retriesOff(): boolean
  /** What a fallback's file holds, or `null` when it cannot be read. */
  fallbackFile(path: string): Uint8Array | null
  /** The rehearsed fault that hits the next attempt of this request, if any. */
  nextFault(exchange: Exchange): Fault | null
  /** What keeps a request from a further attempt that was granted: the kill switch, or a policy that tightened since. */
  whyNoRetry(exchange: Exchange): DenialReason | 'not-retryable' | null
  /** The same for a hedge, and whether we are leaving. */
  whyNoHedge(exchange: Exchange): HedgeDenial | null
  /** How its poll is to go on, `null` = not at all: a policy that tightened since, or we are leaving. */
  pollNow(exchange: Exchange): PollSettings | null
  /** A whole body without its content codings; `null` = it cannot be had within so many bytes. */
  decodeBody(body: Uint8Array, codings: string, maxBytes: number): Uint8Array | null
  /** A request is over: answered, or its app is gone. */
  onFinished(exchange: Exchange | null): void
}
