import type { Edit, Path, PodMeta, PodSpec, Problem } from '../inject/types.js'
import type { ManifestProblem, ManifestResult, ObjectOutcome } from './outcome.js'
import { readSegments } from './read.js'
import { type Change, type Failure, rewrite } from './rewrite.js'
import { lineCounter } from './source.js'
import { documentValue, type Place, type SourceDocument, targetOf } from './source-document.js'
import { type Workload, workloadsIn } from './workloads.js'

/** One workload in its place. */
export interface Target {
  readonly workload: Workload
  readonly podSpec: PodSpec
  readonly meta: PodMeta | null | undefined
  /** `forbear.dev/inject` of the object above the template, which the template itself need not have. */
  readonly ownerLabel: string | null
  /** `Deployment shop`: what makes this object, and would make it anew as it was. */
  readonly controller: string | null
  readonly claims: readonly string[]
  /** How a null in the pod is written, by path. */
  readonly nullAt: (path: Path) => string | null
}

export interface Verdict {
  readonly outcome: ObjectOutcome['outcome']
  readonly rounds: readonly (readonly Edit[])[]
  readonly details: readonly string[]
  readonly warnings: readonly string[]
  readonly problems: readonly Problem[]
}

interface Judged {
  readonly objects: readonly ObjectOutcome[]
  readonly problems: readonly ManifestProblem[]
  readonly strangers: readonly string[]
  readonly changes: readonly (Change & { readonly place: Place })[]
}

/** All objects of one stream. With any problem there is no text: half of a manifest would be applied as a whole one. */
export function changeManifest(text: string, file: string, judge: (target: Target) => Verdict): ManifestResult {
  const segments = readSegments(text)
  const lineAt = lineCounter(text)
  const judged = segments.flatMap((segment, index) =>
    segment.documents.map((_, number) => judgeDocument({ file, segment, index, number, lineAt }, judge)),
  )
  const objects = judged.flatMap(one => one.objects)
  const strangers = judged.flatMap(one => one.strangers)
  const changes = judged.flatMap(one => one.changes)
  const refused = (problems: readonly ManifestProblem[]) => ({ text: '', objects, problems, strangers })

  const problems = judged.flatMap(one => one.problems)
  if (problems.length > 0) return refused(problems)
  const rewritten = rewrite(text, segments, changes)
  if ('text' in rewritten) return { text: rewritten.text, objects, problems, strangers }
  return refused(
    changes.flatMap(change => {
      const failure = rewritten.failed.get(change)
      return failure === undefined ? [] : [{ ...change.place, ...FAILURES[failure] }]
    }),
  )
}

export const FAILURES: Readonly<Record<Failure, Pick<ManifestProblem, 'reason' | 'suggestion'>>> = {
  unwritable: {
    reason: 'the way in which its pod is written leaves no place for what is to be added',
    suggestion: 'write it as plain lines of key: value and lists of - items',
  },
  shared: {
    reason: 'an anchor shares part of its pod with something that is not to be changed',
    suggestion: 'write out in full what *alias or << brings into the pod',
  },
}

function judgeDocument(source: SourceDocument, judge: (target: Target) => Verdict): Judged {
  const read = documentValue(source)
  if ('problem' in read) return { objects: [], problems: [read.problem], strangers: [], changes: [] }
  const { workloads, strangers } = workloadsIn(read.value)
  const judged = workloads.map(workload => judgeWorkload(source, read.value, workload, judge))
  return {
    objects: judged.flatMap(one => one.objects),
    problems: judged.flatMap(one => one.problems),
    changes: judged.flatMap(one => one.changes),
    strangers,
  }
}

function judgeWorkload(
  source: SourceDocument,
  value: unknown,
  workload: Workload,
  judge: (target: Target) => Verdict,
): Omit<Judged, 'strangers'> {
  const target = targetOf(source, value, workload)
  if ('problem' in target) return { objects: [], problems: [target.problem], changes: [] }
  const { place, lineOf } = target
  const { rounds, problems, ...told } = judge(target)
  const { index: segment, number: document } = source
  return {
    objects: [{ ...place, ...told }],
    problems: problems.map(({ path, reason, suggestion }) => ({ ...place, line: lineOf(path), reason, suggestion })),
    changes: rounds.length === 0 ? [] : [{ segment, document, base: workload.base, rounds, place }],
  }
}
