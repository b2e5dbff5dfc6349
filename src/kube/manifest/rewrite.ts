import { isDeepStrictEqual } from 'node:util'
import { visit } from 'yaml'
import { applyEdits, type Pod } from '../inject/apply-edits.js'
import { withValue } from '../inject/fields.js'
import type { Edit, Path } from '../inject/types.js'
import { splicesFor } from './edit-text.js'
import { readSegments, type Segment, valueOf } from './read.js'
import { type Splice, spliced } from './splice.js'

/** What is to happen to one pod or template. */
export interface Change {
  readonly segment: number
  readonly document: number
  readonly base: Path
  /** One after the other: the indexes of a list are those after the list before it. */
  readonly rounds: readonly (readonly Edit[])[]
}

export type Failure = 'unwritable' | 'shared'

export type Rewritten = { readonly text: string } | { readonly failed: ReadonlyMap<Change, Failure> }

/**
 * Changes the text and nothing else of it. What comes out is read once more: unless it says exactly what the edits make
 * of the values, the change has failed. So an anchor that others share never changes those behind anybody's back.
 */
export function rewrite(text: string, segments: readonly Segment[], changes: readonly Change[]): Rewritten {
  const rounds = Math.max(0, ...changes.map(change => change.rounds.length))
  let current = { text, segments }
  for (let round = 0; round < rounds; round++) {
    const failed = new Map<Change, Failure>()
    const splices: Splice[] = []
    for (const change of changes) {
      const made = splicesOf(current.segments, change, change.rounds[round - rounds + change.rounds.length] ?? [])
      if (made === null) failed.set(change, 'unwritable')
      else splices.push(...made)
    }
    if (failed.size > 0) return { failed }
    const next = spliced(current.text, distinct(splices))
    current = { text: next, segments: readSegments(next) }
  }
  const wrong = byDocument(changes).filter(group => !isAsPlanned(segments, current.segments, group))
  if (wrong.length === 0) return { text: current.text }
  return { failed: new Map(wrong.flat().map(change => [change, hasAlias(segments, change) ? 'shared' : 'unwritable'])) }
}

function byDocument(changes: readonly Change[]): readonly (readonly Change[])[] {
  const groups = new Map<string, Change[]>()
  for (const change of changes) {
    const key = `${change.segment}/${change.document}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [change])
    else group.push(change)
  }
  return [...groups.values()]
}

function splicesOf(segments: readonly Segment[], change: Change, edits: readonly Edit[]): readonly Splice[] | null {
  const segment = segments[change.segment]
  const document = segment?.documents[change.document]
  if (segment === undefined || document === undefined) return null
  const splices = splicesFor(segment.text, document, change.base, edits)
  if (splices === null) return null
  return splices.map(({ start, end, text }) => ({ start: start + segment.offset, end: end + segment.offset, text }))
}

function hasAlias(segments: readonly Segment[], { segment, document }: Change): boolean {
  let found = false
  visit(segments[segment]?.documents[document] ?? null, {
    Alias: () => {
      found = true
      return visit.BREAK
    },
  })
  return found
}

/** Two containers that share their `env` through an alias ask for the same at the same place. */
function distinct(splices: readonly Splice[]): readonly Splice[] {
  return [...new Map(splices.map(splice => [`${splice.start}:${splice.end}:${splice.text}`, splice])).values()]
}

/** All changes of one document. */
function isAsPlanned(before: readonly Segment[], after: readonly Segment[], changes: readonly Change[]): boolean {
  const documentIn = (segments: readonly Segment[]) => {
    const [{ segment, document } = { segment: -1, document: -1 }] = changes
    return segments[segment]?.documents[document]
  }
  const old = documentIn(before)
  const made = documentIn(after)
  if (old === undefined || made === undefined || made.errors.length > 0) return false
  const copies = new Set<unknown>()
  const planned = changes.reduce<unknown>(
    (value, { base, rounds }) => withValue(value, base, pod => rounds.reduce(applyEdits, pod as Pod), copies),
    valueOf(old),
  )
  return isDeepStrictEqual(valueOf(made), planned)
}
