import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const BUNDLE = fileURLToPath(new URL('../../../deploy/image/bundle.mjs', import.meta.url))
/** Nothing of the terminal or the settings of whoever runs the tests. */
const ENV = { PATH: process.env['PATH'] ?? '' }

/** The one-file build, alone in a directory where no node_modules can be found. */
export class Bundled {
  readonly dir = mkdtempSync(join(tmpdir(), 'forbear-bundle-'))
  readonly command = join(this.dir, 'forbear.mjs')

  build(): void {
    execFileSync(process.execPath, [BUNDLE, this.command])
  }

  get files(): string[] {
    return readdirSync(this.dir).sort()
  }

  dispose(): void {
    rmSync(this.dir, { recursive: true })
  }
}

export interface Said {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export function say(command: string, args: readonly string[], cwd: string, input = ''): Said {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd,
    env: ENV,
    input,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  })
  return { code: status, out: stdout, err: stderr }
}
