/** The alerts over recorded series, in Prometheus's own engine. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { type AlertCase, CASES } from './alert-cases.js'
import { alerts, ruleGroups } from './support.js'

const directory = mkdtempSync(join(tmpdir(), 'forbear-alerts-'))
afterAll(() => rmSync(directory, { recursive: true }))
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const missing = hasPromtool ? '' : ', with promtool: not found; it is in the Debian package prometheus'
const RULES = join(directory, 'rules.yaml')
writeFileSync(RULES, stringify(ruleGroups))

function promtool(...args: readonly string[]): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return { code: status, output: stdout + stderr }
}

/** Whether exactly these alerts fire. */
function fire({ series, at }: AlertCase, firing: readonly string[]) {
  const samples = firing.map(labels => ({ labels: `ALERTS{alertstate="firing",${labels}}`, value: 1 }))
  const file = join(directory, 'test.yaml')
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }))
  const asked = [{ expr: 'ALERTS{alertstate="firing"}', eval_time: at, exp_samples: samples }]
  const tests = [{ interval: '15s', input_series: input, promql_expr_test: asked }]
  writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '15s', tests }))
  return promtool('test', 'rules', file)
}

describe.skipIf(!hasPromtool)(`the alerts${missing}`, () => {
  it('are rules that Prometheus loads', () => {
    expect(promtool('check', 'rules', '--lint=all', '--lint-fatal', RULES)).toMatchObject({ code: 0 })
  })

  it.each(CASES)('$what', one => {
    expect(fire(one, one.firing)).toMatchObject({ code: 0 })
  })

  it('are judged by a tester that sees a wrong expectation', () => {
    const [first] = CASES
    expect(fire(first as AlertCase, []).code).not.toBe(0)
  })
})

it('has a case in which each alert fires', () => {
  const fired = new Set(CASES.flatMap(({ firing }) => firing.map(labels => /alertname="(\w+)"/.exec(labels)?.[1])))
  expect([...fired].sort()).toEqual(alerts.map(({ alert }) => alert).sort())
})
