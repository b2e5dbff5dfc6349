import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ROOT } from './samples.js'

export const COMMAND = join(ROOT, 'dist/cmd/forbear.js')

export interface ShellResult {
  readonly code: number | null
  readonly output: string
}

/** Runs a sample in the root of the repository; `forbear` in it is the built command. */
export function runShell(text: string, directory: string): ShellResult {
  const bin = join(directory, 'bin')
  mkdirSync(bin, { recursive: true })
  const shim = join(bin, 'forbear')
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`)
  chmodSync(shim, 0o755)
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
  const { status, stdout, stderr } = spawnSync('bash', ['-euc', text], { cwd: ROOT, env, encoding: 'utf8' })
  return { code: status, output: stdout + stderr }
}

export function forbear(...args: string[]): ShellResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { cwd: ROOT, encoding: 'utf8' })
  return { code: status, output: stdout + stderr }
}

export async function portsAreFree(...ports: number[]): Promise<boolean> {
  const free = await Promise.all(ports.map(isFree))
  return !free.includes(false)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const free = new Promise<boolean>(resolve => {
    server.once('error', () => resolve(false))
    server.once('listening', () => resolve(true))
  })
  server.listen(port, '127.0.0.1')
  const result = await free
  if (result) await new Promise(resolve => server.close(resolve))
  return result
}

/** Starts the demo; rejects with its output when it ends before it has shown its guide. */
export async function startDemo(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [COMMAND, 'demo'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', chunk => {
        output += chunk
        if (output.includes('Ctrl-C ends the demo')) resolve()
      })
    }
    child.once('exit', code => reject(new Error(`the demo ended with ${code}:\n${output}`)))
  })
  return child
}

export async function stopDemo(child: ChildProcess): Promise<number | null> {
  const exited = once(child, 'exit')
  child.kill('SIGINT')
  const [code] = await exited
  return code as number | null
}
