import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { deployment, inject, job } from '../kube/inject/run.js'

const stream = `# both\n${deployment('initContainers: []\n')}---\n${job('volumes:\n')}---\nkind: Service\napiVersion: v1\n`

it.each([
  ['native', []],
  ['classic', ['--native=false', '--quit-endpoint']],
  ['with proxy variables', ['--http-proxy', '--upstreams', 'a=9101']],
])('F118: injecting for the second and third time changes nothing: %s', async (_, words) => {
  const once = (await inject(stream, ...words)).stdout
  const twice = await inject(once, ...words)
  expect(twice.stdout).toBe(once)
  expect(twice.stderr).toContain('Deployment ops/shop unchanged')
  expect((await inject(twice.stdout, ...words)).stdout).toBe(once)
  expect(once.match(/\bname"?: "?forbear"?(?:,|$)/gm)).toHaveLength(2)
})

it('F118: three of them in a pipe are one, and what was written in between stays', async () => {
  const forbear = (verb: string, input: string) =>
    execFileSync(process.execPath, ['dist/cmd/forbear.js', verb, '-'], { input, encoding: 'utf8', stdio: 'pipe' })
  const once = forbear('inject', stream)
  const edited = once.replace('name: forbear\n', 'name: forbear # ours\n')
  expect(edited).not.toBe(once)
  expect(forbear('inject', forbear('inject', edited))).toBe(edited)
  expect(forbear('uninject', edited)).toBe(stream)
})

it('F118: other options replace what an earlier injection added', async () => {
  const old = (await inject(stream, '--image', 'forbear:1', '--upstreams', 'a,b')).stdout
  expect((await inject(old, '--image', 'forbear:2')).stdout).toBe((await inject(stream, '--image', 'forbear:2')).stdout)
})
