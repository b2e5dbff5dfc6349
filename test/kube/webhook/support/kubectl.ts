/** kubectl, where there is one: among the tools that were fetched for tests, or on the path. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PatchOperation } from './api-server.js'

let found: readonly string[] | undefined

/** One, or none, which is said aloud. */
export function kubectls(): readonly string[] {
  if (found === undefined) {
    found = [...fetched(), 'kubectl'].filter(works).slice(0, 1)
    if (found.length === 0) console.warn('no kubectl on the path or in FORBEAR_TOOLS: its tests are skipped')
  }
  return found
}

/** Where tools for tests are kept, a folder for each version. */
function fetched(): string[] {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const root = process.env['FORBEAR_TOOLS'] ?? join(cache, 'forbear-tools')
  if (!existsSync(root)) return []
  return readdirSync(root).map(folder => join(root, folder, 'kubectl'))
}

function works(program: string): boolean {
  try {
    execFileSync(program, ['version', '--client'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function kubectl(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const options = { env: { ...process.env, ...env }, timeout: 20_000 }
  try {
    const { stdout, stderr } = await promisify(execFile)(kubectls()[0] ?? 'kubectl', [...args], options)
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code = 1, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string }
    return { code, stdout, stderr }
  }
}

/** By `kubectl patch --local`, which asks no cluster. */
export async function patchedByKubectl(object: unknown, patch: readonly PatchOperation[]): Promise<unknown> {
  const dir = mkdtempSync(join(tmpdir(), 'forbear-kubectl-'))
  try {
    const file = join(dir, 'object.json')
    writeFileSync(file, JSON.stringify(object))
    const ran = await kubectl([
      'patch',
      '--local',
      '-f',
      file,
      '--type=json',
      '-p',
      JSON.stringify(patch),
      '-o',
      'json',
    ])
    if (ran.code !== 0) throw new Error(ran.stderr)
    return JSON.parse(ran.stdout)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
