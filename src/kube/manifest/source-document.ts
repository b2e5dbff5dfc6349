import type { Document, YAMLError } from 'yaml'
import { at, fieldsIn, isFields } from '../inject/fields.js'
import { INJECT_LABEL } from '../inject/names.js'
import type { Path } from '../inject/types.js'
import type { Target } from './manifest.js'
import { find, findNearest } from './nodes.js'
import type { ManifestProblem } from './outcome.js'
import { type Segment, valueOf } from './read.js'
import { templateIn } from './templates.js'
import { type Workload, workloadsIn } from './workloads.js'

/** One document of a stream, and where it stands. */
export interface SourceDocument {
  readonly file: string
  readonly segment: Segment
  /** Of the segment. */
  readonly index: number
  /** Of the document in the segment. */
  readonly number: number
  /** Of the whole text. */
  readonly lineAt: (offset: number) => number
}

export interface Place {
  readonly file: string
  readonly line: number
  readonly object: string
}

interface Refused {
  readonly problem: ManifestProblem
}

/** What the document says, unless it cannot be read for certain. */
export function documentValue(source: SourceDocument): { readonly value: unknown } | Refused {
  const document = documentOf(source)
  const [error] = document.errors
  const value = document.errors.every(isTwin) ? attempt(() => valueOf(document)) : { value: undefined }
  if ('thrown' in value) return refused(source, 0, null, value.thrown, 'write out what the aliases stand for')
  const { workloads } = workloadsIn(value.value)
  const template = templateIn(source.segment.text, document, workloads.length > 0)
  if (template !== null) {
    const reason = `this looks like an unrendered template at line ${lineAt(source, template.offset)}`
    const title = workloads[0]?.title ?? titleInText(source, document)
    return refused(source, template.offset, title, reason, `run ${template.tool} first`)
  }
  if (error === undefined || (isTwin(error) && workloads.length === 0)) return value
  return refused(
    source,
    error.pos[0],
    titleInText(source, document),
    `it cannot be read: ${error.message}`,
    'mend the file',
  )
}

/** A key that stands twice is nobody's concern where nothing is changed. */
function isTwin({ code }: YAMLError): boolean {
  return code === 'DUPLICATE_KEY'
}

export interface Placed extends Target {
  readonly place: Place
  /** Of something in the pod. */
  readonly lineOf: (path: Path) => number
}

export function targetOf(source: SourceDocument, value: unknown, workload: Workload): Placed | Refused {
  const { path, base, title } = workload
  const document = documentOf(source)
  const lineOf = (path: Path) => lineAt(source, findNearest(document, path)?.range?.[0] ?? 0)
  const place: Place = { file: source.file, line: lineOf([...path, 'kind']), object: title }
  const shared = ['spec', 'metadata'].map(key => find(document, [...base, key])?.shared).find(Boolean)
  if (shared) {
    const reason = `its pod is reached through ${shared.by === 'alias' ? 'an alias' : 'a merge key'}`
    return refused(source, shared.node.range?.[0] ?? 0, title, reason, 'write the pod out in full')
  }
  const podSpec = at(value, [...base, 'spec'])
  const meta = at(value, [...base, 'metadata'])
  if (!isFields(podSpec) || !(meta === undefined || meta === null || isFields(meta))) {
    const what = [...base.slice(path.length), isFields(podSpec) ? 'metadata' : 'spec'].join('.')
    const problem = {
      ...place,
      reason: `it has no ${what} that is a map`,
      suggestion: 'see whether the indentation is right',
    }
    return { problem }
  }
  const label = at(value, [...path, 'metadata', 'labels', INJECT_LABEL])
  return {
    workload,
    podSpec,
    meta,
    controller: controllerOf(at(value, [...path, 'metadata', 'ownerReferences'])),
    ownerLabel: label === undefined ? null : String(label),
    claims: fieldsIn(at(value, [...path, 'spec', 'volumeClaimTemplates'])).map(claim =>
      String(at(claim, ['metadata', 'name'])),
    ),
    place,
    lineOf: path => lineOf([...base, ...path]),
    nullAt: path => (at(value, [...base, ...path]) === null ? spelling(source, [...base, ...path]) : null),
  }
}

function controllerOf(owners: unknown): string | null {
  const owner = fieldsIn(owners).find(({ controller }) => controller === true)
  return owner === undefined ? null : `${owner.kind} ${owner.name}`
}

function documentOf({ segment, number }: SourceDocument): Document {
  return segment.documents[number] as Document
}

function lineAt(source: SourceDocument, offset: number): number {
  return source.lineAt(source.segment.offset + offset)
}

function refused(
  source: SourceDocument,
  offset: number,
  object: string | null,
  reason: string,
  suggestion: string,
): Refused {
  return { problem: { file: source.file, line: lineAt(source, offset), object, reason, suggestion } }
}

/** What is no YAML has no values, but the reader wants to know which object it is. */
function titleInText({ segment }: SourceDocument, document: Document): string | null {
  const [text = ''] = segment.text.slice(document.range?.[0] ?? 0).split(/^---/m)
  const [, kind] = /^kind:[ \t]*(\w+)/m.exec(text) ?? []
  const [, name = ''] = /^metadata:[^\n]*\n(?:[ \t]+[^\n]*\n)*?[ \t]+name:[ \t]*([^\r\n#]+)/m.exec(text) ?? []
  return kind === undefined ? null : `${kind} ${name}`.trim()
}

function spelling(source: SourceDocument, path: Path): string | null {
  const [start, end] = find(documentOf(source), path)?.node.range ?? []
  return start === undefined ? null : source.segment.text.slice(start, end)
}

function attempt(run: () => unknown): { readonly value: unknown } | { readonly thrown: string } {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}
