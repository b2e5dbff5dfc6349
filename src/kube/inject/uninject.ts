import { applyEdits, type Pod } from './apply-edits.js'
import { at, isFields, isList, textOf } from './fields.js'
import { INJECTED_ANNOTATION } from './names.js'
import { decodeRecord, type InjectedRecord, isInjected, type RecordEntry } from './record.js'
import type { Edit, Path, PodMeta, PodSpec, UninjectResult } from './types.js'

/** The inverse of `inject`, by what it recorded: nothing that merely looks like it is taken out. */
export function uninject(podSpec: PodSpec, meta: PodMeta | null | undefined): UninjectResult {
  const asItWas = { podSpec, meta, edits: [], removed: [], problems: [] }
  if (!isInjected(meta)) return asItWas
  const record = decodeRecord(meta)
  if (record === null) return { ...asItWas, problems: [unreadable()] }
  const pod: Pod = { ...(meta === undefined ? {} : { metadata: meta }), spec: podSpec }
  const indexOf = indexByName()
  const removals = record.added.flatMap(entry => removalOf(pod, entry, indexOf))
  const edits = joined(removals.map(({ edit }) => edit))
  const { spec, metadata } = applyEdits(pod, edits)
  return { podSpec: spec, meta: metadata, edits, removed: removals.map(({ phrase }) => phrase), problems: [] }
}

/** Which collections were null before, by place. */
export function nullsOf(record: InjectedRecord | null): ReadonlyMap<string, string> {
  const nulls = new Map<string, string>()
  for (const entry of record?.added ?? []) {
    if (entry.null === undefined || entry.new === undefined) continue
    const steps = entry.in.split('/')
    nulls.set(steps.slice(0, steps.length - entry.new + 1).join('/'), entry.null)
  }
  return nulls
}

function unreadable(): UninjectResult['problems'][number] {
  return {
    path: ['metadata', 'annotations', INJECTED_ANNOTATION],
    reason: 'this is not what forbear inject wrote',
    suggestion: 'take the manifest as it was before it was injected',
  }
}

function removalOf(
  pod: Pod,
  entry: RecordEntry,
  indexOf: IndexByName,
): readonly { readonly edit: Edit; readonly phrase: string }[] {
  const path = pathOf(pod, entry.in, indexOf)
  const collection = path === null ? undefined : at(pod, path)
  if (path === null) return []
  const phrase = `${entry.names.join(', ')} from ${entry.in.replaceAll('/', '.')}`
  const edit = isList(collection)
    ? ofList(pod, path, collection, entry)
    : isFields(collection)
      ? ofMap(pod, path, collection, entry)
      : null
  return edit === null ? [] : [{ edit, phrase }]
}

function ofList(pod: Pod, path: Path, list: readonly unknown[], entry: RecordEntry): Edit | null {
  const indexes = list.flatMap((item, index) => (entry.names.includes(textOf(at(item, ['name'])) ?? '') ? [index] : []))
  if (indexes.length === 0) return null
  if (indexes.length < list.length || entry.new === undefined) return { op: 'remove-items', path, indexes }
  return withoutMade(pod, path, entry.new, entry)
}

function ofMap(pod: Pod, path: Path, map: Readonly<Record<string, unknown>>, entry: RecordEntry): Edit | null {
  const keys = Object.keys(map).filter(key => entry.names.includes(key))
  if (keys.length === 0) return null
  if (keys.length < Object.keys(map).length || entry.new === undefined) return { op: 'remove-entries', path, keys }
  return withoutMade(pod, path, entry.new, entry)
}

/** Takes out the outermost collection that was made and has nothing else in it by now. */
function withoutMade(pod: Pod, path: Path, made: number, entry: RecordEntry): Edit {
  const parent = path.slice(0, -1)
  const around = at(pod, parent)
  const alone = isFields(around) && Object.keys(around).length === 1
  if (made > 1 && alone) return withoutMade(pod, parent, made - 1, entry)
  if (made === 1 && entry.null !== undefined) return { op: 'empty', path, text: entry.null }
  return { op: 'remove-entries', path: parent, keys: [String(path.at(-1))] }
}

/** `spec/containers/web/env` → indexes for names. */
function pathOf(pod: Pod, place: string, indexOf: IndexByName): Path | null {
  const path: (string | number)[] = []
  for (const step of place.split('/')) {
    const value = at(pod, path)
    const index = isList(value) ? indexOf(value, step) : step
    if (index === undefined) return null
    path.push(index)
  }
  return path
}

type IndexByName = (list: readonly unknown[], name: string) => number | undefined

/** Of the first item that is called so; no list is gone through for each of its items. */
function indexByName(): IndexByName {
  const known = new Map<readonly unknown[], ReadonlyMap<unknown, number>>()
  return (list, name) => {
    const indexes =
      known.get(list) ?? new Map(list.map((item, index) => [at(item, ['name']), index] as const).reverse())
    known.set(list, indexes)
    return indexes.get(name)
  }
}

/** One collection gets one edit. */
function joined(edits: readonly Edit[]): readonly Edit[] {
  const out = new Map<string, Edit>()
  for (const edit of edits) {
    const key = `${edit.op}:${edit.path.join('/')}`
    const other = out.get(key)
    const keys = other?.op === 'remove-entries' && edit.op === 'remove-entries' ? [...other.keys, ...edit.keys] : null
    out.set(key, keys === null ? edit : { op: 'remove-entries', path: edit.path, keys })
  }
  return [...out.values()]
}
