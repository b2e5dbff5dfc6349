import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Files, LinkOrder } from '../../support/config-map.js'

const ENTRY = fileURLToPath(new URL('config-map-process.ts', import.meta.url))

/** Writes ConfigMaps from another process, so that no event loop of a test decides when the sidecar sees which step. */
export class VolumeWriter {
  readonly #waiting = new Map<number, (error: string | null) => void>()
  #orders = 0

  private constructor(readonly child: ChildProcess) {
    if (child.stdout === null) throw new Error('no pipe')
    createInterface(child.stdout).on('line', line => {
      const { id, error } = JSON.parse(line) as { readonly id: number; readonly error: string | null }
      this.#waiting.get(id)?.(error)
      this.#waiting.delete(id)
    })
  }

  /** `directory` is for its code. */
  static async start(directory: string): Promise<VolumeWriter> {
    const outfile = `${directory}/config-map-process.mjs`
    await build({ entryPoints: [ENTRY], outfile, bundle: true, platform: 'node', format: 'esm' })
    return new VolumeWriter(spawn(process.execPath, [outfile], { stdio: ['pipe', 'pipe', 'inherit'] }))
  }

  /** Into an existing directory; resolves when all steps are done. */
  async write(path: string, files: Files, links: LinkOrder): Promise<void> {
    const id = ++this.#orders
    const done = new Promise<string | null>(resolve => this.#waiting.set(id, resolve))
    this.child.stdin?.write(`${JSON.stringify({ id, path, files, links })}\n`)
    const error = await done
    if (error !== null) throw new Error(error)
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'close')
    this.child.kill('SIGKILL')
    await ended
  }
}
