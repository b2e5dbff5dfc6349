import { isFields, isList } from './fields.js'

/**
 * Whether everything of `wanted` stands in `present`, in the same order. An API server fills in defaults and mounts a
 * token: those are no reason to write the same once more.
 */
export function covers(present: unknown, wanted: unknown): boolean {
  if (isList(wanted)) return isList(present) && coversInOrder(present, wanted)
  if (!isFields(wanted)) return Object.is(present, wanted)
  return (
    isFields(present) &&
    Object.entries(wanted).every(([key, value]) => Object.hasOwn(present, key) && covers(present[key], value))
  )
}

function coversInOrder(present: readonly unknown[], wanted: readonly unknown[]): boolean {
  let next = 0
  return wanted.every(item => {
    while (next < present.length && !covers(present[next], item)) next++
    return next++ < present.length
  })
}
