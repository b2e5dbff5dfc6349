import type { Clock } from '../../../src/clock/clock.js'
import type { Resolver } from '../../../src/proxy/resolver.js'
import { UndiciTransport } from '../../../src/proxy/transport.js'
import { RawUpstream, snapshotOf, type UpstreamOptions, upstreamAt } from './call.js'
import { systemClock } from './system-clock.js'

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const closing: (() => Promise<void>)[] = []

/** A transport that knows one upstream, both closed by `clearStage`. */
export function transportTo(raw: RawUpstream, options: UpstreamOptions & { resolver?: Resolver; clock?: Clock } = {}) {
  const upstream = upstreamAt(raw.port, options)
  const { resolver, clock = systemClock } = options
  const transport = new UndiciTransport({ clock, random: () => 0.5, ...(resolver && { resolver }) })
  transport.reconcile(snapshotOf(upstream))
  closing.push(() => transport.destroy())
  closing.push(() => raw.close())
  return { transport, upstream }
}

export function onClear(close: () => Promise<void>): void {
  closing.push(close)
}

export async function clearStage(): Promise<void> {
  for (const close of closing.splice(0)) await close()
}
