import { createServer, type Server } from 'node:net'
import { Command } from 'commander'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { registerRun } from '../../cmd/run.js'
import { explainStartError } from '../../cmd/start-errors.js'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

const FREE = '127.0.0.1:0'
const QUIET = ['--listen', FREE, '--admin', FREE, '--health', FREE, '--log-level', 'error']

async function run(...args: string[]) {
  const errors: string[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation(text => errors.push(String(text)) > 0)
  const program = new Command().exitOverride()
  registerRun(program)
  for (const command of program.commands) command.exitOverride()
  await program.parseAsync(['run', '--policies', 'policies', ...QUIET, ...args], { from: 'user' })
  return { code: process.exitCode, text: errors.join('') }
}

async function taken(): Promise<{ server: Server; address: string }> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { server, address: `127.0.0.1:${(server.address() as { port: number }).port}` }
}

describe('forbear run with an address that cannot be used', () => {
  it.each(['listen', 'admin', 'health'])('says in one line what is wrong with --%s and exits 78', async name => {
    const { server, address } = await taken()
    const { code, text } = await run(`--${name}`, address)
    server.close()
    expect(code).toBe(78)
    expect(text).toMatch(/^forbear: cannot listen on 127\.0\.0\.1:\d+: another process has this port.*\n$/)
  })

  it('says how to write one', async () => {
    expect(await run('--listen', 'example.com:80')).toEqual({
      code: 78,
      text: expect.stringMatching(/^forbear: "example\.com".*write HOST:PORT/),
    })
  })
})

describe('forbear run with a duration that is none', () => {
  it('says so', async () => {
    await expect(run('--drain-period', 'soon')).rejects.toThrow('write a duration such as 25s')
  })
})

describe('an error that is not the user’s to mend', () => {
  it('is thrown on', async () => {
    await expect(explainStartError(new TypeError('a bug'))).rejects.toThrow('a bug')
  })
})
