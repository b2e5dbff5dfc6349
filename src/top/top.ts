/** `forbear top`: live in a terminal, blocks of text or lines of JSON elsewhere. */
import { setTimeout as sleep } from 'node:timers/promises'
import { adminPort } from './admin-port.js'
import { live } from './live.js'
import { paintWith } from './paint.js'
import { jsonBlock, plainBlock } from './plain.js'
import { everyInterval, type Scene, Watch } from './watch.js'

export interface TopOptions {
  /** `HOST:PORT` */
  readonly admin: string
  readonly intervalMs: number
  /** One block, over one interval. */
  readonly once: boolean
  readonly output: 'text' | 'json'
  /** Whether to draw a screen. */
  readonly live: boolean
  readonly colors: boolean
  readonly write: (text: string) => void
  readonly stop: AbortController
}

/** Resolves with whether a sidecar answered at the last look. */
export async function top(options: TopOptions): Promise<boolean> {
  const port = adminPort(options.admin)
  const { intervalMs, stop } = options
  if (options.live) {
    await live(port, { intervalMs, stop, paint: paintWith(options.colors) })
    return true
  }
  const watch = new Watch(port)
  const block = options.output === 'json' ? jsonBlock : plainBlock
  if (options.once) {
    const scene = await onceOver(watch, options)
    if (!stop.signal.aborted) options.write(block(scene))
    return scene.gone === null
  }
  await everyInterval(intervalMs, stop.signal, async () => {
    const scene = await watch.look()
    if (!stop.signal.aborted && isWorthSaying(scene)) options.write(block(scene))
  })
  return watch.scene.gone === null
}

async function onceOver(watch: Watch, { intervalMs, stop }: TopOptions): Promise<Scene> {
  const first = await watch.look()
  if (first.gone !== null) return first
  await sleep(intervalMs, undefined, { signal: stop.signal }).catch(() => undefined)
  return watch.look()
}

/** The first look has no rates: the next one says more. */
function isWorthSaying({ isFirst, restarted, gone }: Scene): boolean {
  return !isFirst || restarted || gone !== null
}
