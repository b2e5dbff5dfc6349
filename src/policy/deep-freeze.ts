/** Freezes plain data in place, what Maps and Sets hold included; what is frozen already is taken to be so all through. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  if (value instanceof Map || value instanceof Set) for (const entry of value.values()) deepFreeze(entry)
  else for (const entry of Object.values(value)) deepFreeze(entry)
  return value
}
