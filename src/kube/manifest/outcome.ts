import type { Report } from '../inject/types.js'

export interface ManifestProblem {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** `Deployment ops/web`; `null` where none is known. */
  readonly object: string | null
  readonly reason: string
  readonly suggestion: string
}

export interface ObjectOutcome {
  readonly file: string
  readonly line: number
  readonly object: string
  readonly outcome: Report['outcome'] | 'uninjected'
  readonly details: readonly string[]
  readonly warnings: readonly string[]
}

export interface ManifestResult {
  /** Only without problems. */
  readonly text: string
  readonly objects: readonly ObjectOutcome[]
  readonly problems: readonly ManifestProblem[]
  /** Objects with a pod template of a kind that is left alone. */
  readonly strangers: readonly string[]
}

export function problemText({ file, line, object, reason, suggestion }: ManifestProblem): string {
  return `${file}:${line}: ${object === null ? '' : `${object}: `}${reason}\n  ${suggestion}\n`
}

export function outcomeText({ file, line, object, outcome, details, warnings }: ObjectOutcome): string {
  const detail = details.length === 0 ? '' : `: ${details.join('; ')}`
  const notes = warnings.map(warning => `  note: ${warning}\n`).join('')
  return `${file}:${line}: ${object} ${outcome}${detail}\n${notes}`
}

/** For a reader at a terminal; a stream without any workload is worth a word, too. */
export function reportText(results: readonly ManifestResult[]): string {
  const problems = results.flatMap(result => result.problems)
  if (problems.length > 0) return `${problems.map(problemText).join('')}nothing was written\n`
  const objects = results.flatMap(result => result.objects)
  const strangers = results.flatMap(result => result.strangers)
  const left = strangers.map(title => `${title} is left as it is: not one of the kinds that can be changed\n`)
  const none = objects.length === 0 ? ['there is no workload in it: nothing was changed\n'] : []
  return [...objects.map(outcomeText), ...left, ...none].join('')
}
