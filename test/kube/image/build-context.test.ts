/** What `.dockerignore` lets into the build is what the stages of the Dockerfile need. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ROOT, read } from '../../docs/samples.js'
import { say } from './bundled.js'

const context = mkdtempSync(join(tmpdir(), 'forbear-context-'))
afterAll(() => rmSync(context, { recursive: true }))

const allowed = read('.dockerignore')
  .split('\n')
  .flatMap(line => (line.startsWith('!') ? [line.slice(1)] : []))

it('the one file is built from what comes into the build alone', () => {
  for (const path of allowed.filter(path => existsSync(join(ROOT, path)) && !path.startsWith('dist/'))) {
    cpSync(join(ROOT, path), join(context, path), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'))
  execFileSync('npm', ['run', 'bundle'], { cwd: context, stdio: 'pipe' })
  expect(say(join(context, 'dist/forbear.mjs'), ['--version'], context).out).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('every file that a stage copies from the context is in it', () => {
  const copies = [...read('deploy/Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)]
  const sources = copies.flatMap(([, paths = '']) => paths.split(' ')).filter(path => path !== '.')
  expect(sources.length).toBeGreaterThan(3)
  expect(sources.filter(path => !allowed.some(one => path === one || path.startsWith(`${one}/`)))).toEqual([])
})

it('the Dockerfile names the version of the package and one line of Node', () => {
  const dockerfile = read('deploy/Dockerfile')
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect(dockerfile).toContain(`ARG VERSION=${version}\n`)
  expect(dockerfile).toMatch(/^ARG NODE_VERSION=\d+\.\d+\.\d+$/m)
})
