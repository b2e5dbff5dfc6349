import { isFields, isList, withValue } from './fields.js'
import type { Edit, PodMeta, PodSpec } from './types.js'

/** `{ metadata, spec }` of a pod or of a template. */
export interface Pod {
  readonly metadata?: PodMeta | null
  readonly spec: PodSpec
}

export function applyEdits(pod: Pod, edits: readonly Edit[]): Pod {
  // Paths are those before any edit: deeper ones first, so that no index has moved yet.
  const deepestFirst = [...edits].sort((a, b) => b.path.length - a.path.length)
  const copies = new Set<unknown>()
  let root: unknown = pod
  for (const edit of deepestFirst) root = withValue(root, edit.path, old => edited(old, edit), copies)
  return root as Pod
}

function edited(old: unknown, edit: Edit): unknown {
  const items = isList(old) ? old : []
  const entries = isFields(old) ? old : {}
  switch (edit.op) {
    case 'add-items':
      return edit.at === 'first' ? [...edit.items, ...items] : [...items, ...edit.items]
    case 'add-entries':
      return { ...entries, ...edit.entries }
    case 'fill':
      return edit.value
    case 'remove-items':
      return items.filter((_, index) => !edit.indexes.includes(index))
    case 'remove-entries':
      return Object.fromEntries(Object.entries(entries).filter(([key]) => !edit.keys.includes(key)))
    case 'empty':
      return null
  }
}
