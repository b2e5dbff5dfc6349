import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COMMAND } from '../docs/shell.js'
import { upstream } from '../policy/set.js'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'forbear-check-e2e-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const write = (name: string, text: string) => writeFileSync(join(cwd, name), text)
/** Neither of these says anything about the terminal of whoever runs the tests. */
const { NO_COLOR: _, FORCE_COLOR: __, TERM: ___, ...ENV } = process.env

interface Run {
  readonly input?: string
  readonly env?: NodeJS.ProcessEnv
  readonly uid?: number
}

function check(args: readonly string[], { input = '', env = {}, uid }: Run = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'check', ...args], {
    cwd,
    env: { ...ENV, ...env },
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  return { code: status, out: stdout, err: stderr }
}

function shell(command: string, env: NodeJS.ProcessEnv = {}) {
  const forbear = `"${process.execPath}" "${COMMAND}"`
  const text = command.replaceAll('forbear', forbear)
  return spawnSync('bash', ['-c', text], { cwd, env: { ...ENV, ...env }, encoding: 'utf8' })
}

const MISTAKE = upstream('retry: { maxAtempts: 3 }')
const ESCAPE = '\u001b'

describe('forbear check of standard input', () => {
  it('takes - for it and names it <stdin>', () => {
    const { code, out } = check(['-'], { input: MISTAKE })
    expect(code).toBe(1)
    expect(out).toContain('<stdin>:6:12  spec.retry.maxAtempts  unknown key')
    expect(out).toContain('    6 |   retry: { maxAtempts: 3 }\n      |            ^^^^^^^^^^\n')
  })

  it('puts it into one set with the files beside it', () => {
    write('careful.yaml', 'apiVersion: forbear.dev/v1alpha1\nkind: Policy\nmetadata: { name: careful }\nspec: {}\n')
    expect(check(['-', 'careful.yaml', '-'], { input: upstream('policyRef: careful') })).toEqual({
      code: 0,
      out: '2 files, 1 upstream, 0 errors, 0 warnings\n',
      err: '',
    })
  })

  it('refuses it empty, too large, or not as UTF-8', () => {
    expect(check(['-']).out).toContain('<stdin>  is empty: ')
    expect(check(['-'], { input: '# x\n'.repeat(300_000) }).out).toContain('<stdin>  has 1200000 bytes; ')
    expect(shell("printf '\\xff' | forbear check -").stdout).toContain('<stdin>  is not UTF-8 text [FB003]')
  })
})

describe('forbear check of files', () => {
  it('refuses a file that is not there as wrong usage, without a word about the others', () => {
    write('a.yaml', MISTAKE)
    expect(check(['a.yaml', 'none.yaml', 'nor/this.yaml'])).toEqual({
      code: 2,
      out: '',
      err: 'forbear: none.yaml cannot be checked: it does not exist\nforbear: nor/this.yaml cannot be checked: it does not exist\n',
    })
  })

  it('says which file may not be read, and checks the others', context => {
    const uid = process.getuid?.() === 0 ? 65534 : undefined
    write('a.yaml', upstream())
    write('b.yaml', upstream('', 'search'))
    chmodSync(cwd, 0o755)
    chmodSync(join(cwd, 'b.yaml'), 0)
    const { code, out, err } = check(['.'], uid === undefined ? {} : { uid })
    if (uid !== undefined && /EACCES|MODULE_NOT_FOUND/.test(err))
      context.skip('the build cannot be read by another user')
    expect([code, out]).toEqual([
      1,
      'b.yaml  cannot be read: permission denied [FB003]\n\n1 file, 1 upstream, 1 error, 0 warnings\nfor more about a code: forbear explain --code FB003\n',
    ])
  })

  it('takes a thousand files, in order', () => {
    for (let n = 0; n < 1000; n++) write(`u${n}.yaml`, upstream('retry: { maxAtempts: 3 }', `u${n}`))
    const { code, out } = check(['--output', 'json', '.'])
    const { files, upstreams, errors, messages } = JSON.parse(out)
    expect([code, files, upstreams, errors]).toEqual([1, 1000, 1000, 1000])
    const names = messages.map(({ file }: { file: string }) => file).filter((file: string) => file !== '')
    expect(names.length).toBeGreaterThan(99)
    expect(names).toEqual([...names].sort())
  })

  it('ends quietly when nobody reads on', () => {
    // Each set has its own messages; in all they are more than a pipe holds.
    for (let n = 0; n < 20; n++) {
      mkdirSync(join(cwd, `d${n}`))
      const keys = Array.from({ length: 80 }, (_, key) => `x${key}: 1`).join('\n')
      write(`d${n}/a.yaml`, upstream(keys))
    }
    expect(check(readdirSync(cwd)).out.length).toBeGreaterThan(100_000)
    expect(shell('set -o pipefail; forbear check d* | head -n 1')).toMatchObject({
      stderr: '',
      stdout: expect.stringMatching(/^d0\/a\.yaml:6:3 .*\n$/),
    })
  })
})

describe('forbear check writes', () => {
  it('no colour into a pipe, but where it is forced to', () => {
    write('a.yaml', MISTAKE)
    expect(check(['.']).out).not.toContain(ESCAPE)
    expect(check(['.'], { env: { FORCE_COLOR: '1' } }).out).toContain(`${ESCAPE}[31m`)
    expect(check(['.'], { env: { FORCE_COLOR: '0' } }).out).not.toContain(ESCAPE)
  })

  it('reports for tools without colour and hints', () => {
    write('a.yaml', MISTAKE)
    const env = { FORCE_COLOR: '1' }
    const sarif = JSON.parse(check(['--output', 'sarif', '.'], { env }).out)
    expect(sarif.runs[0].tool.driver.version).toMatch(/^\d+\.\d+\.\d+/)
    expect(JSON.parse(check(['--output', 'json', '.'], { env }).out).errors).toBe(1)
    expect(check(['--output', 'github', '.'], { env })).toEqual({
      code: 1,
      out: '::error file=a.yaml,line=6,col=12,endColumn=22,title=FB030::spec.retry.maxAtempts: unknown key "maxAtempts"; did you mean maxAttempts?\n1 file, 1 upstream, 1 error, 0 warnings\n',
      err: '',
    })
  })
})

describe('forbear check in a terminal', () => {
  /** What it writes to a pseudo-terminal of that many columns. */
  function terminal(env: NodeJS.ProcessEnv = {}, columns = 80): string {
    const line = `stty cols ${columns} && "${process.execPath}" "${COMMAND}" check .`
    const { stdout, status } = spawnSync('script', ['-qec', line, '/dev/null'], {
      cwd,
      env: { ...ENV, TERM: 'xterm', ...env },
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    return stdout.replaceAll('\r\n', '\n')
  }
  const hasScript = spawnSync('script', ['--version']).status === 0
  const plain = (text: string) => text.replace(/\u001b\[\d+m/g, '')

  it('colours place, message and mark, and nothing else differs from a pipe', context => {
    if (!hasScript) context.skip('script(1) of util-linux is not here')
    write('a.yaml', MISTAKE)
    const shown = terminal()
    expect(shown).toContain(`${ESCAPE}[1ma.yaml:6:12${ESCAPE}[0m  spec.retry.maxAtempts  ${ESCAPE}[31munknown key`)
    expect(shown).toContain(`${ESCAPE}[36m^^^^^^^^^^${ESCAPE}[0m\n`)
    expect(plain(shown)).toBe(check(['.']).out)
  })

  it.for<NodeJS.ProcessEnv>([{ NO_COLOR: '1' }, { NO_COLOR: 'false' }, { TERM: 'dumb' }])(
    'has no colour with %o',
    (env, context) => {
      if (!hasScript) context.skip('script(1) of util-linux is not here')
      write('a.yaml', MISTAKE)
      expect(terminal(env)).toBe(check(['.']).out)
    },
  )

  it('has colour with an empty NO_COLOR, and with FORCE_COLOR whatever NO_COLOR says', context => {
    if (!hasScript) context.skip('script(1) of util-linux is not here')
    write('a.yaml', MISTAKE)
    expect(terminal({ NO_COLOR: '' })).toContain(ESCAPE)
    expect(terminal({ NO_COLOR: '1', FORCE_COLOR: '1' })).toContain(ESCAPE)
  })

  it('cuts a long source line to its width, so that the mark stays under its place', context => {
    if (!hasScript) context.skip('script(1) of util-linux is not here')
    const hosts = Array.from({ length: 20 }, (_, n) => `a${n}, `).join('')
    write('a.yaml', upstream(`match: { hosts: [${hosts}Ä] }`))
    const rows = plain(terminal({}, 60)).split('\n')
    const marks = rows.find(row => row.includes('^')) ?? ''
    const source = rows[rows.indexOf(marks) - 1] ?? ''
    expect(source.length).toBeLessThanOrEqual(60)
    expect(source[marks.indexOf('^')]).toBe('Ä')
  })
})
