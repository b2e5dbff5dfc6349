import type { Clock } from '../clock/clock.js'
import type { EventSink } from '../telemetry/events.js'
import type { Limiter } from './limiter.js'
import type { TunnelBytes } from './ports.js'
import { withoutQuery } from './report.js'

export interface TunnelFacts {
  readonly upstream: string
  readonly route: string | null
  readonly method: string
  /** As the app sent it. */
  readonly path: string
  readonly generation: number
}

/** The right to one of `limits.maxTunnels`, from the handshake on; of a tunnel that stood, the end is told. */
export class TunnelSlot {
  #openedMs: number | null = null

  constructor(
    private readonly limiter: Limiter,
    private readonly clock: Clock,
    private readonly sink: EventSink,
    private readonly facts: TunnelFacts,
  ) {
    limiter.tunnelsOpening += 1
  }

  /** The tunnel stands. */
  open(): void {
    this.limiter.tunnelsOpening -= 1
    this.limiter.tunnels += 1
    this.#openedMs = this.clock.nowMs()
  }

  /** The tunnel is closed, or will not stand. */
  close(bytes: TunnelBytes = NOTHING): void {
    const openedMs = this.#openedMs
    if (openedMs === null) {
      this.limiter.tunnelsOpening -= 1
      return
    }
    this.limiter.tunnels -= 1
    this.sink.emit({
      type: 'tunnel-closed',
      ...this.facts,
      path: withoutQuery(this.facts.path),
      durationMs: this.clock.nowMs() - openedMs,
      bytesToUpstream: bytes.toUpstream,
      bytesToApp: bytes.toApp,
    })
  }
}

const NOTHING: TunnelBytes = Object.freeze({ toUpstream: 0, toApp: 0 })
