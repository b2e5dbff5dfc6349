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

/** A copy in which `path`, whose parent exists, has another value. */
export function withValue(root: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return change(root)
  if (isList(root)) return root.map((item, index) => (index === step ? withValue(item, rest, change) : item))
  const fields = isFields(root) ? root : {}
  return { ...fields, [step]: withValue(fields[step], rest, change) }
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
