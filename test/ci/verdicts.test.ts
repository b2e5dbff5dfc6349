import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const directory = mkdtempSync(join(tmpdir(), 'forbear-ci-'))
afterAll(() => rmSync(directory, { recursive: true }))

function run(script: string, text: string, ...args: string[]): string {
  const file = join(directory, 'report')
  writeFileSync(file, text)
  const path = fileURLToPath(new URL(`../../.ci/${script}`, import.meta.url))
  return spawnSync(process.execPath, [path, file, ...args], { encoding: 'utf8' }).stdout.trim()
}

describe('the count of tests', () => {
  const file = { status: 'passed', assertionResults: [{}] }
  const count = (changes: object, exitCode: string): string => {
    const totals = { numTotalTests: 5, numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 }
    return run('count-tests.mjs', JSON.stringify({ ...totals, testResults: [file], ...changes }), exitCode)
  }

  it('is passed, failed and skipped', () => {
    expect(count({}, '0')).toBe('5 0 0')
    expect(count({ numPassedTests: 2, numFailedTests: 1, numPendingTests: 2 }, '1')).toBe('2 1 2')
  })

  it('counts a file that does not load as a failure', () => {
    expect(count({ testResults: [file, { status: 'failed', assertionResults: [] }] }, '1')).toBe('5 1 0')
  })

  it('counts an error outside of every test as a failure', () => {
    expect(count({}, '1')).toBe('5 1 0')
  })

  it('does not take a run without a test or without a report for a good one', () => {
    expect(count({ numTotalTests: 0, numPassedTests: 0, testResults: [] }, '0')).toBe('0 1 0')
    expect(run('count-tests.mjs', '', '0')).toBe('0 1 0')
  })
})

describe('the reading of the audit', () => {
  const read = (report: object | string, said = ''): string => {
    const errors = join(directory, 'errors')
    writeFileSync(errors, said)
    return run('read-audit.mjs', typeof report === 'string' ? report : JSON.stringify(report), errors)
  }

  it('is clean without findings', () => {
    expect(read({ vulnerabilities: {}, metadata: { vulnerabilities: { total: 0 } } })).toBe('clean')
  })

  it('lists findings', () => {
    const vulnerabilities = { left: { name: 'left', severity: 'high', range: '<2' } }
    expect(read({ vulnerabilities, metadata: { vulnerabilities: { total: 1 } } })).toBe('high: left <2')
  })

  it('is unknown, without an address, when the registry does not answer', () => {
    expect(read({ message: '405 Not Allowed - POST https://packages.example/audit' })).toBe(
      'unknown:405 Not Allowed - POST the registry',
    )
    expect(read('', 'npm error no network\n')).toBe('unknown:npm error no network')
  })
})
