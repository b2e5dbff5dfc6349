/** The sidecar as its users run it: a process started by its command, seen through its ports and its output. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Answer, type CallOptions, call } from './client.js'
import { Metrics } from './metrics.js'
import { freePort } from './ports.js'
import { nowMs, until, within } from './time.js'

const CLI = fileURLToPath(new URL('../../../dist/cmd/forbear.js', import.meta.url))

const PROBE = new URL('probe.mjs', import.meta.url).href

/** How the process is started, where a test wants more than the command. */
export interface Launch {
  /** Makes `probe()` work. */
  readonly probed?: boolean
  /** Another file than the built command. */
  readonly cli?: string
  /** In front of node: a program that runs the rest of its arguments, e.g. in a namespace. */
  readonly through?: readonly string[]
  /** Beside what the test run itself has. */
  readonly env?: Readonly<Record<string, string>>
}

/** What the process holds on to, after a garbage collection. */
export interface Probe {
  /** What keeps the event loop alive, by kind. */
  readonly handles: Record<string, number>
  readonly heapBytes: number
  readonly externalBytes: number
}

/** Objects in the heap. A timer that has rung counts while somebody holds it. */
export interface ObjectCount {
  readonly timers: number
  readonly sockets: number
}

/** One JSON line of the log. */
export type LogLine = Readonly<Record<string, unknown>>

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly atMs: number
}

/** `/status`, as far as the tests read it. */
export interface Status {
  readonly generation: number
  readonly hash: string
  readonly loadedAt: string
  readonly retries: 'on' | 'off'
  readonly lastReloadError: { readonly messages: readonly string[] } | null
  readonly upstreams: Readonly<Record<string, UpstreamStatus>>
}

export interface UpstreamStatus {
  readonly name: string
  readonly breaker: { readonly state: string; readonly failuresInARow: number }
  readonly budget: { readonly balance: number }
  readonly gate: { readonly closed: boolean }
  readonly inFlight: number
  readonly waiting: number
}

export class Sidecar {
  readonly logs: LogLine[] = []
  /** Everything on stdout and stderr, for messages that are not JSON. */
  output = ''
  /** stderr alone: a healthy process says nothing there. */
  stderr = ''
  readonly exited: Promise<Exit>
  exit: Exit | null = null

  private constructor(
    readonly child: ChildProcess,
    readonly port: number,
    readonly adminPort: number,
    readonly healthPort: number,
  ) {
    this.exited = new Promise(resolve => {
      child.once('close', (code, signal) => {
        this.exit = { code, signal, atMs: nowMs() }
        resolve(this.exit)
      })
    })
    this.#collect()
  }

  /** Starts the command and does not wait for anything. */
  static async spawn(policies: string, args: readonly string[] = [], launch: Launch = {}): Promise<Sidecar> {
    const cli = launch.cli ?? CLI
    if (!existsSync(cli)) throw new Error(`${cli} is missing: run \`npm run build\` first`)
    const [port, admin, health] = [await freePort(), await freePort(), await freePort()]
    const listeners = [
      '--listen',
      `127.0.0.1:${port}`,
      '--admin',
      `127.0.0.1:${admin}`,
      '--health',
      `127.0.0.1:${health}`,
    ]
    const [program = '', ...rest] = [...commandLine(launch), cli, 'run', '--policies', policies, ...listeners, ...args]
    const child = spawn(program, rest, {
      env: { ...cleanEnvironment(), ...launch.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new Sidecar(child, port, admin, health)
  }

  /** Starts the command and waits until `/readyz` says 200. */
  static async start(policies: string, args: readonly string[] = [], launch?: Launch): Promise<Sidecar> {
    const sidecar = await Sidecar.spawn(policies, args, launch)
    await sidecar.ready()
    return sidecar
  }

  async ready(): Promise<void> {
    await until(
      'the sidecar is ready',
      async () => {
        if (this.exit) throw new Error(`the sidecar exited with ${this.exit.code} before it was ready:\n${this.output}`)
        return (await this.health('/readyz')) === 200
      },
      15_000,
    )
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  /** A call on the shared port. */
  call(path: string, options?: CallOptions): Promise<Answer> {
    return call(this.port, path, options)
  }

  admin(path: string, options?: CallOptions): Promise<Answer> {
    return call(this.adminPort, path, options)
  }

  /** Status of a path on the health port; 0 when nobody answers. */
  async health(path: string): Promise<number> {
    return call(this.healthPort, path, { timeoutMs: 2_000 }).then(
      answer => answer.status,
      () => 0,
    )
  }

  async status(): Promise<Status> {
    return JSON.parse((await this.admin('/status')).text) as Status
  }

  async upstreamStatus(name: string): Promise<UpstreamStatus> {
    const found = (await this.status()).upstreams[name]
    if (!found) throw new Error(`/status knows no upstream ${name}`)
    return found
  }

  async metrics(): Promise<Metrics> {
    return new Metrics((await call(this.healthPort, '/metrics')).text)
  }

  /** Access-log lines so far: those that carry an outcome and a status. */
  accessLines(): LogLine[] {
    return this.logs.filter(line => 'outcome' in line && 'status' in line && 'path' in line)
  }

  /** The one access-log line of a path; waits for it. */
  accessLine(path: string): Promise<LogLine> {
    return until(`an access-log line for ${path}`, () => this.accessLines().find(line => line['path'] === path))
  }

  /** pino level 50 and above. */
  errorLines(): LogLine[] {
    return this.logs.filter(line => Number(line['level']) >= 50)
  }

  /** A size of /proc/PID/status in bytes, e.g. `VmHWM`, the highest RSS so far. */
  async memoryBytes(field: 'VmHWM' | 'VmRSS'): Promise<number> {
    const text = await readFile(`/proc/${this.pid}/status`, 'utf8')
    const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]
    if (!kib) throw new Error(`no ${field} in /proc/${this.pid}/status`)
    return Number(kib) * 1_024
  }

  /** Leaves the running process so many descriptors beyond those that it has open. */
  async leaveDescriptors(count: number): Promise<void> {
    const limit = (await this.descriptors()) + count
    await promisify(execFile)('prlimit', ['--pid', String(this.pid), `--nofile=${limit}`])
  }

  /** CPU time so far, of all threads, ms (in steps of 10). */
  async cpuMs(): Promise<number> {
    const stat = await readFile(`/proc/${this.pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  }

  /** Open file descriptors, sockets included. */
  async descriptors(): Promise<number> {
    return (await readdir(`/proc/${this.pid}/fd`)).length
  }

  /** Only of a process that was launched `probed`. */
  probe(): Promise<Probe> {
    return this.#ask('SIGUSR2', 'probe') as Promise<Probe>
  }

  /** As `probe`; takes the process up to seconds. */
  countObjects(): Promise<ObjectCount> {
    return this.#ask('SIGURG', 'count') as Promise<ObjectCount>
  }

  /** Files of the CommonJS modules that are loaded; as `probe`. */
  loadedModules(): Promise<string[]> {
    return this.#ask('SIGWINCH', 'modules') as Promise<string[]>
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }

  exitWithin(ms: number): Promise<Exit> {
    return within('the sidecar exits', this.exited, ms)
  }

  async kill(): Promise<void> {
    if (this.exit) return
    this.child.kill('SIGKILL')
    await this.exited
  }

  async #ask(by: NodeJS.Signals, about: string): Promise<unknown> {
    const before = this.logs.length
    this.child.kill(by)
    const line = await until('the probe answers', () => this.logs.slice(before).find(one => about in one), 15_000)
    return line[about]
  }

  #collect(): void {
    let rest = ''
    const onText = (chunk: Buffer): void => {
      this.output += chunk.toString()
    }
    this.child.stderr?.on('data', (chunk: Buffer) => {
      onText(chunk)
      this.stderr += chunk.toString()
    })
    this.child.stdout?.on('data', (chunk: Buffer) => {
      onText(chunk)
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#keep(line)
    })
  }

  #keep(line: string): void {
    try {
      const value: unknown = JSON.parse(line)
      if (typeof value === 'object' && value !== null) this.logs.push(value as LogLine)
    } catch {
      // Not a log line; it stays in `output`.
    }
  }
}

function commandLine({ probed, through = [] }: Launch): string[] {
  const node = probed ? [process.execPath, '--expose-gc', '--import', PROBE] : [process.execPath]
  return [...through, ...node]
}

/** Neither this machine's proxy settings nor its FORBEAR_… and OTEL_… may reach the process under test. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(forbear_|otel_|node_options$|https?_proxy$|no_proxy$|vitest)/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}
