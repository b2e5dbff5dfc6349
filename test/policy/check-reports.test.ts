import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPaths } from '../../src/policy/check.js'
import { githubCommands } from '../../src/policy/check-github.js'
import { sarifLog } from '../../src/policy/check-sarif.js'
import type { PolicyMessage } from '../../src/policy/messages.js'
import { upstream } from './set.js'
import { sarifFaults } from './support/sarif-rules.js'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'forbear-reports-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const write = (name: string, text: string): string => {
  const path = join(cwd, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const message: PolicyMessage = {
  code: 'FB030',
  severity: 'error',
  file: 'policies/a.yaml',
  line: 2,
  col: 3,
  length: 4,
  path: 'spec.retry',
  text: 'wrong',
  suggestion: null,
}

const github = (changes: Partial<PolicyMessage>, source = 'one\n  twotwo') =>
  githubCommands([{ ...message, ...changes }], new Map([['policies/a.yaml', source]]), '/repo')

function sarif(list: readonly PolicyMessage[], sources: ReadonlyMap<string, string> = new Map(), root = cwd) {
  const log = sarifLog(list, sources, { version: '1.2.3', cwd: root })
  expect(sarifFaults(log)).toEqual([])
  const [run] = log.runs
  if (run === undefined) throw new Error('no run')
  return run
}

/** The one result of a file with that text. */
function sarifOf(name: string, text: string) {
  const { messages, sources } = checkPaths([write(name, text)])
  const { results } = sarif(messages, sources)
  expect(results).toHaveLength(1)
  return results[0]?.locations[0]?.physicalLocation
}

describe('workflow commands', () => {
  it('name file, place and code', () => {
    expect(github({})).toBe('::error file=policies/a.yaml,line=2,col=3,endColumn=7,title=FB030::spec.retry: wrong\n')
  })

  it('tell a warning from an error, and what was probably meant', () => {
    expect(github({ severity: 'warning', suggestion: 'right' })).toMatch(/^::warning .*::.*; did you mean right\?\n$/)
  })

  it('stay one line, and are read back as they were, whatever the text holds', () => {
    expect(github({ path: '', text: '100 % of\r\na::b, c\nü' })).toContain('::100 %25 of%0D%0Aa::b, c%0Aü\n')
    expect(github({ text: '%0A' })).toContain(': %250A\n')
  })

  it('stay apart from the file name, whatever it holds', () => {
    expect(github({ file: 'my policies/50%,a:b\n.yaml' })).toContain('file=my policies/50%25%2Ca%3Ab%0A.yaml,line=2,')
  })

  it('keep other control characters out of the log', () => {
    expect(github({ text: 'a\u001b[31mb' })).toContain('a\ufffd[31mb')
  })

  it('have no line where a whole file is meant, and no file where a whole set is', () => {
    expect(github({ line: 0, col: 0, length: 0 })).toContain('::error file=policies/a.yaml,title=FB030::')
    expect(github({ line: 0, col: 0, length: 0, file: '' })).toContain('::error title=FB030::')
  })

  it('end with the line where the fault goes on over the next', () => {
    expect(github({ length: 400 })).toContain('col=3,endColumn=9,')
    expect(github({ length: 400 }, 'one\r\n  twotwo\r\nthree')).toContain('col=3,endColumn=9,')
  })

  it('name a file by its path in the repository', () => {
    expect(github({ file: '/repo/policies/b.yaml' })).toContain('file=policies/b.yaml,')
    expect(github({ file: '/elsewhere/b.yaml' })).toContain('file=/elsewhere/b.yaml,')
  })
})

describe('a SARIF log', () => {
  it('names the tool, and of its rules those that were broken', () => {
    const { tool, results } = sarif([message, { ...message, code: 'FB051', severity: 'warning' }])
    expect(tool.driver).toMatchObject({ name: 'forbear', version: '1.2.3' })
    expect(tool.driver.rules).toMatchObject([
      { id: 'FB030', shortDescription: { text: 'unknown key' }, defaultConfiguration: { level: 'error' } },
      { id: 'FB051', help: { text: expect.stringContaining('Wrong:') }, defaultConfiguration: { level: 'warning' } },
    ])
    expect(results).toMatchObject([
      { ruleId: 'FB030', ruleIndex: 0, level: 'error', message: { text: 'spec.retry: wrong' } },
      { ruleId: 'FB051', ruleIndex: 1, level: 'warning' },
    ])
  })

  it('has a run without results where all is well: that is what closes alerts', () => {
    expect(sarif([])).toMatchObject({ results: [], tool: { driver: { rules: [] } } })
  })

  it('counts columns as it says, in UTF-16 units, from a file with CR LF and letters of every width', () => {
    const place = sarifOf('a.yaml', upstream('"x-😀": 1 # 日本語').replaceAll('\n', '\r\n'))
    expect(place?.region).toEqual({ startLine: 6, startColumn: 3, endColumn: 9 })
    expect(sarif([]).columnKind).toBe('utf16CodeUnits')
  })

  it('encodes a file name as a relative reference', () => {
    expect(sarifOf('my policies/50%:a,ü#?.yaml', upstream('x: 1'))?.artifactLocation).toEqual({
      uri: 'my%20policies/50%25%3Aa%2C%C3%BC%23%3F.yaml',
      uriBaseId: '%SRCROOT%',
    })
    expect(sarif([{ ...message, file: '<stdin>' }]).results[0]?.locations).toMatchObject([
      { physicalLocation: { artifactLocation: { uri: '%3Cstdin%3E' } } },
    ])
  })

  it('gives a file outside of the repository its whole address', () => {
    const { messages, sources } = checkPaths([write('a b.yaml', upstream('x: 1'))])
    const { results } = sarif(messages, sources, join(cwd, 'repository'))
    expect(results[0]?.locations[0]?.physicalLocation.artifactLocation).toEqual({
      uri: `file://${cwd}/a%20b.yaml`,
    })
  })

  it('has no region where a whole file is meant, and no place where a whole set is', () => {
    expect(sarifOf('a.yaml', '')).toEqual({ artifactLocation: { uri: 'a.yaml', uriBaseId: '%SRCROOT%' } })
    expect(sarif([{ ...message, file: '', line: 0 }]).results[0]?.locations).toEqual([])
  })
})
