import type { BreakerPermit } from '../core/breaker-rules.js'
import type { OwnReason } from '../core/reasons.js'
import type { CallKind } from './breaker-port.js'
import type { Lane } from './lane.js'

/** What admission needs to know of a call. */
export interface Call {
  readonly lane: Lane
  readonly kind: CallKind
  /** May wait for the breaker in ride-out mode: nothing was sent yet, or it may be sent again. */
  readonly mayRideOut: boolean
  readonly deadlineMs: number
  /** The line let it go. */
  readonly hasTurn: boolean
  /** The queue let it go. */
  readonly hasSlot: boolean
  /** It is the one call that a gate lets through; set here. */
  gateProbe: boolean
  /** The pace has counted it; set here, so that it is counted once however long it queues. */
  paced: boolean
}

export type Admission =
  | BreakerPermit
  | { readonly granted: false; readonly next: 'line' | 'queue' }
  /** A probe is wanted, but rather a first attempt than this retry: ask again after `delayMs`. */
  | { readonly granted: false; readonly next: 'defer'; readonly delayMs: number }
  | {
      readonly granted: false
      readonly next: 'refuse'
      readonly reason: OwnReason
      readonly retryAfterMs: number | null
    }

const LINE: Admission = Object.freeze({ granted: false, next: 'line' })
const QUEUE: Admission = Object.freeze({ granted: false, next: 'queue' })

const THROTTLED: Admission = Object.freeze({ granted: false, next: 'refuse', reason: 'throttled', retryAfterMs: null })

/** Gate → line → pace → slot → throttle → breaker, in this order: the permit is taken last, at the moment of sending. */
export function admit(call: Call, nowMs: number, random: () => number): Admission {
  const { lane } = call
  if (!lane.guard.gate.isOpen && !call.gateProbe) {
    const closedForMs = lane.guard.gate.closedForMs(nowMs)
    if (closedForMs > 0 && nowMs + closedForMs >= call.deadlineMs) {
      return { granted: false, next: 'refuse', reason: 'gate-closed', retryAfterMs: closedForMs }
    }
    if (closedForMs > 0 || !lane.guard.takeGateProbe(nowMs)) return LINE
    call.gateProbe = true
  }
  if (lane.guard.line.busy && !call.hasTurn && !call.gateProbe && !lane.guard.wantsProbe)
    return lane.guard.line.pacing ? held(call, nowMs) : LINE
  if (!call.hasTurn && !call.paced && !paceAllows(call, nowMs)) return held(call, nowMs)
  // A probe must not wait behind the calls that it is to set free.
  if (!lane.limiter.free && !call.hasSlot && !mayProbe(lane)) return QUEUE
  if (!throttleAdmits(lane, nowMs, random)) return THROTTLED
  const answer = lane.guard.breaker.acquire(call.kind)
  return answer.granted ? answer : onRefused(call, answer.retryAfterMs, nowMs)
}

/** What goes as a probe must go. */
function paceAllows(call: Call, nowMs: number): boolean {
  const { pacer, breaker } = call.lane.guard
  if (pacer.mode === 'disabled') return true
  if (!call.gateProbe && !breaker.refusing) return (call.paced = pacer.tryTake(nowMs))
  pacer.take(nowMs)
  call.paced = true
  return true
}

/** The call will not be sent now: the pace may let another go. */
export function returnPace(call: Call, nowMs: number): void {
  if (call.paced) call.lane.guard.pacer.giveBack(nowMs)
  call.paced = false
}

/** Whoever would not get its turn in time is told so at once. */
function held({ lane, kind, deadlineMs }: Call, nowMs: number): Admission {
  const { pacer, line } = lane.guard
  const turnMs = pacer.waitMs(nowMs) + (line.length * 1000) / pacer.ratePerSec(nowMs)
  if (kind === 'retry' || nowMs + turnMs < deadlineMs) return LINE
  return { granted: false, next: 'refuse', reason: 'overloaded', retryAfterMs: turnMs }
}

function mayProbe({ guard: { breaker } }: Lane): boolean {
  return breaker.refusing && breaker.state === 'half-open'
}

/** While the breaker holds calls back, it alone says who may call. */
export function throttleAdmits({ throttle, guard }: Lane, nowMs: number, random: () => number): boolean {
  return !throttle.counts || throttle.admits(nowMs, random, !guard.breaker.refusing)
}

function onRefused(call: Call, retryAfterMs: number, nowMs: number): Admission {
  if (call.lane.guard.ridesOut && call.mayRideOut) return LINE
  const deferrable = call.lane.guard.breaker.state === 'half-open' && call.kind !== 'first'
  if (deferrable && nowMs + retryAfterMs < call.deadlineMs)
    return { granted: false, next: 'defer', delayMs: retryAfterMs }
  return { granted: false, next: 'refuse', reason: 'breaker-open', retryAfterMs }
}
