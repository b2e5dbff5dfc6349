/** What `deploy/observability` holds, and its expressions. */
import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { parse } from 'yaml'

export const FOLDER = 'deploy/observability'
export const read = (file: string): string => readFileSync(`${FOLDER}/${file}`, 'utf8')

export interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export interface Target {
  readonly refId: string
  readonly expr: string
}

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly Target[]
}

interface Variable {
  readonly name: string
  readonly type: string
  readonly definition?: string
}

export interface Dashboard {
  readonly uid: string
  readonly schemaVersion: number
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly Panel[]
}

interface RuleGroups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}

/** As Prometheus itself reads it. */
export const ruleGroups = (parse(read('rules.yaml')) as { spec: RuleGroups }).spec
export const rules = ruleGroups.groups.flatMap(group => group.rules)
export const alerts = rules.filter(rule => rule.alert !== undefined)
export const dashboard = JSON.parse(read('dashboard.json')) as Dashboard

export interface Expression {
  readonly at: string
  readonly expr: string
}

export const expressions: readonly Expression[] = [
  ...rules.map(({ alert, record, expr }) => ({ at: alert ?? record ?? '', expr })),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }) => ({ at: `panel ${title} ${refId}`, expr: withoutVariables(expr) })),
  ),
  ...dashboard.templating.list.flatMap(({ name, definition }) => {
    const selector = /^label_values\((.*), \w+\)$/.exec(definition ?? '')?.[1]
    return selector === undefined ? [] : [{ at: `variable ${name}`, expr: selector }]
  }),
]

export interface Selector {
  readonly metric: string
  readonly labels: readonly string[]
}

/** What an expression selects; throws where it is no PromQL. */
export function selectorsOf(expr: string): Selector[] {
  const text = (from: number, to: number): string => expr.slice(from, to)
  const found: { metric: string; labels: string[] }[] = []
  parser.parse(expr).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`no PromQL from "${text(node.from, expr.length)}" on: ${expr}`)
      if (node.name === 'VectorSelector') found.push({ metric: '', labels: [] })
      const last = found.at(-1)
      if (last === undefined) return
      if (node.name === 'Identifier' && last.metric === '') last.metric = text(node.from, node.to)
      if (node.name === 'LabelName' && node.node.parent?.name === 'UnquotedLabelMatcher') {
        last.labels.push(text(node.from, node.to))
      }
    },
  })
  return found
}

/** Those that stand in strings may stay. */
function withoutVariables(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m')
}
