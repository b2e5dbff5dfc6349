/** Reading of flat header lists (name, value, name, value …) as they come from the wire. */

const NONE: readonly string[] = Object.freeze([])

/** `name` equals `lowerName` in any case; allocates nothing. Field names are ASCII (RFC 9110 §5.1). */
export function isHeaderName(name: string, lowerName: string): boolean {
  const length = lowerName.length
  if (name.length !== length) return false
  for (let i = 0; i < length; i++) {
    const code = name.charCodeAt(i)
    const lower = code >= 65 && code <= 90 ? code + 32 : code
    if (lower !== lowerName.charCodeAt(i)) return false
  }
  return true
}

/** Without the blanks (space and tab, RFC 9110 §5.6.3) around it; other white space is part of a value. */
function trimBlanks(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return start === 0 && end === value.length ? value : value.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

/** The first field's value without surrounding blanks, or `undefined` when there is none. */
export function headerValue(raw: readonly string[], lowerName: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (isHeaderName(raw[i]!, lowerName)) return trimBlanks(raw[i + 1]!)
  }
  return undefined
}

/** The values of all fields of this name, in order, without surrounding blanks. */
export function headerValues(raw: readonly string[], lowerName: string): readonly string[] {
  let values: string[] | null = null
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (!isHeaderName(raw[i]!, lowerName)) continue
    values ??= []
    values.push(trimBlanks(raw[i + 1]!))
  }
  return values ?? NONE
}
