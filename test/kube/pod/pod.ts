/**
 * Plays the kubelet for one pod: starts containers in its order, asks their probes from the pod's address, runs hooks, and
 * ends them in its order. It differs where that is harder on the sidecar: it starts what comes next at once when a probe
 * passes, where the kubelet asks only every second. Nothing is restarted: a container that ends unasked is a finding.
 */
import { nowMs, sleep, until } from '../../e2e/harness/time.js'
import { type Container, environment, type Hook, isSidecar, type PodSpec, type Probe } from './pod-spec.js'
import { type Exit, type HttpAnswer, Sandbox } from './sandbox.js'

/** What the cluster knows besides the pod. */
export interface Node {
  /** Image → the command that is its entry point. */
  readonly images: Readonly<Record<string, readonly string[]>>
  /** For every container, beside its own. */
  readonly env?: Readonly<Record<string, string>>
  /** ConfigMap → the directory that is written for this pod. */
  readonly configMaps: Readonly<Record<string, string>>
  /** An empty directory of the pod's own to mount one in. */
  readonly mountPoint: string
}

export interface Termination {
  readonly signalledMs: ReadonlyMap<string, number>
  readonly exits: ReadonlyMap<string, Exit>
  /** What did not end within the grace period. */
  readonly killed: readonly string[]
}

const STARTUP_LOOK_MS = 100
/** After the grace period a native sidecar gets SIGTERM and so long, ms (KEP-753). */
const LAST_RESORT_MS = 2_000

export class Pod {
  readonly #signalledMs = new Map<string, number>()

  private constructor(
    readonly address: string,
    readonly spec: PodSpec,
    readonly node: Node,
    readonly sandbox: Sandbox,
  ) {}

  static async create(address: string, spec: PodSpec, node: Node): Promise<Pod> {
    const maps = (spec.volumes ?? []).flatMap(({ configMap }) => (configMap === undefined ? [] : [configMap.name]))
    const mounts = maps.map(name => [node.configMaps[name] ?? '', node.mountPoint] as const)
    return new Pod(address, spec, node, await Sandbox.create(address, mounts))
  }

  /** Resolves when the last container has been started; that says nothing of readiness. */
  async start(): Promise<void> {
    for (const container of this.spec.initContainers ?? []) {
      await this.#run(container)
      if (isSidecar(container)) await this.#started(container)
      else if ((await this.sandbox.exited(container.name)).code !== 0) throw new Error(`${container.name} failed`)
    }
    for (const container of this.spec.containers) await this.#run(container)
  }

  /** Of all containers that say so by a probe, and nothing has ended. */
  async ready(): Promise<boolean> {
    const probes = this.#all.flatMap(({ readinessProbe }) => readinessProbe ?? [])
    const answers = await Promise.all(probes.map(probe => this.probe(probe)))
    return this.sandbox.exits.size === 0 && answers.every(({ status }) => status >= 200 && status < 400)
  }

  probe({ httpGet }: Probe): Promise<HttpAnswer> {
    return this.sandbox.http(httpGet)
  }

  /** As when somebody deletes the pod. */
  async terminate(): Promise<Termination> {
    const { terminationGracePeriodSeconds = 30, containers } = this.spec
    const hooks = new Map(this.#all.map(({ name, lifecycle }) => [name, this.#hook(lifecycle?.preStop)]))
    const end = async ({ name }: Container) => {
      await hooks.get(name)
      await this.#end(name)
    }
    const orderly = Promise.all(containers.map(end)).then(async () => {
      for (const sidecar of this.#sidecars.reverse()) await end(sidecar)
    })
    if (await settles(orderly, terminationGracePeriodSeconds * 1_000)) return this.#termination([])
    const late = await this.#kill(containers)
    return this.#termination([...late, ...(await this.#lastResort())])
  }

  /** A pod that is to end by itself; native sidecars are ended behind the last container. */
  async completed(withinMs: number): Promise<ReadonlyMap<string, Exit>> {
    const names = this.spec.containers.map(({ name }) => name)
    await until(`${names} are done`, () => names.every(name => this.sandbox.exits.has(name)), withinMs)
    for (const { name } of this.#sidecars.reverse()) await this.#end(name)
    return this.sandbox.exits
  }

  get #sidecars(): Container[] {
    return (this.spec.initContainers ?? []).filter(isSidecar)
  }

  get #all(): Container[] {
    return [...this.#sidecars, ...this.spec.containers]
  }

  async #run(container: Container): Promise<void> {
    const command = this.node.images[container.image]
    if (command === undefined) throw new Error(`nobody has the image ${container.image}`)
    const env = { PATH: process.env['PATH'] ?? '', ...this.node.env, ...environment(container) }
    const argv = [...command, ...(container.args ?? [])].map(text => this.#mounted(container, text))
    await this.sandbox.start(container.name, argv, env)
    await this.#hook(container.lifecycle?.postStart)
  }

  /** The file system is not the container's own, so a path in it is one here. */
  #mounted({ volumeMounts = [] }: Container, text: string): string {
    return volumeMounts.some(({ mountPath }) => mountPath === text) ? this.node.mountPoint : text
  }

  async #started({ name, startupProbe }: Container): Promise<void> {
    if (startupProbe === undefined) return
    const { periodSeconds = 10, failureThreshold = 3 } = startupProbe
    const endMs = nowMs() + periodSeconds * failureThreshold * 1_000
    while ((await this.probe(startupProbe)).status !== 200) {
      if (this.sandbox.exits.has(name)) throw new Error(`${name} ended before it was started:\n${this.sandbox.report}`)
      if (nowMs() > endMs) throw new Error(`${name} did not start:\n${this.sandbox.report}`)
      await sleep(STARTUP_LOOK_MS)
    }
  }

  async #hook(hook: Hook | undefined): Promise<void> {
    if (hook?.sleep !== undefined) await sleep(hook.sleep.seconds * 1_000)
    if (hook?.exec === undefined) return
    const [command = '', ...args] = hook.exec.command
    const code = await this.sandbox.exec([...(this.node.images[command] ?? [command]), ...args], { ...this.node.env })
    if (code !== 0) throw new Error(`the hook ${hook.exec.command.join(' ')} ended with ${code}`)
  }

  async #end(name: string): Promise<void> {
    if (!this.sandbox.exits.has(name) && !this.#signalledMs.has(name)) await this.#signal(name)
    await this.sandbox.exited(name)
  }

  /** Of native sidecars, whose apps have just been killed. */
  async #lastResort(): Promise<string[]> {
    const left = this.#sidecars.filter(({ name }) => !this.sandbox.exits.has(name))
    const ends = Promise.all(left.map(({ name }) => this.#end(name)))
    return (await settles(ends, LAST_RESORT_MS)) ? [] : this.#kill(left)
  }

  async #kill(containers: readonly Container[]): Promise<string[]> {
    const left = containers.map(({ name }) => name).filter(name => !this.sandbox.exits.has(name))
    for (const name of left) await this.sandbox.signal(name, 'SIGKILL')
    await Promise.all(left.map(name => this.sandbox.exited(name)))
    return left
  }

  #termination(killed: readonly string[]): Termination {
    return { signalledMs: this.#signalledMs, exits: this.sandbox.exits, killed }
  }

  async #signal(name: string): Promise<void> {
    this.#signalledMs.set(name, nowMs())
    await this.sandbox.signal(name, 'SIGTERM')
  }
}

/** Whether it does so in time. */
async function settles(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const cancel = new AbortController()
  const late = sleep(ms, false, { signal: cancel.signal }).catch(() => false)
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    cancel.abort()
  }
}
