import { headerValues } from './headers.js'

/** A preference with what follows it up to the next comma; commas in quotes part nothing (RFC 7240 §2). */
const PREFERENCE = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/gs
const WAIT = /^\s*wait\s*=\s*(?:"(\d+)"|(\d+))\s*(?:;|$)/i

/**
 * How long the app of `Prefer: wait=N` would have its answer waited for, ms (RFC 7240 §4.3); `null` = it does not say, or
 * not in digits. Of several the first counts.
 * @param headers the app's, flat
 */
export function preferredWaitMs(headers: readonly string[]): number | null {
  const values = headerValues(headers, 'prefer')
  if (values.length === 0) return null
  for (const preference of values.join(',').match(PREFERENCE) ?? []) {
    if (!/^\s*wait\s*(?:[=;]|$)/i.test(preference)) continue
    const [, quoted, plain] = WAIT.exec(preference) ?? []
    const seconds = quoted ?? plain
    return seconds === undefined ? null : Math.min(Number.MAX_SAFE_INTEGER, Number(seconds) * 1000)
  }
  return null
}
