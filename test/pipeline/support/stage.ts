import { afterEach, expect, vi } from 'vitest'
import type { Timer } from '../../../src/clock/clock.js'
import { VirtualClock } from '../../../src/clock/virtual-clock.js'
import type { Tracing } from '../../../src/core/request-trace.js'
import { unmatchedUpstream } from '../../../src/core/unmatched.js'
import type { Parking } from '../../../src/pipeline/parking.js'
import { Pipeline } from '../../../src/pipeline/pipeline.js'
import type { RequestAddress } from '../../../src/pipeline/ports.js'
import type { UpgradeDecision } from '../../../src/pipeline/upgrade-ports.js'
import { decodeBody } from '../../../src/proxy/decode-body.js'
import { FaultTransport } from '../../../src/proxy/fault-transport.js'
import { breakersOn } from '../../../src/proxy/make-breaker.js'
import type { ForbearEvent } from '../../../src/telemetry/events.js'
import type { UpstreamStatus } from '../../../src/telemetry/status.js'
import { BUILT_IN_POLICY } from '../../support/built-in.js'
import { AppBody, AppCall, flat } from './app-call.js'
import { type PolicyPart, snapshotOf, type UpstreamPart } from './policy.js'
import { ScriptedUpstream } from './upstream.js'

/** 2026-01-01T00:00:00Z */
export const WALL_START_MS = 1_767_225_600_000

export interface StageOptions {
  /** In [0, 1); default 0.5 always, so an opening of the breaker lasts three quarters of its full time. */
  readonly random?: () => number
  readonly upstreams?: readonly UpstreamPart[]
  readonly invalid?: readonly string[]
  readonly parking?: Parking
  readonly tracing?: Tracing
  /** As `--unmatched`; default `refuse`. */
  readonly unmatched?: 'refuse' | 'tunnel'
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes of the request body; absent = no body. */
  readonly bodyBytes?: number
  /** The body is still coming in; `call.body.end()` ends it. */
  readonly uploading?: boolean
  /** Default `api`, by its own port. `null` = the shared port. */
  readonly upstream?: string | null
}

type Finished = Extract<ForbearEvent, { type: 'request-finished' }>

/** A pipeline in virtual time between an app and an upstream that follow a script. */
export class Stage {
  readonly clock = new VirtualClock(WALL_START_MS)
  readonly upstream = new ScriptedUpstream(this.clock)
  readonly events: ForbearEvent[] = []
  readonly calls: AppCall[] = []
  readonly pipeline: Pipeline
  readonly #openingTimers = new Set<Timer>()
  #handshakes = 0
  #generation = 1
  #keys = 0

  constructor(policy: PolicyPart = {}, options: StageOptions = {}) {
    this.#putOpossumOnVirtualTime()
    const { random = () => 0.5, upstreams = [{ policy }], invalid = [], unmatched = 'refuse' } = options
    const { clock } = this
    this.pipeline = new Pipeline(
      {
        clock,
        random,
        pseudonym: 'forbear-test',
        sink: { emit: event => void this.events.push(event) },
        transport: new FaultTransport(this.upstream, clock),
        fallbackFile: path => (path === '/there' ? new TextEncoder().encode('from the file') : null),
        parking: options.parking ?? null,
        tracing: options.tracing ?? null,
        newKey: () => `minted-${++this.#keys}`,
        decodeBody,
        connections: () => 0,
        makeBreaker: breakersOn(clock, random),
        ...(unmatched === 'tunnel' && { unmatched: unmatchedUpstream(BUILT_IN_POLICY) }),
      },
      snapshotOf(1, upstreams, invalid),
    )
    stages.push(this)
  }

  /** A new snapshot comes into force. */
  apply(upstreams: readonly UpstreamPart[], invalid: readonly string[] = []): void {
    this.pipeline.apply(snapshotOf(++this.#generation, upstreams, invalid))
  }

  call(method: string, path: string, options: CallOptions = {}): AppCall {
    const { headers, bodyBytes, uploading = false, upstream = 'api' } = options
    const body = bodyBytes === undefined ? null : new AppBody(bodyBytes, !uploading)
    const call = new AppCall(method, path, flat(headers), body, this.clock)
    this.calls.push(call)
    call.listener = this.pipeline.handle(call, addressOf(upstream))
    return call
  }

  get(path = '/', options: CallOptions = {}): AppCall {
    return this.call('GET', path, options)
  }

  /** With a body of 100 bytes. */
  post(path = '/', options: CallOptions = {}): AppCall {
    return this.call('POST', path, { bodyBytes: 100, ...options })
  }

  /** A CONNECT on the shared port. */
  tunnel(authority: string, headers: Readonly<Record<string, string>> = {}): AppCall {
    const call = new AppCall('CONNECT', authority, flat(headers), null, this.clock)
    this.calls.push(call)
    call.listener = this.pipeline.handle(call, { ...addressOf(null), authority })
    return call
  }

  handshake(path: string, upstream: string | null = 'api', headers: readonly string[] = []): UpgradeDecision {
    this.#handshakes += 1
    return this.pipeline.upgrade({ method: 'GET', path, headers }, addressOf(upstream))
  }

  async run(ms: number): Promise<void> {
    await this.clock.advance(ms)
  }

  /** Runs until every call is over; at most ten minutes. */
  async finish(): Promise<void> {
    await this.run(0)
    for (let s = 0; s < 600 && this.calls.some(call => !call.over); s++) await this.run(1000)
    await this.run(0)
  }

  status(route: string | null = null, name = 'api'): UpstreamStatus {
    const found = this.pipeline.statuses().find(status => status.name === name && status.route === route)
    if (found === undefined) throw new Error(`no status of ${name} ${route}`)
    return found
  }

  get balance(): number {
    return this.status().budget.balance
  }

  of<T extends ForbearEvent['type']>(type: T): Extract<ForbearEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<ForbearEvent, { type: T }> => event.type === type)
  }

  /** Why no further attempt was made, in order. */
  get denials(): string[] {
    return this.of('retry-denied').map(event => event.reason)
  }

  get transitions(): string[] {
    return this.of('breaker-changed').map(event => `${event.to}: ${event.reason}`)
  }

  finishedOf(call: AppCall): Finished {
    const found = this.of('request-finished').filter(event => event.path === call.sentPath)
    expect(found, `request-finished of ${call.sentPath}`).toHaveLength(1)
    return found[0] as Finished
  }

  /** Opens the breaker by failures of GETs; resolves just after the opening. */
  async openBreaker(): Promise<void> {
    for (let n = 0; this.status().breaker.state === 'closed' && n < 100; n++) {
      this.get(`/break-${n}`, { headers: { 'forbear-max-attempts': '1' } })
      await this.run(20)
    }
    expect(this.status().breaker.state).toBe('open')
  }

  /** Nothing is left of any call: what the end of every scenario must find. */
  expectIdle(): void {
    for (const status of this.pipeline.statuses()) {
      const { inFlight, tunnels, waiting, waitingBytes } = status
      expect({ inFlight, tunnels, waiting, waitingBytes }, `${status.name} ${status.route ?? ''}`).toEqual({
        inFlight: 0,
        tunnels: 0,
        waiting: 0,
        waitingBytes: 0,
      })
    }
    expect(this.upstream.open, 'attempts left open').toBe(0)
    expect(this.clock.pendingTimers - this.#timersOfOpenStates(), 'timers left').toBe(0)
    expect(this.of('request-finished'), 'requests finished').toHaveLength(this.calls.length + this.#handshakes)
    expect(this.pipeline.active, 'calls not answered').toBe(0)
  }

  /** Every call ends, and leaves nothing; a line that was let go may still look for more members for a moment. */
  async end(): Promise<void> {
    await this.finish()
    await this.run(LAST_LOOK_MS)
    this.expectIdle()
    this.pipeline.dispose()
    expect(this.clock.pendingTimers, 'timers after dispose').toBe(0)
  }

  /** Openings of breakers and pauses of gates run on without a call. */
  #timersOfOpenStates(): number {
    const gates = this.pipeline.statuses().filter(status => status.gate.closedForMs > 0 && status.route === null)
    return this.#openingTimers.size + gates.length
  }

  /** opossum's only timer is the global one that ends an opening. */
  #putOpossumOnVirtualTime(): void {
    vi.stubGlobal('setTimeout', (fn: () => void, ms: number) => {
      const timer = this.clock.after(ms, () => {
        this.#openingTimers.delete(timer)
        fn()
      })
      this.#openingTimers.add(timer)
      return timer
    })
    vi.stubGlobal('clearTimeout', (timer: Timer | undefined) => {
      timer?.cancel()
      if (timer !== undefined) this.#openingTimers.delete(timer)
    })
  }
}

const LAST_LOOK_MS = 300
const stages: Stage[] = []

/** To be called once a file: whatever a scenario did, nothing may be left of it. */
export function checkEveryEnding(): void {
  afterEach(async () => {
    try {
      for (const stage of stages.splice(0)) await stage.end()
    } finally {
      stages.length = 0
      vi.unstubAllGlobals()
    }
  })
}

function addressOf(upstream: string | null): RequestAddress {
  return { authority: null, host: undefined, forbearUpstream: undefined, upstreamName: upstream }
}
