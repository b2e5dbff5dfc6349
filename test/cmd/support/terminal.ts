/** A command in a terminal of its own, made by `script` of util-linux. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { COMMAND } from '../../docs/shell.js'
import { until, within } from '../../e2e/harness/time.js'

export const hasScript = spawnSync('script', ['--version']).status === 0

const PROBE = new URL('crash-probe.mjs', import.meta.url).href
const HOME = '\u001b[H'

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export class Terminal {
  output = ''
  readonly #child: ChildProcess
  readonly #dir: string
  readonly #ended: Promise<void>

  constructor(args: readonly string[], { columns, rows }: TerminalSize, env: NodeJS.ProcessEnv = {}) {
    this.#dir = mkdtempSync(join(tmpdir(), 'forbear-terminal-'))
    const command = [process.execPath, '--import', PROBE, COMMAND, ...args].map(word => `'${word}'`).join(' ')
    const steps = [
      `stty cols ${columns} rows ${rows}; tty > '${this.#file('tty')}'`,
      `stty -g > '${this.#file('before')}'`,
      `${command}; echo "ended with $?"`,
      `stty -g > '${this.#file('after')}'`,
    ]
    const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env
    this.#child = spawn('script', ['-qec', steps.join('\n'), '/dev/null'], {
      env: { ...inherited, TERM: 'xterm', SHELL: '/bin/sh', PID_FILE: this.#file('pid'), ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    this.#ended = new Promise(resolve => this.#child.once('close', () => resolve()))
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys)
  }

  resize({ columns, rows }: TerminalSize): void {
    const tty = readFileSync(this.#file('tty'), 'utf8').trim()
    spawnSync('stty', ['-F', tty, 'cols', String(columns), 'rows', String(rows)])
  }

  /** To the command, not to its terminal. */
  signal(name: NodeJS.Signals): void {
    process.kill(Number(readFileSync(this.#file('pid'), 'utf8')), name)
  }

  /** The lines last drawn, without colours. */
  lines(): string[] {
    const frame = this.output.slice(this.output.lastIndexOf(HOME) + HOME.length)
    // The terminal adds a carriage return to that of the command.
    return stripVTControlCharacters(frame).split(/\r+\n/)
  }

  async shows(pattern: RegExp): Promise<string> {
    const found = (): string | undefined => this.lines().find(line => pattern.test(line))
    try {
      return await until(`the screen shows ${pattern}`, found)
    } catch (error) {
      throw new Error(`${(error as Error).message}; it shows\n${this.lines().join('\n')}`)
    }
  }

  /** What was written after the screen was left, and whether the terminal is as it was. */
  async end(): Promise<{ readonly rest: string; readonly isRestored: boolean }> {
    await within('the command ends', this.#ended, 10_000)
    const [before, after] = ['before', 'after'].map(name => readFileSync(this.#file(name), 'utf8'))
    const left = this.output.lastIndexOf('\u001b[?25h\u001b[?1049l')
    return { rest: left === -1 ? '' : this.output.slice(left), isRestored: left !== -1 && before === after }
  }

  dispose(): void {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL')
    if (existsSync(this.#dir)) rmSync(this.#dir, { recursive: true })
  }

  #file(name: string): string {
    return join(this.#dir, name)
  }
}
