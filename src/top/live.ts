/** The live view: looks, keys and sizes come in, lines go out. */
import type { AdminPort } from './admin-port.js'
import type { Paint } from './paint.js'
import { screenLines } from './screen.js'
import { takeTerminal } from './terminal.js'
import { afterKey, FIRST_STATE, type Key, type ViewState } from './view-state.js'
import { everyInterval, Watch } from './watch.js'

export interface LiveOptions {
  readonly intervalMs: number
  readonly paint: Paint
  /** Ends the view. */
  readonly stop: AbortController
}

/** Resolves when it was told to end, with the terminal as it was. */
export async function live(port: AdminPort, { intervalMs, paint, stop }: LiveOptions): Promise<void> {
  const watch = new Watch(port)
  let scene = watch.scene
  let state: ViewState = FIRST_STATE
  let policy: unknown
  const terminal = takeTerminal({ onKey, onResize: draw })

  function draw(): void {
    terminal.draw(screenLines({ scene, state, size: terminal.size, policy }, paint))
  }

  function onKey(key: Key): void {
    if (key.ctrl && key.name === 'z') return terminal.suspend()
    const before = state
    state = afterKey(state, key, scene.rows)
    if (state.quit) return stop.abort()
    if (state.open !== before.open) void readPolicy()
    draw()
  }

  async function readPolicy(): Promise<void> {
    const wanted = state.open
    policy = undefined
    if (wanted === null) return
    const read = await port.policyOf(wanted).catch((error: Error) => error.message)
    if (state.open !== wanted) return
    policy = read ?? 'it has gone'
    draw()
  }

  async function look(): Promise<void> {
    if (state.paused) return
    const generation = scene.status?.generation
    scene = await watch.look()
    if (state.open !== null && scene.status?.generation !== generation) await readPolicy()
    if (!stop.signal.aborted) draw()
  }

  try {
    draw()
    await everyInterval(intervalMs, stop.signal, look)
  } finally {
    terminal.leave()
  }
}
