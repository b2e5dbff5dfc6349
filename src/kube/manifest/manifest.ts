import { at, isFields, textOf } from '../inject/fields.js'
import { INJECT_LABEL } from '../inject/names.js'
import type { Edit, Path, PodMeta, PodSpec, Problem } from '../inject/types.js'
import { find, findNearest } from './nodes.js'
import type { ManifestProblem, ManifestResult, ObjectOutcome } from './outcome.js'
import { readSegments, type Segment, valueOf } from './read.js'
import { type Change, rewrite } from './rewrite.js'
import { lineNumber } from './source.js'
import { templateIn } from './templates.js'
import { type Workload, workloadsIn } from './workloads.js'

/** One workload in its place. */
export interface Target {
  readonly workload: Workload
  readonly podSpec: PodSpec
  readonly meta: PodMeta | null | undefined
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

/** All objects of one stream. With any problem there is no text: half of a manifest would be applied as a whole one. */
export function changeManifest(text: string, file: string, judge: (target: Target) => Verdict): ManifestResult {
  const segments = readSegments(text)
  const objects: ObjectOutcome[] = []
  const problems: ManifestProblem[] = []
  const strangers: string[] = []
  const changes: (Change & { readonly place: Place })[] = []
  for (const [segment, { documents }] of segments.entries()) {
    for (const document of documents.keys()) {
      const reader = readerOf(text, file, segments, segment, document)
      const found = reader.workloads()
      strangers.push(...(found?.strangers ?? []))
      for (const workload of found?.workloads ?? []) {
        const place = reader.placeOf(workload)
        const target = reader.targetOf(workload, place)
        if (target === null) continue
        const { rounds, problems: complaints, ...told } = judge(target)
        for (const { path, reason, suggestion } of complaints) {
          problems.push({ ...place, line: reader.lineOf([...workload.base, ...path]), reason, suggestion })
        }
        objects.push({ ...place, ...told })
        if (rounds.length > 0) changes.push({ segment, document, base: workload.base, rounds, place })
      }
      problems.push(...reader.problems)
    }
  }
  if (problems.length > 0) return { text: '', objects, problems, strangers }
  const rewritten = rewrite(text, segments, changes)
  if ('text' in rewritten) return { text: rewritten.text, objects, problems, strangers }
  const failed = changes.filter(change => rewritten.failed.includes(change))
  return { text: '', objects, problems: failed.map(({ place }) => ({ ...place, ...SHARED })), strangers }
}

type Place = Pick<ManifestProblem, 'file' | 'line'> & { readonly object: string }

const SHARED = {
  reason:
    'it cannot be changed in its text without changing something else: an anchor or a merge key shares part of it',
  suggestion: 'write out in full what *alias or << brings into the pod',
}

function readerOf(text: string, file: string, segments: readonly Segment[], index: number, number: number) {
  const segment = segments[index] as Segment
  const document = segment.documents[number] as Segment['documents'][number]
  const problems: ManifestProblem[] = []
  let value: unknown
  const lineAt = (offset: number) => lineNumber(text, segment.offset + offset)
  const lineOf = (path: Path) => lineAt(findNearest(document, path)?.range?.[0] ?? 0)
  const complain = (line: number, object: string | null, reason: string, suggestion: string) =>
    problems.push({ file, line, object, reason, suggestion })

  function workloads() {
    const [error] = document.errors
    if (error === undefined)
      value = attempt(
        () => valueOf(document),
        thrown => complain(lineOf([]), null, thrown, NO_ALIASES),
      )
    const found = workloadsIn(value)
    const template = templateIn(segment.text, document, found.workloads.length > 0)
    if (template !== null) {
      const line = lineAt(template.offset)
      const title = found.workloads.length === 1 ? (found.workloads[0]?.title ?? null) : null
      complain(line, title, `this looks like an unrendered template at line ${line}`, `run ${template.tool} first`)
      return null
    }
    if (error !== undefined) complain(lineAt(error.pos[0]), null, `this is no YAML: ${error.message}`, 'mend the file')
    return error === undefined ? found : null
  }

  function placeOf({ title, path }: Workload): Place {
    return { file, line: lineOf([...path, 'kind']), object: title }
  }

  function targetOf(workload: Workload, { line, object }: Place): Target | null {
    const shared = [['spec'], ['metadata']]
      .map(path => find(document, [...workload.base, ...path])?.shared)
      .find(Boolean)
    if (shared) {
      const by = shared.by === 'alias' ? 'an alias' : 'a merge key'
      complain(lineAt(shared.node.range?.[0] ?? 0), object, `its pod is reached through ${by}`, SHARED.suggestion)
      return null
    }
    const pod = at(value, workload.base)
    const podSpec = at(pod, ['spec'])
    const meta = at(pod, ['metadata'])
    if (!isFields(podSpec) || !(meta === undefined || meta === null || isFields(meta))) {
      const what = isFields(podSpec) ? 'metadata' : 'spec'
      const where = [...workload.base.slice(workload.path.length), what].join('.')
      complain(line, object, `it has no ${where} that is a map`, 'see whether the indentation is right')
      return null
    }
    return { workload, podSpec, meta, nullAt: path => nullAt([...workload.base, ...path]) }
  }

  function nullAt(path: Path): string | null {
    const node = find(document, path)?.node
    const [start, end] = node?.range ?? [0, 0]
    return at(value, path) === null && node !== undefined ? segment.text.slice(start, end) : null
  }

  return { problems, lineOf, workloads, placeOf, targetOf }
}

const NO_ALIASES = 'write out what the aliases stand for'

function attempt<Value>(run: () => Value, failed: (reason: string) => void): Value | undefined {
  try {
    return run()
  } catch (thrown) {
    failed(thrown instanceof Error ? thrown.message : String(thrown))
    return undefined
  }
}

/** What the object above the template says, which the template itself need not. */
export function ownLabel(value: unknown): string | null {
  const label = at(value, ['metadata', 'labels', INJECT_LABEL])
  return label === undefined ? null : (textOf(label) ?? String(label))
}
