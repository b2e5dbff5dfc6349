import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { registerCheck } from '../../cmd/check.js'
import { policy, upstream } from '../policy/set.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'forbear-check-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  vi.restoreAllMocks()
  process.exitCode = undefined
})

const write = (name: string, text: string) => {
  const path = join(dir, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}

async function check(...args: string[]) {
  const out: string[] = []
  const collect = (text: string | Uint8Array) => out.push(String(text)) > 0
  vi.spyOn(process.stdout, 'write').mockImplementation(collect)
  vi.spyOn(process.stderr, 'write').mockImplementation(collect)
  const program = new Command().exitOverride()
  registerCheck(program)
  await program.parseAsync(['check', ...args], { from: 'user' })
  vi.restoreAllMocks()
  return { code: process.exitCode, text: out.join('').replaceAll(dir, 'DIR') }
}

describe('forbear check', () => {
  it('counts what it found to be right', async () => {
    write('a.yaml', upstream('policyRef: careful'))
    write('b.yaml', policy('propagate: true'))
    expect(await check(dir)).toEqual({ code: 0, text: '2 files, 1 upstream, 0 errors, 0 warnings\n' })
  })

  it('shows each mistake with its line and a caret, and fails', async () => {
    write('a.yaml', upstream('retry: { maxAtempts: 3 }'))
    expect(await check(dir)).toEqual({
      code: 1,
      text: `DIR/a.yaml:6:12  spec.retry.maxAtempts  unknown key "maxAtempts"; did you mean maxAttempts? [FB030]
    6 |   retry: { maxAtempts: 3 }
      |            ^^^^^^^^^^

1 file, 1 upstream, 1 error, 0 warnings
`,
    })
  })

  it('fails for warnings only when it is strict', async () => {
    write('a.yaml', upstream('retry: { retryOn: [404] }'))
    expect((await check(dir)).code).toBe(0)
    expect((await check('--strict', dir)).code).toBe(1)
  })

  it('writes JSON for tools', async () => {
    write('a.yaml', upstream('retry: { maxAtempts: 3 }'))
    const { code, text } = await check('--output', 'json', dir)
    expect(code).toBe(1)
    expect(JSON.parse(text)).toEqual({
      files: 1,
      upstreams: 1,
      errors: 1,
      warnings: 0,
      messages: [
        {
          code: 'FB030',
          severity: 'error',
          file: 'DIR/a.yaml',
          line: 6,
          col: 12,
          length: 10,
          path: 'spec.retry.maxAtempts',
          text: 'unknown key "maxAtempts"',
          suggestion: 'maxAttempts',
        },
      ],
    })
  })

  it('takes each directory for a set of its own, and single files for one set', async () => {
    const paths = [write('x/a.yaml', upstream()), write('y/a.yaml', upstream())]
    expect((await check(join(dir, 'x'), join(dir, 'y'))).text).toBe('2 files, 2 upstreams, 0 errors, 0 warnings\n')
    expect((await check(...paths)).text).toContain(
      'DIR/y/a.yaml:3:19  metadata.name  the Upstream "payments" is also at DIR/x/a.yaml:3',
    )
  })

  it('refuses a path that does not exist as wrong usage', async () => {
    expect(await check(join(dir, 'none'), dir)).toEqual({ code: 2, text: 'forbear: DIR/none does not exist\n' })
  })

  it('fails for a directory without policies', async () => {
    expect(await check(dir)).toEqual({
      code: 1,
      text: 'DIR  no file that ends in .yaml or .yml [FB002]\n\n0 files, 0 upstreams, 1 error, 0 warnings\n',
    })
  })
})
