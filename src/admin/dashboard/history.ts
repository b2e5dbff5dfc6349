/**
 * The last 15 minutes of every upstream, in steps of five seconds, in rings of a fixed size: 12.7 KiB for an upstream that
 * was called, nothing for one that was not, and no more than `MAX_UPSTREAMS` of them (3.2 MiB). It reads the tallies and
 * the status once a step, so a call costs nothing.
 */
import type { ScopeTally } from '../../telemetry/scope-tally.js'
import type { UpstreamStatus } from '../../telemetry/status.js'
import { noTotals, type Totals, totalsOf } from './totals.js'

export const STEP_MS = 5000
export const STEPS = 180
/** Steps that stand for "now". */
const RECENT_STEPS = 2
export const MAX_UPSTREAMS = 256

/** Columns of a step: what was counted in it, then what the status said at its end. */
const COUNTED = [
  'requests',
  'failed',
  'attempts',
  'attemptsFailed',
  'retries',
  'hedges',
  'polls',
  'parked',
  'fallbacks',
] as const
const COLUMNS = [
  ...COUNTED,
  'denied',
  'allowedPerSec',
  'spentPerSec',
  'p50',
  'p95',
  'p99',
  'inFlight',
  'waiting',
  'breaker',
] as const
export const BREAKER_CODES = ['closed', 'half-open', 'open'] as const

interface Track {
  totals: Totals
  /** By reason; of the last steps, the newest first. */
  denied: ReadonlyMap<string, number>[]
  /** `null` until there is something to remember. */
  ring: Float32Array | null
}

/** Counts of the last steps. */
export interface Recent extends Totals {
  /** For how long they were counted. */
  readonly seconds: number
}

/** Oldest first; `null` = unknown. */
export interface HistoryView {
  /** Unix times of the ends of the steps, s. */
  readonly at: readonly number[]
  /** Lengths of the steps, s. */
  readonly seconds: readonly number[]
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>
}

export class History {
  /** Steps so far. */
  steps = 0
  readonly #tracks = new Map<string, Track>()
  readonly #at = new Float64Array(STEPS)
  readonly #seconds = new Float64Array(STEPS)
  #lastMs: number

  constructor(nowMs: number) {
    this.#lastMs = nowMs
  }

  /** Closes a step. */
  record(
    upstreams: readonly UpstreamStatus[],
    tallies: ReadonlyMap<string, ReadonlyMap<string, ScopeTally>>,
    nowMs: number,
    wallMs: number,
  ): void {
    const place = this.#place(this.steps)
    this.#at[place] = wallMs / 1000
    this.#seconds[place] = Math.max(0.001, (nowMs - this.#lastMs) / 1000)
    this.#lastMs = nowMs
    for (const track of this.#tracks.values())
      track.ring?.fill(Number.NaN, place * COLUMNS.length, (place + 1) * COLUMNS.length)
    const own = upstreams.filter(({ route }) => route === null)
    this.#forget(own)
    for (const status of own) {
      const scopes = tallies.get(status.name)
      if (scopes !== undefined || status.breaker.state !== 'closed' || this.#tracks.has(status.name)) {
        this.#step(status, totalsOf(scopes?.values() ?? []), place)
      }
    }
    this.steps += 1
  }

  /** Upstreams of which anything is known. */
  get names(): Iterable<string> {
    return this.#tracks.keys()
  }

  /** The columns of one upstream; `null` when there is none. */
  of(name: string): HistoryView | null {
    const ring = this.#tracks.get(name)?.ring
    if (ring === undefined || ring === null) return null
    const places = Array.from({ length: Math.min(STEPS, this.steps) }, (_, back) =>
      this.#place(this.steps - 1 - back),
    ).reverse()
    const column = (index: number) => places.map(place => known(ring[place * COLUMNS.length + index]))
    return {
      at: places.map(place => this.#at[place] ?? 0),
      seconds: places.map(place => this.#seconds[place] ?? 0),
      columns: Object.fromEntries(COLUMNS.map((name, index) => [name, column(index)])),
    }
  }

  /** Of the last `steps`. */
  recent(name: string, steps = RECENT_STEPS): Recent {
    const sum = noTotals()
    const track = this.#tracks.get(name)
    let seconds = 0
    for (let back = 1; back <= Math.min(steps, this.steps); back++) {
      const place = this.#place(this.steps - back)
      seconds += this.#seconds[place] ?? 0
      COUNTED.forEach((column, index) => (sum[column] += known(track?.ring?.[place * COLUMNS.length + index]) ?? 0))
    }
    for (const step of track?.denied.slice(0, steps) ?? []) {
      for (const [why, count] of step) sum.denied.set(why, (sum.denied.get(why) ?? 0) + count)
    }
    return { ...sum, seconds }
  }

  #step(status: UpstreamStatus, totals: Totals, place: number): void {
    const track = this.#tracks.get(status.name) ?? this.#newTrack(status.name)
    if (track === null) return
    const counted = COUNTED.map(column => since(track.totals[column], totals[column]))
    const denied = deniedSince(track.totals, totals)
    track.denied = [denied, ...track.denied].slice(0, RECENT_STEPS)
    track.totals = totals
    const quiet = counted.every(count => count === 0) && status.breaker.state === 'closed'
    if (quiet && track.ring === null) return
    track.ring ??= new Float32Array(STEPS * COLUMNS.length).fill(Number.NaN)
    const { budget, latencyMs, inFlight, waiting, breaker } = status
    const { p50, p95, p99 } = latencyMs
    const now = [
      budget.allowedPerSec,
      budget.spentPerSec,
      p50,
      p95,
      p99,
      inFlight,
      waiting,
      BREAKER_CODES.indexOf(breaker.state),
    ]
    const row = [...counted, [...denied.values()].reduce((a, b) => a + b, 0), ...now]
    track.ring.set(
      row.map(value => value ?? Number.NaN),
      place * COLUMNS.length,
    )
  }

  #newTrack(name: string): Track | null {
    if (this.#tracks.size >= MAX_UPSTREAMS) return null
    const track = { totals: noTotals(), denied: [], ring: null }
    this.#tracks.set(name, track)
    return track
  }

  #forget(own: readonly UpstreamStatus[]): void {
    const names = new Set(own.map(({ name }) => name))
    for (const name of this.#tracks.keys()) if (!names.has(name)) this.#tracks.delete(name)
  }

  #place(step: number): number {
    return step % STEPS
  }
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value
}

function deniedSince(before: Totals, now: Totals): Map<string, number> {
  const counts = [...now.denied].map(([why, count]) => [why, since(before.denied.get(why) ?? 0, count)] as const)
  return new Map(counts.filter(([, count]) => count > 0))
}

/** A tally that was given up and begun anew counts from 0. */
function since(before: number, now: number): number {
  return now >= before ? now - before : now
}
