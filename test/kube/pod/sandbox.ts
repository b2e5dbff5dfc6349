/** The network, the mounts and the processes of one pod, run by `sandbox.mjs` in namespaces of their own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { nowMs } from '../../e2e/harness/time.js'

const NAMESPACES = ['--map-root-user', '--net', '--mount'] as const
const SCRIPT = fileURLToPath(new URL('sandbox.mjs', import.meta.url))

/** Said aloud; `null` = pods can run here. */
export function whyNoPods(): string | null {
  const { status, stderr, error } = spawnSync('unshare', [...NAMESPACES, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  })
  if (status === 0) return null
  const why = `no network namespaces: ${error?.message ?? stderr.trim()}`
  console.warn(`skipped: pods are not rehearsed: ${why}`)
  return why
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly atMs: number
}

export interface HttpOrder {
  /** Default: the pod's address, as the kubelet asks. */
  readonly host?: string
  readonly port: number
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Status 0 when there was no answer; then the body tells why. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

type Event =
  | { readonly event: 'up' }
  | { readonly event: 'line'; readonly name: string; readonly stream: 'stdout' | 'stderr'; readonly line: string }
  | {
      readonly event: 'exit'
      readonly name: string
      readonly code: number | null
      readonly signal: NodeJS.Signals | null
    }

export class Sandbox {
  readonly exits = new Map<string, Exit>()
  readonly #lines: { readonly name: string; readonly stream: string; readonly line: string }[] = []
  readonly #waiting = new Map<number, (reply: unknown) => void>()
  readonly #ends = new Map<string, Promise<Exit>>()
  readonly #exited = new Map<string, (exit: Exit) => void>()
  readonly up: Promise<void>
  #orders = 0
  #isUp: () => void = () => {}

  private constructor(readonly child: ChildProcess) {
    this.up = new Promise((resolve, reject) => {
      this.#isUp = resolve
      child.once('exit', code => reject(new Error(`the sandbox ended with ${code}`)))
    })
    child.on('message', message => this.#hear(message as Event & { readonly id?: number }))
  }

  /** `mounts`: source and point, pairs. */
  static async create(address: string, mounts: readonly (readonly [string, string])[]): Promise<Sandbox> {
    const args = [...NAMESPACES, process.execPath, SCRIPT, address, ...mounts.flat()]
    const sandbox = new Sandbox(spawn('unshare', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }))
    await sandbox.up
    return sandbox
  }

  /** Resolves when the process is there. */
  async start(name: string, argv: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
    this.#ends.set(name, new Promise(resolve => this.#exited.set(name, resolve)))
    await this.#order('start', { name, argv, env })
  }

  exited(name: string): Promise<Exit> {
    return this.#ends.get(name) ?? Promise.reject(new Error(`${name} was never started`))
  }

  signal(name: string, signal: NodeJS.Signals): Promise<unknown> {
    return this.#order('signal', { name, signal })
  }

  async exec(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
    return ((await this.#order('exec', { argv, env })) as { readonly code: number }).code
  }

  http(order: HttpOrder): Promise<HttpAnswer> {
    return this.#order('http', order) as Promise<HttpAnswer>
  }

  /** What a container wrote to stdout, where it is JSON. */
  told(name: string): Readonly<Record<string, unknown>>[] {
    return this.#lines
      .filter(one => one.name === name && one.stream === 'stdout' && one.line.startsWith('{'))
      .map(one => JSON.parse(one.line) as Record<string, unknown>)
  }

  complaints(name: string): string[] {
    return this.#lines.filter(one => one.name === name && one.stream === 'stderr').map(one => one.line)
  }

  get report(): string {
    return this.#lines
      .slice(-40)
      .map(one => `${one.name}: ${one.line}`)
      .join('\n')
  }

  async dispose(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.disconnect()
    await ended
  }

  #order(verb: string, order: object): Promise<unknown> {
    const id = ++this.#orders
    return new Promise(resolve => {
      this.#waiting.set(id, resolve)
      this.child.send({ id, verb, ...order })
    })
  }

  #hear(message: Event & { readonly id?: number }): void {
    if (message.id !== undefined) {
      this.#waiting.get(message.id)?.(message)
      this.#waiting.delete(message.id)
    } else if (message.event === 'line') this.#lines.push(message)
    else if (message.event === 'up') this.#isUp()
    else this.#ended(message.name, { code: message.code, signal: message.signal, atMs: nowMs() })
  }

  #ended(name: string, exit: Exit): void {
    this.exits.set(name, exit)
    this.#exited.get(name)?.(exit)
  }
}
