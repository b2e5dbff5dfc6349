/** Everything wrong with the policies at some paths, for a person or a pipeline that is about to ship them. */
import { setsOf } from './check-sets.js'
import { type LoadResult, loadPolicies } from './load.js'
import type { PolicyMessage } from './messages.js'
import { fileLabel, type PolicySource } from './source.js'

export interface CheckReport {
  /** Of this form; goes up when a field is removed or changes its meaning. */
  readonly version: 1
  readonly files: number
  /** Valid or not. */
  readonly upstreams: number
  readonly errors: number
  readonly warnings: number
  readonly messages: readonly PolicyMessage[]
}

/** File as in the messages → its text. */
export type SourceTexts = ReadonlyMap<string, string>

export interface Checked extends CheckReport {
  readonly sources: SourceTexts
  /** Of `messages` those that people are shown. */
  readonly shown: readonly PolicyMessage[]
}

/** The paths must exist; `stdin` is read where one of them is `-`. */
export function checkPaths(paths: readonly string[], stdin: Uint8Array = new Uint8Array()): Checked {
  const sets = setsOf(paths, stdin)
  const reports = sets.map(checkSet)
  const messages = reports.flatMap(({ all }) => all)
  return {
    version: 1,
    files: sets.reduce((sum, set) => sum + set.files.length, 0),
    upstreams: reports.reduce((sum, report) => sum + report.upstreams.length, 0),
    errors: countOf(messages, 'error'),
    warnings: countOf(messages, 'warning'),
    messages,
    shown: reports.flatMap(report => report.messages),
    sources: new Map(sets.flatMap(set => set.files.map(({ name, text }) => [fileLabel(set, name), text] as const))),
  }
}

/** `2 files, 3 upstreams, 0 errors, 1 warning`, and that warnings fail where that is what failed. */
export function summaryOf({ files, upstreams, errors, warnings }: CheckReport, strict: boolean): string {
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`
  const counts = [
    count(files, 'file'),
    count(upstreams, 'upstream'),
    count(errors, 'error'),
    count(warnings, 'warning'),
  ]
  return `${counts.join(', ')}${strict && warnings > 0 ? '; warnings fail (--strict)' : ''}`
}

export interface SetReport extends Pick<LoadResult, 'all' | 'messages'> {
  /** Names, of valid ones or not. */
  readonly upstreams: readonly string[]
}

/** One directory, or what will be one. */
export function checkSet(source: PolicySource): SetReport {
  const result = loadPolicies(source, { mode: 'valid-only', generation: 1 })
  const snapshot = result.ok ? result.snapshot : result.partial
  const { all, messages } = result
  const upstreams = snapshot === undefined ? [] : [...snapshot.upstreams.keys(), ...snapshot.invalid.keys()]
  return { all, messages, upstreams }
}

function countOf(messages: readonly PolicyMessage[], wanted: PolicyMessage['severity']): number {
  return messages.filter(({ severity }) => severity === wanted).length
}
