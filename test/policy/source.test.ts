import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadPolicies } from '../../src/policy/load.js'
import { formatMessages } from '../../src/policy/messages.js'
import { policySource, readPolicyDirectory, readPolicyFiles } from '../../src/policy/source.js'
import { upstream } from './set.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'forbear-source-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const write = (name: string, text: string | Uint8Array) => writeFileSync(join(dir, name), text)
const problem = (path = dir) => {
  const found = readPolicyDirectory(path).problems
  return found.length === 0 ? null : formatMessages(found).replaceAll(dir, 'DIR')
}

describe('a policy directory', () => {
  it('is its YAML files by name, without dot files and others', () => {
    for (const name of ['b.yml', 'a.yaml', '.c.yaml', 'README.md', 'd.yaml.bak']) write(name, name)
    const { files, problems } = readPolicyDirectory(dir)
    expect(files).toEqual([
      { name: 'a.yaml', text: 'a.yaml' },
      { name: 'b.yml', text: 'b.yml' },
    ])
    expect(problems).toEqual([])
  })

  it('has a hash of all names and texts', () => {
    write('a.yaml', 'x')
    write('b.yaml', 'y')
    const { hash } = readPolicyDirectory(dir)
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(readPolicyDirectory(dir).hash).toBe(hash)
    write('b.yaml', 'z')
    const changed = readPolicyDirectory(dir).hash
    renameSync(join(dir, 'b.yaml'), join(dir, 'c.yaml'))
    expect(new Set([hash, changed, readPolicyDirectory(dir).hash]).size).toBe(3)
  })

  it('that is a mounted ConfigMap is read through ..data, also where its own links lag behind', () => {
    for (const [stamp, text] of [
      ['..1', 'old'],
      ['..2', 'new'],
    ] as const) {
      mkdirSync(join(dir, stamp))
      write(`${stamp}/a.yaml`, text)
    }
    write('..2/b.yaml', 'added')
    symlinkSync('..2', join(dir, '..data'))
    symlinkSync('..1/a.yaml', join(dir, 'a.yaml'))
    expect(readPolicyDirectory(dir)).toMatchObject({
      dir,
      files: [
        { name: 'a.yaml', text: 'new' },
        { name: 'b.yaml', text: 'added' },
      ],
      problems: [],
    })
  })

  it('names its files in messages by the path that was asked for', () => {
    write('a.yaml', upstream('x: 1'))
    const { messages } = loadPolicies(readPolicyDirectory(dir), { mode: 'all', generation: 1 })
    expect(messages[0]?.file).toBe(join(dir, 'a.yaml'))
  })

  it('that cannot be read has a problem', () => {
    expect(problem(join(dir, 'none'))).toBe('DIR/none  the policy directory does not exist [FB001]')
    expect(problem()).toBe('DIR  no file that ends in .yaml or .yml [FB002]')
    symlinkSync('..gone', join(dir, '..data'))
    expect(problem()).toBe('DIR  the link ..data points to nothing: there is no ..gone in the directory [FB001]')
    write('a.yaml', '')
    expect(problem(join(dir, 'a.yaml'))).toBe('DIR/a.yaml  is not a directory [FB001]')
  })

  it.each([
    ['a directory', () => mkdirSync(join(dir, 'a.yaml')), 'is a directory, not a file [FB003]'],
    ['a dead link', () => symlinkSync('nowhere', join(dir, 'a.yaml')), 'cannot be read: it does not exist [FB003]'],
    ['a device', () => symlinkSync('/dev/zero', join(dir, 'a.yaml')), 'is not a regular file [FB003]'],
    ['binary', () => write('a.yaml', new Uint8Array([0xff, 0xfe, 0xff])), 'is not UTF-8 text [FB003]'],
    ['too large', () => write('a.yaml', ' '.repeat(1_048_577)), 'has 1048577 bytes; at most 1048576 are read [FB004]'],
  ])('with %s among its files has a problem, and the other files', (_, make, text) => {
    make()
    write('b.yaml', upstream())
    expect(problem()).toBe(`DIR/a.yaml  ${text}`)
    const result = loadPolicies(readPolicyDirectory(dir), { mode: 'valid-only', generation: 1 })
    expect(result).toMatchObject({ ok: false, partial: { upstreams: new Map([['payments', expect.anything()]]) } })
  })

  it('tells of each file that cannot be read', () => {
    mkdirSync(join(dir, 'a.yaml'))
    write('b.yaml', upstream())
    symlinkSync('nowhere', join(dir, 'c.yaml'))
    expect(problem()).toBe(
      'DIR/a.yaml  is a directory, not a file [FB003]\nDIR/c.yaml  cannot be read: it does not exist [FB003]',
    )
  })

  it.each(['all', 'valid-only'] as const)('that is missing or empty is never a set without upstreams (%s)', mode => {
    for (const path of [dir, join(dir, 'none')]) {
      const result = loadPolicies(readPolicyDirectory(path), { mode, generation: 2 })
      expect(result.ok || 'partial' in result).toBe(false)
      expect(result.messages).toHaveLength(1)
    }
  })

  it('is enough to start with under valid-only when it is empty, and not when it is missing', () => {
    const options = { mode: 'valid-only', generation: 1 } as const
    const started = [dir, join(dir, 'none')].map(path => loadPolicies(readPolicyDirectory(path), options))
    expect(started.map(result => 'partial' in result)).toEqual([true, false])
  })
})

describe('single files', () => {
  it('are one set, named by their paths', () => {
    write('a.yaml', 'x')
    const path = join(dir, 'a.yaml')
    expect(readPolicyFiles([path, path])).toMatchObject({ dir: '', files: [{ name: path, text: 'x' }], problems: [] })
    expect(readPolicyFiles([join(dir, 'none.yaml')]).problems[0]?.code).toBe('FB003')
  })
})

describe('texts that will be files', () => {
  it('are what a directory with them would be, but for its name', () => {
    const files = { 'b.yaml': 'b: ü', 'a.yml': 'a: 1', 'c.txt': '{{', '.d.yaml': 'x', 'e.yaml': 'nul\0' }
    for (const [name, text] of Object.entries(files)) write(name, text)
    const { dir: _, problems, ...rest } = readPolicyDirectory(dir)
    const source = policySource(new Map(Object.entries(files)))
    expect(source).toMatchObject(rest)
    expect(source.problems.map(({ code, file, text }) => [code, join(dir, file), text])).toEqual(
      problems.map(({ code, file, text }) => [code, file, text]),
    )
  })

  it('that are none of them policies are a mistake', () => {
    expect(policySource(new Map([['readme.txt', 'x']])).problems).toMatchObject([{ code: 'FB002', file: '' }])
  })
})
