/** What pods of a test stand on: the one-file build as the image, an upstream, ConfigMaps and who writes them. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from '../../../src/kube/inject/inject.js'
import { toYaml, upstreamDoc } from '../../e2e/harness/policies.js'
import { sleep, until } from '../../e2e/harness/time.js'
import type { Files, LinkOrder } from '../../support/config-map.js'
import { Bundled } from '../image/bundled.js'
import { Pod } from './pod.js'
import type { Container, PodSpec } from './pod-spec.js'
import { VolumeWriter } from './volume-writer.js'

const APP = fileURLToPath(new URL('app.mjs', import.meta.url))
const CONFIG_MAP = 'shop-policies'
const UPSTREAM_MS = 5

/** How a pod is made to be injected. */
export interface PodOptions {
  readonly native: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly app?: Partial<Container>
  readonly spec?: Partial<PodSpec>
  readonly links?: LinkOrder
  readonly kind?: string
  /** Beside those of `inject`. */
  readonly sidecarArgs?: readonly string[]
}

/** A pod and what the rehearsal knows of it. */
export interface Placed {
  readonly pod: Pod
  /** The directory that the kubelet writes. */
  readonly volume: string
  readonly links: LinkOrder
  /** Where its app serves. */
  readonly socket: string
}

/** What the app of a pod told under this name, in order. */
export const told = ({ pod }: Placed, key: string): unknown[] =>
  pod.sandbox.told('app').flatMap(line => (key in line ? [line[key]] : []))

export class Cluster {
  readonly #bundled = new Bundled()
  readonly #pods: Pod[] = []
  #placed = 0
  readonly #upstream: Server
  /** Paths in order of arrival. */
  readonly arrived: string[] = []

  private constructor(
    readonly dir: string,
    readonly writer: VolumeWriter,
  ) {
    this.#bundled.build()
    this.#upstream = createServer(async ({ url = '' }, res) => {
      this.arrived.push(url)
      await sleep(UPSTREAM_MS)
      res.end('fine')
    })
    // Sidecars keep connections, and none shall be closed under a request.
    this.#upstream.keepAliveTimeout = 120_000
    this.#upstream.listen({ path: join(dir, 'up.sock'), backlog: 4_096 })
  }

  static async create(): Promise<Cluster> {
    const dir = await mkdtemp(join(tmpdir(), 'forbear-pods-'))
    return new Cluster(dir, await VolumeWriter.start(dir))
  }

  /** Policies with these upstreams, all of which lead to the one there is: pods have a network each, but one file system. */
  policies(...names: readonly string[]): Files {
    const target = `http://unix:${join(this.dir, 'up.sock')}`
    return { 'upstreams.yaml': toYaml(...names.map(name => upstreamDoc(name, target))) }
  }

  /** Its containers are not started yet. */
  async place(options: PodOptions, files: Files = this.policies('payments')): Promise<Placed> {
    const n = ++this.#placed
    const [volume, mountPoint, socket] = ['volume', 'mount', 'app.sock'].map(name => join(this.dir, String(n), name))
    if (volume === undefined || mountPoint === undefined || socket === undefined) throw new Error('unreachable')
    await Promise.all([volume, mountPoint].map(path => mkdir(path, { recursive: true })))
    const links = options.links ?? (n % 2 === 0 ? 'before' : 'after')
    await this.writer.write(volume, files, links)
    const pod = await Pod.create(`10.244.0.${n}`, injected(options, socket), {
      images: { forbear: [process.execPath, this.#bundled.command], app: [process.execPath, APP] },
      env: { FORBEAR_ACCESS_LOG: 'errors' },
      configMaps: { [CONFIG_MAP]: volume },
      mountPoint,
    })
    this.#pods.push(pod)
    return { pod, volume, links, socket }
  }

  /** A pod whose app has called for the first time. */
  async run(options: PodOptions, files?: Files): Promise<Placed> {
    const placed = await this.place(options, files)
    await placed.pod.start()
    await until('the app has called', () => told(placed, 'first').length === 1, 20_000)
    return placed
  }

  edit({ volume, links }: Placed, files: Files): Promise<void> {
    return this.writer.write(volume, files, links)
  }

  get report(): string {
    return this.#pods.map(({ address, sandbox }) => `${address}\n${sandbox.report}`).join('\n')
  }

  async close(): Promise<void> {
    await Promise.all(this.#pods.map(({ sandbox }) => sandbox.dispose()))
    await this.writer.close()
    this.#upstream.close()
    this.#upstream.closeAllConnections()
    this.#bundled.dispose()
    await rm(this.dir, { recursive: true, force: true })
  }
}

/** The very pod that `forbear inject` makes of one with an app. */
function injected(
  { native, env = {}, app = {}, spec = {}, kind = 'Pod', sidecarArgs = [] }: PodOptions,
  socket: string,
): PodSpec {
  const variables = Object.entries({ APP_SOCKET: socket, ...env }).map(([name, value]) => ({ name, value }))
  const container = { name: 'app', image: 'app', env: variables, ...app }
  const annotations = { 'forbear.dev/policy-configmap': CONFIG_MAP, 'forbear.dev/native': String(native) }
  const pod = { ...spec, containers: [container] } as const
  const { podSpec, report } = inject(pod as never, { annotations }, { image: 'forbear', kind, quitEndpoint: true })
  if (report.outcome !== 'injected') throw new Error(JSON.stringify(report))
  const result = podSpec as unknown as PodSpec
  const more = (one: Container) =>
    one.name === 'forbear' ? { ...one, args: [...(one.args ?? []), ...sidecarArgs] } : one
  return { ...result, containers: result.containers.map(more) }
}
