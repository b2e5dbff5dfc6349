import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { allSamples, brokenLinks, documents, ROOT, read, type Sample, samplesOf } from './samples.js'
import { forbear, portsAreFree, runShell, startDemo, stopDemo } from './shell.js'

const directory = mkdtempSync(join(tmpdir(), 'forbear-docs-'))
afterAll(() => rmSync(directory, { recursive: true }))

const samples = allSamples()
const shell = (mode: string): Sample[] => samples.filter(sample => sample.language === 'sh' && sample.mode === mode)
// Those of the catalogue of messages are parts of files, loaded by test/policy/code-examples.test.ts.
const yaml = samples.filter(({ language, mode }) => language === 'yaml' && mode === '')
const isPolicy = ({ text }: Sample): boolean => text.includes('apiVersion: forbear.dev/')
/** Shows the output when it is not. */
const SUCCESS = { code: 0, output: expect.any(String) }
const DEMO_PORTS = [15080, 15081, 15082, 15090, 15101]

describe('the samples of the documents', () => {
  it('are found, with the line they begin at and how to run them', () => {
    expect(samplesOf('a.md', 'x\n\n```sh demo\ncurl a\n```\n\n```yaml\na: 1\n```\n')).toEqual([
      { at: 'a.md:3', language: 'sh', mode: 'demo', text: 'curl a\n' },
      { at: 'a.md:7', language: 'yaml', mode: '', text: 'a: 1\n' },
    ])
    expect(yaml.filter(isPolicy).length).toBeGreaterThan(0)
    expect(shell('demo').length).toBeGreaterThan(0)
  })

  it.each(yaml.filter(isPolicy))('$at is a policy that check accepts without a word against it', ({ text }) => {
    const file = join(mkdtempSync(join(directory, 'policy-')), 'sample.yaml')
    writeFileSync(file, text)
    const result = forbear('check', file)
    expect(result).toEqual(SUCCESS)
    expect(result.output).not.toMatch(/sample\.yaml:\d+:\d+/)
  })

  it.each(yaml)('$at is YAML', ({ text }) => {
    expect(parseAllDocuments(text).flatMap(document => document.errors)).toEqual([])
  })

  it('of CI name a command that runs', () => {
    const commands = yaml.flatMap(({ text }) =>
      [...text.matchAll(/\b(?:run|entry): (forbear [^,\n]+)/g)].map(([, run]) => run ?? ''),
    )
    expect(commands.length).toBeGreaterThan(1)
    for (const command of commands) expect(runShell(command, directory), command).toEqual(SUCCESS)
  })

  it.each(shell('cli'))('$at runs', ({ text }) => {
    expect(runShell(text, directory)).toEqual(SUCCESS)
  })

  it.each(shell(''))('$at names scripts that exist', ({ text }) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...text.matchAll(/npm (?:run )?([a-z:-]+)/g)].map(match => match[1] ?? '')
    expect(named.filter(name => !['ci', 'install'].includes(name) && scripts[name] === undefined)).toEqual([])
  })

  it('of the demo run while it runs, and it ends when asked', async context => {
    if (!(await portsAreFree(...DEMO_PORTS))) context.skip('a port of the demo is taken')
    const demo = await startDemo()
    const results = shell('demo').map(({ at, text }) => ({ at, ...runShell(text, directory) }))
    expect(await stopDemo(demo)).toBe(0)
    for (const { at, ...result } of results) expect(result, at).toEqual(SUCCESS)
    expect(results[0]?.output).toMatch(/forbear-outcome: delivered/i)
  })
})

describe('the documents', () => {
  it.each(documents())('%s links to files that exist', path => {
    expect(brokenLinks(path, read(path))).toEqual([])
  })

  it('name only sources that exist', () => {
    const named = [...read('ARCHITECTURE.md').matchAll(/`([a-z-]+\/[a-z-]+\.ts)`/g)].map(match => `src/${match[1]}`)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
  })

  it('list the flags of run as its help does', () => {
    const flags = (text: string): string[] => [...new Set(text.match(/--[a-z-]+/g))].sort()
    const section = read('README.md').split('## forbear run')[1]?.split('\n## ')[0] ?? ''
    const rows = section.split('\n').filter(line => line.startsWith('| `--'))
    const help = forbear('run', '--help')
      .output.split('\n')
      .filter(line => /^\s+--/.test(line))
    expect(flags(rows.map(row => row.split('|')[1] ?? '').join())).toEqual(
      flags(help.map(line => line.trim().split(/\s{2,}/)[0] ?? '').join()),
    )
  })
})
