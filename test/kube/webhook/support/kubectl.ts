/** kubectl, where there is one: among the tools that were fetched for tests, or on the path. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { kubectls as allKubectls, HOW_TO_GET } from '../../support/tools.js'
import type { PatchOperation } from './api-server.js'

/** The newest, or none, which is said aloud. */
export function kubectls(): readonly string[] {
  found ??= newest()
  return found
}

let found: readonly string[] | undefined

function newest(): readonly string[] {
  const paths = allKubectls().map(({ path }) => path)
  if (paths.length === 0) console.warn(`kubectl is ${HOW_TO_GET}: its tests are skipped`)
  return paths.slice(-1)
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
