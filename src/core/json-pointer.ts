/** JSON Pointer (RFC 6901): where in a JSON document to look. */

const POINTER = /^(\/([^~/]|~[01])*)*$/s
/** No sign and no leading zero (RFC 6901 §4); `-`, the element after the last, is never there. */
const INDEX = /^(0|[1-9]\d*)$/

/** The keys on the way from the top, the escapes undone; `null` = not a pointer. `''` is the whole document. */
export function parsePointer(text: string): readonly string[] | null {
  if (!POINTER.test(text)) return null
  // `~1` first: `~01` stands for `~1`.
  const unescaped = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')
  return text.split('/').slice(1).map(unescaped)
}

/** What stands there in a parsed document; `undefined` = nothing. */
export function pointed(document: unknown, keys: readonly string[]): unknown {
  let value = document
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) && !INDEX.test(key)) return undefined
    if (!Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
