/** Containers of the image, by Debian's buildah, podman and runc; where those are not, why. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Of the host's mounts of control groups only runc can make do with all; the default limits need a capability. */
const PODMAN = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs'] as const
const RUN = ['--pull', 'never', '--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=4096:4096'] as const
/** What `inject` asks of a cluster. */
const RESTRICTED = [
  ...['--read-only', '--read-only-tmpfs=false', '--cap-drop', 'ALL'],
  ...['--security-opt', 'no-new-privileges', '--user', '65532:65532'],
] as const

/** Images and containers of a test are its own, and gone with it. */
const STORE = join(tmpdir(), `fb-store-${process.pid}`)
const OWN_STORE = ['--root', join(STORE, 'root'), '--runroot', join(STORE, 'run')] as const

/** Said aloud; `null` = the image can be built and run. */
export function whyNoContainers(): string | null {
  const why = missing()
  if (why !== null) console.warn(`skipped: the image is not built and run: ${why}`)
  return why
}

function missing(): string | null {
  for (const tool of ['buildah', 'podman', 'runc', 'strip']) {
    if (spawnSync(tool, ['--version']).error !== undefined) return `no ${tool} here`
  }
  const info = spawnSync('podman', [...OWN_STORE, ...PODMAN, 'info'], { encoding: 'utf8', timeout: 60_000 })
  if (info.status !== 0) return `podman info: ${lastLine(info)}`
  const staged = spawnSync('sh', ['deploy/image/stage.sh'], { cwd: ROOT, encoding: 'utf8', timeout: 100_000 })
  return staged.status === 0 ? null : `deploy/image/stage.sh: ${lastLine(staged)}`
}

export class Image {
  readonly tag = 'localhost/forbear:test'
  readonly #containers: string[] = []

  /** From the files that were staged; throws what buildah said. */
  build(): void {
    const args = ['bud', '--isolation', 'chroot', '--build-arg', 'ROOTFS=staged', '-f', 'deploy/Dockerfile']
    must(
      spawnSync('buildah', [...OWN_STORE, ...args, '-t', this.tag, '.'], {
        cwd: ROOT,
        encoding: 'utf8',
        timeout: 100_000,
      }),
    )
  }

  inspect(): ImageFacts {
    return (JSON.parse(podman('image', 'inspect', this.tag)) as [ImageFacts])[0]
  }

  /** Every path in the image with its mode and owner, as `tar -tv` writes them; none of what a runtime mounts. */
  files(): string[] {
    const name = this.#name()
    podman('create', '--name', name, ...RUN, this.tag)
    const list = spawnSync('sh', ['-c', `podman ${OWN_STORE.join(' ')} export ${name} | tar --numeric-owner -tv`], {
      encoding: 'utf8',
    })
    return must(list).trim().split('\n')
  }

  /** Runs to its end as a cluster would; code, stdout and stderr. */
  run(args: readonly string[], more: readonly string[] = [], input = ''): SpawnSyncReturns<string> {
    const all = [
      ...OWN_STORE,
      ...PODMAN,
      'run',
      '--rm',
      '-i',
      '--network',
      'none',
      ...RUN,
      ...RESTRICTED,
      ...more,
      this.tag,
      ...args,
    ]
    return spawnSync('podman', all, { encoding: 'utf8', input, timeout: 60_000 })
  }

  /** What a script says that node runs in the place of the command. */
  evaluate(script: string): string {
    return must(this.run(['-e', script], ['--entrypoint', '/usr/local/bin/node'])).trim()
  }

  start(args: readonly string[], more: readonly string[] = []): Container {
    const name = this.#name()
    podman('run', '-d', '--name', name, ...RUN, ...RESTRICTED, ...more, this.tag, ...args)
    return new Container(name)
  }

  dispose(): void {
    // The last first: it may be in the network of one before.
    for (const name of this.#containers.reverse()) podman('rm', '-f', '-t', '0', '-i', name)
    // podman mounts the store on itself and leaves that.
    for (const point of mountsBelow(STORE)) spawnSync('umount', [point])
    rmSync(STORE, { recursive: true, force: true })
  }

  #name(): string {
    const name = `forbear-test-${process.pid}-${this.#containers.length}`
    this.#containers.push(name)
    return name
  }
}

export interface ImageFacts {
  readonly Size: number
  readonly Labels: Readonly<Record<string, string>>
  readonly Config: {
    readonly User: string
    readonly Entrypoint: readonly string[]
    readonly StopSignal?: string
    readonly Env?: readonly string[]
  }
  readonly Healthcheck?: unknown
}

export class Container {
  constructor(readonly name: string) {}

  /** Everything that it wrote to stdout and stderr so far. */
  get output(): string {
    const { stdout, stderr } = spawnSync('podman', [...OWN_STORE, 'logs', this.name], { encoding: 'utf8' })
    return stdout + stderr
  }

  get state(): { readonly Pid: number; readonly ExitCode: number; readonly Running: boolean } {
    return JSON.parse(podman('inspect', '-f', '{{json .State}}', this.name))
  }

  signal(name: string): void {
    podman('kill', '-s', name, this.name)
  }

  /** SIGTERM, and SIGKILL after a time; the exit code. */
  stop(seconds: number): number {
    podman('stop', '-t', String(seconds), this.name)
    return this.state.ExitCode
  }
}

function mountsBelow(path: string): string[] {
  const points = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
  return points.filter(point => point.startsWith(path)).reverse()
}

function podman(...args: string[]): string {
  return must(spawnSync('podman', [...OWN_STORE, ...PODMAN, ...args], { encoding: 'utf8', timeout: 60_000 }))
}

function must(done: SpawnSyncReturns<string>): string {
  if (done.status !== 0) throw new Error(`${lastLine(done)}\n${done.stdout}`)
  return done.stdout
}

function lastLine({ stderr, error }: SpawnSyncReturns<string>): string {
  return stderr?.trim().split('\n').slice(-3).join('\n') || String(error)
}
