/** What one end-to-end test stands on; everything it started is gone when the test ends. */
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { test as base } from 'vitest'
import { ConfigMapDir, type Files } from '../../support/config-map.js'
import { type Document, PolicyDir, temporary, toYaml } from './policies.js'
import { type RawScript, RawUpstream } from './raw-upstream.js'
import { type Launch, Sidecar } from './sidecar.js'
import { Upstream, type UpstreamOptions } from './upstream.js'

export class Stage {
  readonly #sidecars: Sidecar[] = []
  readonly #endings: (() => Promise<unknown>)[] = []

  async upstream(options?: UpstreamOptions): Promise<Upstream> {
    const upstream = await Upstream.start(options)
    this.#endings.push(() => upstream.close())
    return upstream
  }

  async rawUpstream(script: RawScript): Promise<RawUpstream> {
    const upstream = await RawUpstream.start(script)
    this.#endings.push(() => upstream.close())
    return upstream
  }

  async policyDir(files: Files): Promise<PolicyDir> {
    const dir = await PolicyDir.create(files)
    this.#endings.push(() => dir.dispose())
    return dir
  }

  async configMapDir(files: Files, parent?: string): Promise<ConfigMapDir> {
    const path = await temporary(parent)
    this.#endings.push(() => rm(path, { recursive: true, force: true }))
    return ConfigMapDir.create(path, files)
  }

  /** A ready sidecar on the documents, or on a directory. */
  async sidecar(
    policies: readonly Document[] | { readonly path: string },
    args: readonly string[] = [],
    launch?: Launch,
  ): Promise<Sidecar> {
    const sidecar = await this.spawn(policies, args, launch)
    await sidecar.ready()
    return sidecar
  }

  /** As `sidecar`, but not yet ready; perhaps never. */
  async spawn(
    policies: readonly Document[] | { readonly path: string },
    args: readonly string[] = [],
    launch?: Launch,
  ): Promise<Sidecar> {
    const { path } = 'path' in policies ? policies : await this.policyDir({ 'policies.yaml': toYaml(...policies) })
    const sidecar = await Sidecar.spawn(path, args, launch)
    this.#sidecars.push(sidecar)
    return sidecar
  }

  /** Open connections to a port on which nothing is said; some may have been closed by the other side. */
  async connections(port: number, count: number): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
    this.later(async () => sockets.map(socket => socket.destroy()))
    await Promise.all(
      sockets.map(socket => new Promise(resolve => socket.once('connect', resolve).once('close', resolve))),
    )
    return sockets
  }

  later(ending: () => Promise<unknown>): void {
    this.#endings.push(ending)
  }

  async close(): Promise<void> {
    await Promise.all(this.#sidecars.map(sidecar => sidecar.kill()))
    await Promise.all(this.#endings.map(end => end()))
  }

  /** The last lines that each sidecar wrote. */
  report(): string {
    return this.#sidecars.map(one => `sidecar ${one.pid}:\n${one.output.split('\n').slice(-40).join('\n')}`).join('\n')
  }
}

export const test = base.extend<{ stage: Stage }>({
  stage: async ({ onTestFailed }, use) => {
    const stage = new Stage()
    onTestFailed(() => console.error(stage.report()))
    await use(stage)
    await stage.close()
  },
})
