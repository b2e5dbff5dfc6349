import { afterEach, describe, expect } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { test as base } from '../e2e/harness/stage.js'
import { until } from '../e2e/harness/time.js'
import { type SickSidecar, sickSidecar } from './support/sick-sidecar.js'
import { hasScript, Terminal, type TerminalSize } from './support/terminal.js'

const missing = hasScript ? '' : ', with script of util-linux: not found'
const test = hasScript ? base : base.skip
const WIDE: TerminalSize = { columns: 130, rows: 30 }
const open: Terminal[] = []
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.dispose()
})

function top({ admin }: SickSidecar, size: TerminalSize = WIDE, env: NodeJS.ProcessEnv = {}): Terminal {
  const terminal = new Terminal(['top', '--admin', admin, '--interval', '300ms'], size, env)
  open.push(terminal)
  return terminal
}

const sick = onOneStage(sickSidecar)

async function started(size?: TerminalSize): Promise<Terminal> {
  const terminal = top(sick, size)
  await terminal.shows(/^[> ]ledger +closed +[1-9]/)
  return terminal
}

describe(`forbear top in a terminal${missing}`, () => {
  test('draws on a screen of its own, and gives the terminal back on q', async () => {
    const terminal = await started()
    expect(terminal.output).toContain('\u001b[?1049h')
    await terminal.shows(/stock: breaker (open|half-open)/)
    terminal.type('q')
    expect(await terminal.end()).toEqual({ rest: expect.stringContaining('ended with 0'), isRestored: true })
  })

  test.for([
    ['Ctrl-C', (terminal: Terminal) => terminal.type('\u0003'), 'ended with 0'],
    ['SIGTERM', (terminal: Terminal) => terminal.signal('SIGTERM'), 'ended with 0'],
    ['SIGHUP', (terminal: Terminal) => terminal.signal('SIGHUP'), 'ended with 0'],
    ['a crash', (terminal: Terminal) => terminal.signal('SIGUSR2'), 'a crash for the test'],
  ] as const)('gives the terminal back on %s', async ([, end, words]) => {
    const terminal = await started()
    end(terminal)
    expect(await terminal.end()).toEqual({ rest: expect.stringContaining(words), isRestored: true })
  })

  test('comes back from Ctrl-Z where no shell could bring it back', async () => {
    const terminal = await started()
    terminal.type('\u001a')
    await until('it is on its screen again', () => terminal.output.split('\u001b[?1049h').length === 3)
    terminal.type('j')
    await terminal.shows(/^>payments/)
    terminal.type('q')
    expect(await terminal.end()).toEqual({ rest: expect.stringContaining('ended with 0'), isRestored: true })
  })

  test('selects, sorts, filters and opens an upstream by keys', async () => {
    const terminal = await started()
    await terminal.shows(/^>ledger/)
    terminal.type('j')
    await terminal.shows(/^>payments/)
    terminal.type('\u001b[B')
    await terminal.shows(/^>stock/)
    terminal.type('k')
    await terminal.shows(/^>payments/)
    terminal.type('\r')
    await terminal.shows(/^ {3}orders /)
    terminal.type('   ')
    await terminal.shows(/^ *maxAttempts: 5/)
    terminal.type('\u001b')
    await terminal.shows(/^>payments/)
    terminal.type('s')
    await terminal.shows(/sorted by trouble/)
    await until('the one that is well is last', () =>
      terminal
        .lines()
        .findLast(line => /^[> ][a-z]/.test(line))
        ?.startsWith(' ledger'),
    )
    terminal.type('/led\r')
    await terminal.shows(/filter: led/)
    expect(terminal.lines().filter(line => /^[> ][a-z]/.test(line))).toHaveLength(1)
  })

  test('stands still while paused', async () => {
    const terminal = await started()
    terminal.type('p')
    const paused = await terminal.shows(/paused/)
    const looks = terminal.output.length
    terminal.type('j')
    await until('the key is seen', () => terminal.output.length > looks)
    expect(terminal.lines()[0]).toBe(paused)
    terminal.type('p')
    await until('it looks again', () => terminal.lines()[0] !== paused && !terminal.lines()[0]?.includes('paused'))
  })

  test('fits each width, also after a resize', async () => {
    const terminal = await started({ columns: 80, rows: 24 })
    expect(terminal.lines().filter(line => line.length > 80)).toEqual([])
    expect(terminal.lines()).toHaveLength(24)
    terminal.resize({ columns: 40, rows: 12 })
    await until('it is drawn anew', () => terminal.lines().length === 12 && terminal.lines()[11]?.startsWith('q quit'))
    expect(terminal.lines().filter(line => line.length > 40)).toEqual([])
    expect(terminal.lines().join('\n')).toMatch(/UPSTREAM +BREAKER +RPS +OK$/m)
  })

  test('uses no colour under NO_COLOR, and some without it', async () => {
    const [plain, coloured] = [top(sick, WIDE, { NO_COLOR: '1' }), top(sick)]
    for (const terminal of [plain, coloured]) await terminal.shows(/stock +open/)
    expect(plain.output).not.toContain('\u001b[1;31m')
    expect(coloured.output).toContain('\u001b[1;31m')
  })

  test('says that the sidecar has gone, and keeps the last figures', async ({ stage }) => {
    const own = await sickSidecar(stage)
    const terminal = top(own)
    await terminal.shows(/^[> ]ledger +closed +[1-9]/)
    await own.sidecar.kill()
    await terminal.shows(/no sidecar answers on .*; trying again/)
    expect(terminal.lines().join('\n')).toMatch(/ledger +closed/)
  })
})
