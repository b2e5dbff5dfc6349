import type { Clock, Timer } from '../clock/clock.js'
import {
  atCeiling,
  type Healthy,
  HealthyRate,
  LEAST_ANSWERS,
  nextRamp,
  RAMP_STEP_MS,
  type Ramp,
  raiseCeiling,
  startRamp,
} from '../core/ramp.js'

/** A call that stands in line; the line calls it when its turn has come. */
export interface LineMember {
  /** May try to start now. `false` = it is answered instead, so the turn is the next one's. */
  onTurn(): boolean
  readonly inLine: boolean
  /** What it waits for will never come. */
  onDismissed(): void
}

/** How often calls are let go while the ramp runs: small enough that a tick is no burst. */
const TICK_MS = 10

/** With few answers the verdict waits for so many steps, half a second. */
const STEPS_PER_VERDICT = 5

/** Ten seconds: a line that keeps its length so long meets more load than before the outage, not only its backlog. */
const STEPS_PER_LOOK = 100

/**
 * `idle` nobody is held back · `blocked` the gate is closed or the breaker is open · `ramping` let go at a rate.
 */
type LineState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'blocked' }
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
      /** Steps of the running look at whether the line gets shorter. */
      steps: number
      lengthThen: number
      /** It began at the ceiling, and no answer was bad since. */
      clean: boolean
    }

type Ramping = Extract<LineState, { kind: 'ramping' }>

/**
 * First come, first served: calls that wait for a closed gate or an open breaker. One goes as the probe; once it
 * succeeded the rest follow at a rate that grows while the answers stay good.
 */
export class Line {
  readonly #clock: Clock
  readonly #rate: HealthyRate
  #members: LineMember[] = []
  #head = 0
  #state: LineState = { kind: 'idle' }
  #timer: Timer | null = null
  #sending = false
  /** Since when calls have been held back, and how many came since. */
  #blockedAtMs = 0
  #joined = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#rate = new HealthyRate()
  }

  /** Newcomers must stand in line too. */
  get busy(): boolean {
    return this.#state.kind !== 'idle'
  }

  get length(): number {
    return this.#members.length - this.#head
  }

  /** Nobody waits here. */
  get empty(): boolean {
    return this.#peek() === null
  }

  onGood(nowMs: number): void {
    if (this.#state.kind === 'idle') this.#rate.onGood(nowMs)
    else if (this.#state.kind === 'ramping') this.#state.good += 1
  }

  onBad(nowMs: number): void {
    if (this.#state.kind === 'idle') this.#rate.onBad(nowMs)
    else if (this.#state.kind === 'ramping') this.#state.bad += 1
  }

  join(member: LineMember): void {
    // Those whose deadline passed are dropped as new ones come, so that a long outage piles nothing up.
    this.#peek()
    this.#joined += 1
    this.#members.push(member)
  }

  /** Returns to the front: it came before everyone who stands here. */
  rejoin(member: LineMember): void {
    if (this.#head > 0) this.#members[--this.#head] = member
    else this.#members.unshift(member)
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
    for (let member = this.#next(); member !== null; member = this.#next()) if (member.onTurn()) break
    this.#sending = false
  }

  /** The probe succeeded: the rest follow. */
  open(): void {
    if (this.#state.kind !== 'blocked') return
    const nowMs = this.#clock.nowMs()
    if (this.#peek() === null) {
      this.#state = { kind: 'idle' }
      return
    }
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
      steps: 0,
      lengthThen: this.length,
      clean: false,
    }
    this.#timer = this.#clock.after(TICK_MS, this.#tick)
  }

  dispose(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#state = { kind: 'idle' }
    const members = this.#members.slice(this.#head)
    this.#members = []
    this.#head = 0
    for (const member of members) if (member.inLine) member.onDismissed()
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
      const member = this.#next()
      if (member === null) break
      if (member.onTurn()) state.credit -= 1
    }
    if (this.#state !== state) return
    if (this.#peek() === null) this.#state = { kind: 'idle' }
    else this.#timer = this.#clock.after(TICK_MS, this.#tick)
  }

  #step(state: Ramping, nowMs: number): void {
    state.stepAtMs = nowMs + RAMP_STEP_MS
    state.steps += 1
    state.unjudged += 1
    if (state.good + state.bad >= LEAST_ANSWERS || state.unjudged >= STEPS_PER_VERDICT) this.#judge(state)
    if (state.steps < STEPS_PER_LOOK) return
    if (state.clean && this.length >= state.lengthThen) state.ramp = raiseCeiling(state.ramp)
    state.steps = 0
    state.lengthThen = this.length
    state.clean = atCeiling(state.ramp)
  }

  #judge(state: Ramping): void {
    if (state.good + state.bad === 0) return
    const before = state.ramp.ratePerSec
    state.ramp = nextRamp(state.ramp, state.good, state.bad)
    if (state.ramp.ratePerSec < before) state.clean = false
    state.good = 0
    state.bad = 0
    state.unjudged = 0
  }

  /** Nothing is known of the upstream yet: then what is asked of it is the best guess at what it can take. */
  #arrivals(nowMs: number): Healthy {
    const seconds = Math.max(1, (nowMs - this.#blockedAtMs) / 1000)
    return { perSec: this.#joined / seconds, badRatio: 0 }
  }

  #peek(): LineMember | null {
    while (this.#head < this.#members.length) {
      const member = this.#members[this.#head] as LineMember
      if (member.inLine) return member
      this.#head += 1
    }
    this.#members = []
    this.#head = 0
    return null
  }

  #next(): LineMember | null {
    const member = this.#peek()
    if (member === null) return null
    this.#head += 1
    if (this.#head > 1024) {
      this.#members = this.#members.slice(this.#head)
      this.#head = 0
    }
    return member
  }
}
