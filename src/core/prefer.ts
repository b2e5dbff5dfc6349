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
  for (const preference of preferences(headers)) {
    if (!/^\s*wait\s*(?:[=;]|$)/i.test(preference)) continue
    const [, quoted, plain] = WAIT.exec(preference) ?? []
    const seconds = quoted ?? plain
    return seconds === undefined ? null : Math.min(Number.MAX_SAFE_INTEGER, Number(seconds) * 1000)
  }
  return null
}

/** `respond-async` among the preferences (RFC 7240 §4.1), in any case, with or without parameters. */
export function prefersAsync(headers: readonly string[]): boolean {
  return preferences(headers).some(preference => /^\s*respond-async\s*(?:[;=]|$)/i.test(preference))
}

function preferences(headers: readonly string[]): readonly string[] {
  const values = headerValues(headers, 'prefer')
  return values.length === 0 ? [] : (values.join(',').match(PREFERENCE) ?? [])
}
