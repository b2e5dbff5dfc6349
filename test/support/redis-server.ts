/** A Redis of a test's own, on a free port, that keeps what it is told. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../e2e/harness/ports.js'
import { until } from '../e2e/harness/time.js'

export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0

export class RedisServer {
  #child: ChildProcess | null = null

  private constructor(
    readonly port: number,
    readonly dir: string,
  ) {}

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'forbear-redis-')))
    await server.begin()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async begin(): Promise<void> {
    const settings = ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.dir, '--appendonly', 'yes']
    this.#child = spawn('redis-server', settings, { stdio: 'ignore' })
    await until('Redis answers', () => answers(this.port), 10_000)
  }

  /** As `kill -9`. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    const gone = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  async close(): Promise<void> {
    await this.kill()
    await rm(this.dir, { recursive: true, force: true })
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const end = (yes: boolean): void => {
      socket.destroy()
      resolve(yes)
    }
    socket.on('data', data => end(data.toString().startsWith('+PONG')))
    socket.on('error', () => end(false))
  })
}
