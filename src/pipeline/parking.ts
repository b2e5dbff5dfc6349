/** What the pipeline needs of parking, and the one place where a failed call turns into a parked one. */
import { isParkable, type ParkSettings, type Sameness } from '../core/park.js'
import { prefersAsync } from '../core/prefer.js'
import type { Outcome } from '../core/reasons.js'
import { retryAfterMs } from '../core/retry-after.js'
import { parkedAnswer } from './answers.js'
import type { Ending } from './endings.js'
import type { Exchange } from './exchange.js'
import type { RawHeaders, ResponseHead } from './ports.js'

/** A call on its way into the store. */
export interface ParkCall extends Sameness {
  readonly settings: ParkSettings
  readonly route: string | null
  /** As received, hop-by-hop fields included. */
  readonly headers: RawHeaders
  readonly body: Uint8Array
  /** What the app would have been told. */
  readonly outcome: Outcome
  /** What a Retry-After of the failed answer asked for. */
  readonly retryAfterMs: number | null
  readonly attempts: number
  readonly traceId: string | null
}

export interface Parked {
  readonly id: string
  /** On the admin port. */
  readonly location: string
}

export interface Parking {
  /** For one more entry with so many bytes. Where not, the log has been told why. */
  hasRoom(settings: ParkSettings, call: Pick<ParkCall, 'upstream' | 'route'>, bytes: number): boolean
  /** Resolves once the call is safe, or with `null` if it could not be made so; never rejects. */
  park(call: ParkCall): Promise<Parked | null>
  /** The app left before it had its 202. */
  takeBack(settings: ParkSettings, id: string): void
  /** Older entries may be void now. */
  succeeded(settings: ParkSettings, call: Sameness): void
}

/** A body that is still coming in when its call has failed gets so long, ms. */
const BODY_PATIENCE_MS = 1000
/** An answer that is being kept gets so long to be complete. */
const HELD_PATIENCE_MS = 1000
const LOOK_EVERY_MS = 20
const SUCCEEDED: ReadonlySet<Outcome> = new Set(['delivered', 'hedge-won'])

/**
 * Parks a call that failed with `outcome`, if it is one to park: the exchange is then finished with the 202 once it is
 * safe, or with `answer`, which gives the app the failure. `head` is that of the failed answer, if one came. `false` = not parked, nothing follows.
 */
export function parkInstead(
  exchange: Exchange,
  outcome: Outcome,
  head: ResponseHead | null,
  answer: () => Ending,
): boolean {
  const { deps, facts, downstream, policy } = exchange
  const { parking } = deps
  if (facts.park === null || parking === null || exchange.over || !isParkable(outcome)) return false
  const { body } = downstream
  const maxBytes = policy.retry.maxBodyBytes
  if (body !== null && (!body.replayable || body.capturedBytes > maxBytes)) return false
  const hintMs = head === null ? null : retryAfterMs(head.headers, deps.clock.wallMs())
  // It would be dead before it may be sent: better say so now.
  if (hintMs !== null && hintMs > facts.park.maxAgeMs) return false
  const who = { upstream: exchange.upstream.name, route: exchange.route }
  if (!parking.hasRoom(facts.park, who, body?.capturedBytes ?? 0)) return false
  exchange.onParking()
  const failed = (): void => whenHeld(exchange, () => exchange.finish(answer()))
  whenWhole(exchange, bytes => {
    if (exchange.over) return
    if (bytes === null || bytes.byteLength > maxBytes) return failed()
    void parking.park(callOf(exchange, facts.park as ParkSettings, bytes, outcome, hintMs)).then(parked => {
      if (exchange.over) {
        if (parked !== null) parking.takeBack(facts.park as ParkSettings, parked.id)
      } else if (parked === null) failed()
      else exchange.finish(answerParked(exchange, parked))
    })
  })
  return true
}

/** Tells parking of a success that may make parked calls void. */
export function tellSuccess(exchange: Exchange, { status, outcome }: Ending): void {
  const { deps, facts } = exchange
  if (facts.cancels === null || deps.parking === null || !SUCCEEDED.has(outcome) || status >= 400) return
  deps.parking.succeeded(facts.cancels, samenessOf(exchange))
}

function callOf(
  exchange: Exchange,
  settings: ParkSettings,
  body: Uint8Array,
  outcome: Outcome,
  hintMs: number | null,
): ParkCall {
  const { route, downstream, attempts, facts } = exchange
  const call = { settings, route, headers: downstream.headers, body, outcome, retryAfterMs: hintMs, attempts }
  return { ...samenessOf(exchange), ...call, traceId: facts.traceId }
}

function samenessOf({ deps, upstream, downstream, facts, arrivedMs }: Exchange): Sameness {
  const { method, path } = downstream
  const arrivedAtMs = deps.clock.wallMs() - (deps.clock.nowMs() - arrivedMs)
  return { upstream: upstream.name, method, path, key: facts.key, arrivedAtMs }
}

/** The whole body, or `null` when it does not come. Never at once. */
function whenWhole({ deps, downstream }: Exchange, then: (bytes: Uint8Array | null) => void): void {
  const { body } = downstream
  let told = false
  const tell = (): void => {
    if (told) return
    told = true
    timer.cancel()
    deps.clock.after(0, () => then(body === null ? new Uint8Array() : body.whole()))
  }
  const timer = deps.clock.after(BODY_PATIENCE_MS, tell)
  if (body === null) tell()
  else body.onComplete(tell)
}

/** Once the failed answer that is being kept is complete: the app shall get it, and not one of ours. */
function whenHeld(exchange: Exchange, then: () => void): void {
  const { deps, memory } = exchange
  const endMs = deps.clock.nowMs() + HELD_PATIENCE_MS
  const look = (): void => {
    if (exchange.over) return
    const complete = !memory?.held || memory.held.held() !== null
    if (complete || deps.clock.nowMs() >= endMs) then()
    else deps.clock.after(LOOK_EVERY_MS, look)
  }
  look()
}

function answerParked({ downstream, attempts }: Exchange, { id, location }: Parked): Ending {
  const { status, statusText, headers, body } = parkedAnswer(id, location, attempts, prefersAsync(downstream.headers))
  downstream.answer({ status, statusText, headers }, [], body)
  return { status, outcome: 'parked', bytes: body.length }
}
