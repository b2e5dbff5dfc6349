import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
for more about a code: forbear explain --code FB030
`,
    })
  })

  it('fails for warnings only when it is strict', async () => {
    write('a.yaml', upstream('retry: { retryOn: [404] }'))
    expect(await check(dir)).toMatchObject({ code: 0, text: expect.not.stringContaining('--strict') })
    expect(await check('--strict', dir)).toMatchObject({
      code: 1,
      text: expect.stringContaining('\n1 file, 1 upstream, 0 errors, 1 warning; warnings fail (--strict)\n'),
    })
  })

  it('shows people the first hundred messages, and tools all of them', async () => {
    write('a.yaml', upstream(Array.from({ length: 150 }, (_, n) => `k${n}: 1\n`).join('')))
    const { text } = await check(dir)
    expect(text).toContain('\nand 50 more errors: mend those above first [FB019]\n')
    expect(text).toContain('\n1 file, 1 upstream, 150 errors, 0 warnings\n')
    const json = JSON.parse((await check('--output', 'json', dir)).text)
    expect([json.errors, json.messages.length, json.messages[149].path]).toEqual([150, 150, 'spec.k149'])
    expect(JSON.parse((await check('--output', 'sarif', dir)).text).runs[0].results).toHaveLength(150)
    expect((await check('--output', 'github', dir)).text.match(/^::error /gm)).toHaveLength(150)
  })

  it('writes JSON for tools', async () => {
    write('a.yaml', upstream('retry: { maxAtempts: 3 }'))
    const { code, text } = await check('--output', 'json', dir)
    expect(code).toBe(1)
    expect(JSON.parse(text)).toEqual({
      version: 1,
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

  it('counts what is named twice once, by whatever name', async () => {
    const path = write('x/a.yaml', upstream())
    symlinkSync(path, join(dir, 'link.yaml'))
    symlinkSync(join(dir, 'x'), join(dir, 'y'))
    const once = { code: 0, text: '1 file, 1 upstream, 0 errors, 0 warnings\n' }
    expect(await check(path, `${dir}/x/../x/a.yaml`, join(dir, 'link.yaml'))).toEqual(once)
    expect(await check(join(dir, 'x'), join(dir, 'y'), path)).toEqual(once)
  })

  it('checks a file in a directory of which only the directory is a set, such as one without .yaml', async () => {
    write('x/a.yaml', upstream())
    const other = write('x/b.txt', upstream('', 'search'))
    expect((await check(join(dir, 'x'), other)).text).toBe('2 files, 2 upstreams, 0 errors, 0 warnings\n')
  })

  it('reads a mounted ConfigMap through its ..data, once', async () => {
    write('..2026_01/a.yaml', upstream())
    symlinkSync('..2026_01', join(dir, '..data'))
    symlinkSync('..data/a.yaml', join(dir, 'a.yaml'))
    expect((await check(dir, join(dir, 'a.yaml'))).text).toBe('1 file, 1 upstream, 0 errors, 0 warnings\n')
  })

  it('says so of links that lead round in a circle, given or found', async () => {
    write('a.yaml', upstream())
    symlinkSync('loop.yaml', join(dir, 'loop.yaml'))
    const what = 'its symbolic links lead round in a circle'
    expect(await check(join(dir, 'loop.yaml'))).toEqual({
      code: 2,
      text: `forbear: DIR/loop.yaml cannot be checked: ${what}\n`,
    })
    expect((await check(dir)).text).toContain(`DIR/loop.yaml  cannot be read: ${what} [FB003]\n`)
  })

  it('refuses a path that does not exist as wrong usage', async () => {
    expect(await check(join(dir, 'none'), dir)).toEqual({
      code: 2,
      text: 'forbear: DIR/none cannot be checked: it does not exist\n',
    })
  })

  it('fails for a directory without policies', async () => {
    expect(await check(dir)).toEqual({
      code: 1,
      text: `DIR  no file that ends in .yaml or .yml [FB002]

0 files, 0 upstreams, 1 error, 0 warnings
for more about a code: forbear explain --code FB002
`,
    })
  })
})
