/**
 * What `promtool check metrics` looks for, and what a scraper would stumble over, as sentences; empty = nothing is wrong.
 * Families are read by a parser of its own right, the form of each line here, since parsers are lenient.
 */
import { createRequire } from 'node:module'

interface Family {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly metrics: readonly { readonly labels?: Readonly<Record<string, string>> }[]
}

const parse = createRequire(import.meta.url)('parse-prometheus-text-format') as (text: string) => Family[]

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const VALUE = '(?:[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?|[-+]Inf|Nan|NaN)'
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
const SAMPLE = new RegExp(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(${LABEL}(?:,${LABEL})*)\\})? ${VALUE}$`)
const META = /^# (HELP|TYPE) (\S+) (\S(?:.*\S)?)$/
/** Of units that are no base unit, by the words of a name. */
const ODD_UNITS =
  /_(ms|milliseconds|millis|us|ns|microseconds|nanoseconds|minutes|hours|days|kb|kib|mb|mib|kilobytes|megabytes|percent)(_|$)/
const TYPE_WORDS = /_(counter|gauge|histogram|summary)(_|$)/
const RESERVED = /_(bucket|count|sum)$/

export function lint(text: string): string[] {
  return [...lintForm(text), ...parse(text).flatMap(lintFamily), ...lintHistograms(text)]
}

function lintForm(text: string): string[] {
  const wrong = text.endsWith('\n') ? [] : ['the last line does not end']
  const seen = new Set<string>()
  const told = new Map<string, string>()
  let family = ''
  for (const line of text.split('\n').slice(0, -1)) {
    if (line === '') continue
    const [, keyword = '', name = ''] = META.exec(line) ?? []
    if (keyword !== '') {
      const words = `${told.get(name) ?? ''}${keyword}`
      if (!['HELP', 'HELPTYPE'].includes(words)) wrong.push(`${keyword} of ${name} twice or out of order`)
      told.set(name, words)
      family = name
      continue
    }
    const [, sample = '', labels = ''] = SAMPLE.exec(line) ?? []
    if (sample === '') {
      wrong.push(`not a sample: ${line}`)
      continue
    }
    const id = `${sample}{${[...labels.matchAll(new RegExp(LABEL, 'g'))].map(([label]) => label).sort()}}`
    if (seen.has(id)) wrong.push(`series twice: ${id}`)
    seen.add(id)
    if (told.get(family) !== 'HELPTYPE') wrong.push(`${sample} without HELP and TYPE before it`)
    if (sample !== family && sample.replace(RESERVED, '') !== family) wrong.push(`${sample} is within ${family}`)
  }
  return wrong
}

/** Names of our own; those of the process are its library's. */
function lintFamily({ name, type, help, metrics }: Family): string[] {
  const wrong: string[] = []
  if (!NAME.test(name)) wrong.push(`${name} is no name`)
  if (help.trim() === '') wrong.push(`${name} has no HELP`)
  for (const label of metrics.flatMap(({ labels = {} }) => Object.keys(labels))) {
    if (/^__|^(le|quantile)$/.test(label)) wrong.push(`${name} has the reserved label ${label}`)
  }
  if (!name.startsWith('forbear_')) return wrong
  if ((type === 'COUNTER') !== name.endsWith('_total')) wrong.push(`${name} is a ${type}: _total is for counters alone`)
  if (ODD_UNITS.test(name)) wrong.push(`${name} is not in a base unit`)
  if (TYPE_WORDS.test(name)) wrong.push(`${name} has its type in its name`)
  if (RESERVED.test(name)) wrong.push(`${name} ends as a part of a histogram does`)
  return wrong
}

/** By the lines themselves: the parser makes one histogram of those that differ in labels. */
function lintHistograms(text: string): string[] {
  const types = new Map(Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type = '']) => [name, type]))
  const parts = new Map<string, Parts>()
  for (const [, name = '', labels = '', value = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)) {
    const family = name.replace(RESERVED, '')
    if (types.get(family) !== 'histogram') continue
    const id = `${family}{${labels.replace(/,?le="[^"]*"/, '').replace(/^,/, '')}}`
    const part = parts.get(id) ?? { buckets: [], count: null, sum: null }
    parts.set(id, part)
    if (name.endsWith('_bucket')) part.buckets.push([bound(/le="([^"]*)"/.exec(labels)?.[1]), Number(value)])
    else if (name.endsWith('_count')) part.count = Number(value)
    else part.sum = Number(value)
  }
  return [...parts].flatMap(([id, part]) => lintHistogram(id, part))
}

interface Parts {
  readonly buckets: [le: number, value: number][]
  count: number | null
  sum: number | null
}

function lintHistogram(id: string, { buckets, count, sum }: Parts): string[] {
  const wrong: string[] = []
  if (buckets.some(([le], at) => le <= (buckets[at - 1]?.[0] ?? Number.NEGATIVE_INFINITY))) wrong.push(`${id}: order`)
  if (buckets.some(([, value], at) => value < (buckets[at - 1]?.[1] ?? 0))) wrong.push(`${id} is not cumulative`)
  const [le, all] = buckets.at(-1) ?? []
  if (le !== Number.POSITIVE_INFINITY) wrong.push(`${id} has no +Inf`)
  else if (all !== count) wrong.push(`${id}: _count is ${count}, +Inf ${all}`)
  if (sum === null) wrong.push(`${id} has no _sum`)
  return wrong
}

function bound(le: string | undefined): number {
  return le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)
}
