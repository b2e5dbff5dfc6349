import { headerValue } from './headers.js'

/** RFC 9110 §9.2.2. */
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
/** RFC 9110 §9.2.1: nothing happens upstream, so a key on them means nothing. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/**
 * Why a request may be sent again after its bytes have gone out. `keyed` carries the lower-case name of the header that
 * the app set; `generate`: we add one key under the first of `keyHeaders`, the same on all attempts; `none`: it may not.
 */
export type Repeatability =
  | { readonly kind: 'idempotent' }
  | { readonly kind: 'keyed'; readonly header: string }
  | { readonly kind: 'generate' }
  | { readonly kind: 'none' }

export interface IdempotencySettings {
  /** Lower case. */
  readonly keyHeaders: readonly string[]
  readonly generate: boolean
}

const IDEMPOTENT: Repeatability = Object.freeze({ kind: 'idempotent' })
const GENERATE: Repeatability = Object.freeze({ kind: 'generate' })
const NONE: Repeatability = Object.freeze({ kind: 'none' })

/**
 * @param method as on the wire; methods are case-sensitive (RFC 9110 §9.1)
 * @param headers the app's, flat
 */
export function repeatability(
  method: string,
  headers: readonly string[],
  settings: IdempotencySettings,
): Repeatability {
  if (SAFE_METHODS.has(method)) return IDEMPOTENT
  for (const header of settings.keyHeaders) {
    if (hasKey(headerValue(headers, header))) return { kind: 'keyed', header }
  }
  if (IDEMPOTENT_METHODS.has(method)) return IDEMPOTENT
  return settings.generate && settings.keyHeaders.length > 0 ? GENERATE : NONE
}

/** It asks for no change (RFC 9110 §9.2.1). */
export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method)
}

/** May be sent again although the upstream may have acted on it. */
export function repeatable(kind: Repeatability['kind']): boolean {
  return kind !== 'none'
}

/**
 * Whether the policy of now still lets a request be repeated whose attempts carried the app's `headers` and our own key,
 * if any, in `mintedHeader`: a key that it has added since is in none of them.
 */
export function stillRepeatable(
  method: string,
  headers: readonly string[],
  mintedHeader: string | null,
  now: IdempotencySettings,
): boolean {
  const { kind } = repeatability(method, headers, now)
  return kind === 'generate' ? mintedHeader !== null && now.keyHeaders.includes(mintedHeader) : repeatable(kind)
}

/** Clients send the key bare or, as the draft wants it, as a quoted string; both may be empty. */
function hasKey(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '""'
}
