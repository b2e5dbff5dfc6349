import { Command } from 'commander'
import { afterEach, expect, it, vi } from 'vitest'
import { EXIT } from '../../cmd/exit-codes.js'
import { registerExplain } from '../../cmd/explain.js'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

async function explain(...args: readonly string[]) {
  let out = ''
  let err = ''
  vi.spyOn(process.stdout, 'write').mockImplementation(text => ((out += text), true))
  vi.spyOn(process.stderr, 'write').mockImplementation(text => ((err += text), true))
  const program = new Command().exitOverride()
  registerExplain(program)
  for (const command of program.commands) command.exitOverride()
  await program.parseAsync(['explain', ...args], { from: 'user' })
  return { code: process.exitCode, out, err }
}

it('explain --code tells what a code means, without policies and a call', async () => {
  const { code, out, err } = await explain('--code', 'FB036')
  expect([code, err]).toEqual([EXIT.ok, ''])
  expect(out).toMatch(/^FB036: out of range \(error\)\n\n/)
})

it('explain --code with an unknown code is wrong usage and names the nearest', async () => {
  expect(await explain('--code', 'FX036')).toEqual({
    code: EXIT.usage,
    out: '',
    err: 'forbear: there is no code "FX036"; did you mean FB036?\n',
  })
})

it('explain with neither a code nor a call says what is needed', async () => {
  await expect(explain('GET')).rejects.toThrow(/a method, a URL and --policies <dir> are needed, or .*--code <code>/)
})
