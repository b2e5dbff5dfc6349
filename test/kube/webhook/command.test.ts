/** The flags of `forbear webhook`. */
import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function webhook(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const options = { env: { ...process.env, ...env } }
  return new Promise(resolve => {
    execFile(process.execPath, ['dist/cmd/forbear.js', 'webhook', ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

it.each([
  [['--image', 'x'], /required option '--certs <dir>'/],
  [['--certs', 'x'], /required option '--image <name>'/],
  [['--certs', 'x', '--image', 'x', '--native', 'maybe'], /Allowed choices are auto, true, false/],
  [['--certs', 'x', '--image', 'x', '--kube-version', 'new'], /a version such as 1\.29/],
  [['--certs', 'x', '--image', 'x', '--drain-period', 'long'], /a duration such as 25s/],
  [['--cert', 'x'], /Did you mean --certs/],
])('%j is a mistake of usage', async (args, text) => {
  const { code, stdout, stderr } = await webhook(args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(text)
})

it('flags can come from the environment', async () => {
  const { code, stderr } = await webhook(['--listen', 'nowhere'], {
    FORBEAR_CERTS: '.',
    FORBEAR_IMAGE: 'x',
    FORBEAR_HEALTH: '127.0.0.1:0',
  })
  expect(code).toBe(78)
  expect(stderr).toMatch(/^forbear: "nowhere" is not an address to listen on/)
})

it('its help shows an example', async () => {
  const { code, stdout } = await webhook(['--help'])
  expect(code).toBe(0)
  expect(stdout).toContain('$ forbear webhook --certs ./certs --image registry.example.com/forbear:1')
})
