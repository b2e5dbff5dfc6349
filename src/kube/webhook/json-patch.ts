/** JSON Patch (RFC 6902) from one JSON value to another. */
import { isDeepStrictEqual } from 'node:util'

export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

type Mapping = Readonly<Record<string, unknown>>

/** In the order in which they must be applied. Items of lists stay where they are: only what is new is added, by its index. */
export function jsonPatch(before: unknown, after: unknown, path = ''): PatchOperation[] {
  if (before === after) return []
  if (Array.isArray(before) && Array.isArray(after)) return listPatch(before, after, path)
  if (isMapping(before) && isMapping(after)) return mappingPatch(before, after, path)
  return [{ op: 'replace', path, value: after }]
}

function mappingPatch(before: Mapping, after: Mapping, path: string): PatchOperation[] {
  const removed = Object.keys(before).filter(key => !Object.hasOwn(after, key))
  return [
    ...removed.map(key => ({ op: 'remove', path: below(path, key) }) as const),
    ...Object.entries(after).flatMap(([key, value]): PatchOperation[] =>
      Object.hasOwn(before, key)
        ? jsonPatch(before[key], value, below(path, key))
        : [{ op: 'add', path: below(path, key), value }],
    ),
  ]
}

/** One walk through both: `index` is where the list, patched so far, and `after` have come to. */
function listPatch(before: readonly unknown[], after: readonly unknown[], path: string): PatchOperation[] {
  const operations: PatchOperation[] = []
  let old = 0
  for (const [index, value] of after.entries()) {
    const place = below(path, String(index))
    // What stands further on in `after` was kept: everything before it that is not `value` goes.
    while (
      old < before.length &&
      !isSame(before[old], value) &&
      !after.slice(index).some(one => isSame(before[old], one))
    ) {
      operations.push({ op: 'remove', path: place })
      old += 1
    }
    if (old < before.length && isSame(before[old], value)) {
      operations.push(...jsonPatch(before[old], value, place))
      old += 1
    } else operations.push({ op: 'add', path: place, value })
  }
  const end = below(path, String(after.length))
  for (; old < before.length; old += 1) operations.push({ op: 'remove', path: end })
  return operations
}

/** Containers, volumes, ports and variables are who their name says. */
function isSame(one: unknown, other: unknown): boolean {
  if (isMapping(one) && isMapping(other)) {
    const name = nameOf(one)
    if (name !== undefined || nameOf(other) !== undefined) return name === nameOf(other)
  }
  return isDeepStrictEqual(one, other)
}

function nameOf(item: Mapping): unknown {
  return Object.hasOwn(item, 'name') ? item['name'] : undefined
}

/** RFC 6901. */
function below(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
