import type { Fields, Path } from './types.js'

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** The items of a list that are objects; what is no list has none. */
export function fieldsIn(value: unknown): readonly Fields[] {
  return isList(value) ? value.filter(isFields) : []
}

/** Absent: `undefined`. A name that every object inherits is absent, too. */
export function at(root: unknown, path: Path): unknown {
  let value = root
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Readonly<Record<string | number, unknown>>)[step]
  }
  return value
}

/**
 * A copy in which `path`, whose parent exists, has another value. What is in `copies` was copied before and is changed
 * in place: a list of many items is copied once, not for each of them.
 */
export function withValue(
  root: unknown,
  path: Path,
  change: (old: unknown) => unknown,
  copies = new Set<unknown>(),
): unknown {
  const [step, ...rest] = path
  if (step === undefined) return change(root)
  if (isList(root) && (typeof step !== 'number' || step >= root.length)) return root
  const copy = (copies.has(root) ? root : isList(root) ? [...root] : { ...(isFields(root) ? root : {}) }) as Mutable
  copies.add(copy)
  copy[step] = withValue(copy[step], rest, change, copies)
  return copy
}

type Mutable = Record<string | number, unknown>

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
