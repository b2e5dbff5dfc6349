import type { Pod } from './apply-edits.js'
import { at } from './fields.js'
import type { RecordEntry } from './record.js'
import type { Edit, Fields, Path, SidecarPosition } from './types.js'

/** What is to be added to one collection, which may not be there yet. */
export interface Addition {
  readonly path: Path
  /** The same place by names instead of indexes, as the record has it. */
  readonly place: string
  readonly names: readonly string[]
  readonly content: { readonly items: readonly unknown[]; readonly at: SidecarPosition } | { readonly entries: Fields }
}

export function editsOf(pod: Pod, additions: readonly Addition[]): readonly Edit[] {
  return joined(additions.map(addition => editOf(pod, addition)))
}

function editOf(pod: Pod, { path, content }: Addition): Edit {
  const gap = gapIn(pod, path)
  if (gap === null)
    return 'items' in content ? { op: 'add-items', path, ...content } : { op: 'add-entries', path, ...content }
  const value = nested(path.slice(gap.depth), 'items' in content ? content.items : content.entries)
  if (gap.isNull) return { op: 'fill', path: path.slice(0, gap.depth), value }
  return { op: 'add-entries', path: path.slice(0, gap.depth - 1), entries: { [String(path[gap.depth - 1])]: value } }
}

/** One collection gets one edit. */
function joined(edits: readonly Edit[]): readonly Edit[] {
  const out = new Map<string, Edit>()
  for (const edit of edits) {
    const key = `${edit.op}:${edit.path.join('/')}`
    const other = out.get(key)
    const entries = other?.op === 'add-entries' && edit.op === 'add-entries' && { ...other.entries, ...edit.entries }
    out.set(key, entries ? { op: 'add-entries', path: edit.path, entries } : edit)
  }
  return [...out.values()]
}

export function recordEntry(pod: Pod, addition: Addition, nulls: ReadonlyMap<string, string>): RecordEntry {
  const { path, place, names } = addition
  const gap = gapIn(pod, path)
  if (gap === null) return { in: place, names }
  const made = path.length - gap.depth + 1
  if (!gap.isNull) return { in: place, names, new: made }
  const filled = place.split('/').slice(0, gap.depth).join('/')
  return { in: place, names, new: made, null: nulls.get(filled) ?? 'null' }
}

/** The first thing on the way that is absent or null. */
function gapIn(pod: Pod, path: Path): { readonly depth: number; readonly isNull: boolean } | null {
  for (let depth = 1; depth <= path.length; depth++) {
    const value = at(pod, path.slice(0, depth))
    if (value === undefined || value === null) return { depth, isNull: value === null }
  }
  return null
}

function nested(steps: Path, value: unknown): unknown {
  return steps.reduceRight((inner, step) => ({ [step]: inner }), value)
}
