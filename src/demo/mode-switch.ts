import type { Clock, Timer } from '../clock/clock.js'
import { MODES, type Mode } from './modes.js'

/** How long the upstream stays well, and how long each trouble lasts, ms. */
export interface Rotation {
  readonly healthyMs: number
  readonly troubleMs: number
}

export const DEFAULT_ROTATION: Rotation = { healthyMs: 20_000, troubleMs: 10_000 }

const TROUBLES: readonly Mode[] = MODES.filter(mode => mode !== 'healthy')

/** Holds the mode: it goes round by itself until one is set by hand, and again after `resume`. */
export class ModeSwitch {
  readonly #clock: Clock
  readonly #rotation: Rotation | null
  readonly #onChange: (mode: Mode) => void
  #mode: Mode = 'healthy'
  #troubles = 0
  #timer: Timer | null = null

  /** `rotation: null` = never by itself. `onChange` hears of every change, whoever made it. */
  constructor(clock: Clock, rotation: Rotation | null, onChange: (mode: Mode) => void) {
    this.#clock = clock
    this.#rotation = rotation
    this.#onChange = onChange
    this.resume()
  }

  get mode(): Mode {
    return this.#mode
  }

  /** A change by itself is due. */
  get automatic(): boolean {
    return this.#timer !== null
  }

  /** Stays in this mode until told otherwise. */
  set(mode: Mode): void {
    this.stop()
    this.#enter(mode)
  }

  /** Goes round again, from the present mode on. */
  resume(): void {
    this.stop()
    if (this.#rotation === null) return
    const stayMs = this.#mode === 'healthy' ? this.#rotation.healthyMs : this.#rotation.troubleMs
    this.#timer = this.#clock.after(stayMs, () => this.#turn())
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = null
  }

  #turn(): void {
    this.#enter(this.#mode === 'healthy' ? this.#nextTrouble() : 'healthy')
    this.resume()
  }

  #nextTrouble(): Mode {
    const trouble = TROUBLES[this.#troubles % TROUBLES.length] ?? 'down'
    this.#troubles += 1
    return trouble
  }

  #enter(mode: Mode): void {
    if (mode === this.#mode) return
    this.#mode = mode
    this.#onChange(mode)
  }
}
