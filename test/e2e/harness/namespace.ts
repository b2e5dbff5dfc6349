/** Scripts in a network namespace of their own, where they are root and nothing that they do to the network reaches beyond. */
import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const UNSHARE = ['--map-root-user', '--net', '--mount'] as const
const SCRIPT_MS = 40_000

/** Why scripts that need the commands cannot run here, said aloud; `null` = they can. */
export function whyNoNamespace(what: string, commands: readonly string[]): string | null {
  const why = missing(commands)
  if (why !== null) console.warn(`skipped: ${what}: ${why}`)
  return why
}

function missing(commands: readonly string[]): string | null {
  if (!succeeds(['true'])) return 'network namespaces are not allowed here'
  const failed = commands.find(command => !succeeds(['sh', '-ec', command]))
  return failed === undefined ? null : `\`${failed}\` fails in a network namespace`
}

function succeeds(command: readonly string[]): boolean {
  try {
    execFileSync('unshare', [...UNSHARE, ...command], { stdio: 'ignore', timeout: 10_000 })
    return true
  } catch {
    return false
  }
}

/** Runs a script of `namespace/`, which needs the built command, and gives what it tells. */
export async function inNamespace(script: string): Promise<unknown> {
  const path = fileURLToPath(new URL(`../namespace/${script}`, import.meta.url))
  const { stdout } = await promisify(execFile)('unshare', [...UNSHARE, process.execPath, path], { timeout: SCRIPT_MS })
  return JSON.parse(stdout)
}
