import type { Clock, Timer } from '../clock/clock.js'
import type { Pacer } from '../core/pacer.js'
import {
  CeilingWatch,
  type Healthy,
  HealthyRate,
  LEAST_ANSWERS,
  nextRamp,
  RAMP_STEP_MS,
  type Ramp,
  startRamp,
} from '../core/ramp.js'
import { type LineMember, MemberQueue } from './member-queue.js'

/** How often calls are let go while the ramp runs: small enough that a tick is no burst. */
const TICK_MS = 10

/** With few answers the verdict waits for so many steps, half a second. */
const STEPS_PER_VERDICT = 5

/** Ten seconds: so long after bad answers a limit is near, and is not tried again. */
const STEPS_OF_CAUTION = 100

/**
 * `idle` nobody is held back · `blocked` the gate is closed or the breaker is open · `pacing` let go as fast as the pace
 * allows · `ramping` let go at a rate that grows.
 */
type LineState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'pacing' }
  | {
      readonly kind: 'ramping'
      ramp: Ramp
      sinceMs: number
      stepAtMs: number
      credit: number
      good: number
      bad: number
      /** Steps since the last verdict. */
      unjudged: number
      readonly watch: CeilingWatch
      /** Steps until the ceiling may rise again. */
      caution: number
    }

type Ramping = Extract<LineState, { kind: 'ramping' }>

/**
 * First come, first served: calls that wait for a closed gate, an open breaker or the pace. After a gate or a breaker
 * one goes as the probe; once it succeeded the rest follow, at the pace or at a rate that grows while the answers stay good.
 */
export class Line {
  readonly #clock: Clock
  readonly #pacer: Pacer
  readonly #rate = new HealthyRate()
  readonly #queue = new MemberQueue()
  #state: LineState = { kind: 'idle' }
  #timer: Timer | null = null
  #sending = false
  /** Since when calls have been held back, and how many came since. */
  #blockedAtMs = 0
  #joined = 0

  constructor(clock: Clock, pacer: Pacer) {
    this.#clock = clock
    this.#pacer = pacer
  }

  /** Newcomers must stand in line too. */
  get busy(): boolean {
    return this.#state.kind !== 'idle'
  }

  /** Only the pace holds them back. */
  get pacing(): boolean {
    return this.#state.kind === 'pacing'
  }

  get length(): number {
    return this.#queue.length
  }
  /** Nobody waits here. */
  get empty(): boolean {
    return this.#queue.first === null
  }

  onGood(nowMs: number): void {
    if (this.#state.kind === 'ramping') this.#state.good += 1
    else if (this.#state.kind !== 'blocked') this.#rate.onGood(nowMs)
  }

  onBad(nowMs: number): void {
    if (this.#state.kind === 'ramping') this.#state.bad += 1
    else if (this.#state.kind !== 'blocked') this.#rate.onBad(nowMs)
  }

  join(member: LineMember): void {
    this.#joined += 1
    this.#queue.push(member)
  }

  onLeft(): void {
    this.#queue.onLeft()
  }

  /** Returns to the front: it came before everyone who stands here. */
  rejoin(member: LineMember): void {
    this.#queue.unshift(member)
  }

  /** The gate closed or the breaker opened: nobody leaves. */
  block(): void {
    this.#timer?.cancel()
    this.#timer = null
    if (this.#state.kind === 'idle') {
      this.#blockedAtMs = this.#clock.nowMs()
      this.#joined = 0
    }
    this.#state = { kind: 'blocked' }
  }

  /** Lets the first in line go, as the probe; if it is answered instead, the next. Not again from inside a turn. */
  sendOne(): void {
    if (this.#sending) return
    this.#sending = true
    for (let member = this.#queue.shift(); member !== null; member = this.#queue.shift()) {
      this.#pacer.take(this.#clock.nowMs())
      if (member.onTurn()) break
    }
    this.#sending = false
  }

  /** Nothing but the pace holds a call back. */
  pace(): void {
    this.#timer?.cancel()
    this.#state = { kind: 'pacing' }
    this.#timer = this.#clock.after(this.#pacer.waitMs(this.#clock.nowMs()), this.#paceTick)
  }

  /**
   * The probe succeeded: the rest follow. `after` an outage slowly at first; after a pause that the upstream asked for as
   * fast as its pace allows, if that is known.
   */
  open(after: 'outage' | 'pause'): void {
    if (this.#state.kind !== 'blocked') return
    const nowMs = this.#clock.nowMs()
    if (this.#queue.first === null) {
      this.#state = { kind: 'idle' }
      return
    }
    if (after === 'pause' && this.#pacer.ratePerSec(nowMs) !== Number.POSITIVE_INFINITY) return this.pace()
    const ramp = startRamp(this.#rate.now(nowMs) ?? this.#arrivals(nowMs))
    this.#state = {
      kind: 'ramping',
      ramp,
      sinceMs: nowMs,
      stepAtMs: nowMs + RAMP_STEP_MS,
      credit: 0,
      good: 0,
      bad: 0,
      unjudged: 0,
      watch: new CeilingWatch(this.length),
      caution: 0,
    }
    this.#timer = this.#clock.after(TICK_MS, this.#tick)
  }

  dispose(): void {
    this.#timer?.cancel()
    this.#timer = null
    // They are told what held them.
    for (const member of this.#queue.takeAll()) if (member.inLine) member.onDismissed()
    this.#state = { kind: 'idle' }
  }

  readonly #tick = (): void => {
    const state = this.#state
    if (state.kind !== 'ramping') return
    const nowMs = this.#clock.nowMs()
    if (nowMs >= state.stepAtMs) this.#step(state, nowMs)
    // A late timer must not turn into a burst: at most a step's worth of credit is ever spent at once.
    const elapsedMs = Math.min(nowMs - state.sinceMs, RAMP_STEP_MS)
    state.sinceMs = nowMs
    state.credit += (elapsedMs / 1000) * state.ramp.ratePerSec
    while (state.credit >= 1 && this.#state === state) {
      const sent = this.#sendPaced(nowMs)
      if (sent === 'none') break
      if (sent === 'one') state.credit -= 1
    }
    if (this.#state !== state) return
    // What the pace kept back is not saved up either.
    state.credit = Math.min(state.credit, 1 + (RAMP_STEP_MS / 1000) * state.ramp.ratePerSec)
    if (this.#queue.first === null) this.#state = { kind: 'idle' }
    else this.#timer = this.#clock.after(TICK_MS, this.#tick)
  }

  readonly #paceTick = (): void => {
    const state = this.#state
    const nowMs = this.#clock.nowMs()
    while (this.#state === state && this.#sendPaced(nowMs) !== 'none') {}
    if (this.#state !== state) return
    if (this.#queue.first === null) this.#state = { kind: 'idle' }
    else this.#timer = this.#clock.after(Math.max(1, this.#pacer.waitMs(nowMs)), this.#paceTick)
  }

  /** Lets the first go, if there is one and the pace allows it. */
  #sendPaced(nowMs: number): 'one' | 'dropped' | 'none' {
    if (this.#queue.first === null || !this.#pacer.tryTake(nowMs)) return 'none'
    return this.#queue.shift()?.onTurn() === true ? 'one' : 'dropped'
  }

  #step(state: Ramping, nowMs: number): void {
    state.stepAtMs = nowMs + RAMP_STEP_MS
    state.caution = Math.max(0, state.caution - 1)
    state.unjudged += 1
    if (state.good + state.bad >= LEAST_ANSWERS || state.unjudged >= STEPS_PER_VERDICT) this.#judge(state)
    state.ramp = state.watch.step(this.length, state.ramp, state.caution > 0)
  }

  #judge(state: Ramping): void {
    if (state.good + state.bad === 0) return
    const before = state.ramp.ratePerSec
    state.ramp = nextRamp(state.ramp, state.good, state.bad)
    if (state.ramp.ratePerSec < before) state.caution = STEPS_OF_CAUTION
    state.good = 0
    state.bad = 0
    state.unjudged = 0
  }

  /** Nothing is known of the upstream yet: then what is asked of it is the best guess at what it can take. */
  #arrivals(nowMs: number): Healthy {
    const seconds = Math.max(1, (nowMs - this.#blockedAtMs) / 1000)
    return { perSec: this.#joined / seconds, badRatio: 0 }
  }
}
