/**
 * Which fields pass a proxy (RFC 9110 §7.6.1). Lists are flat (name, value …); name case, value bytes, order and
 * duplicates stay as they came.
 */
import type { RawHeaders } from '../pipeline/ports.js'

/** Fields that a `Connection` field cannot take away: routing, framing and the bounds of loops hang on them; so do ours. */
const NEVER_NOMINATED = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'via'])

const LENGTH: ReadonlySet<string> = new Set(['content-length'])
const TRAILER: ReadonlySet<string> = new Set(['trailer'])
const LENGTH_AND_TRAILER: ReadonlySet<string> = new Set(['content-length', 'trailer'])

/**
 * Names (lower case) that the `Connection` fields nominate as hop-by-hop, or `null` when there are none.
 * `keep-alive`, `close` and the protected names are left out.
 */
export function nominatedFields(raw: RawHeaders): ReadonlySet<string> | null {
  let nominated: Set<string> | null = null
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue
    const value = raw[i + 1] as string
    if (value === 'keep-alive' || value === 'close') continue
    for (const token of value.split(',')) {
      const field = token.trim().toLowerCase()
      if (field === '' || field === 'keep-alive' || field === 'close') continue
      if (NEVER_NOMINATED.has(field) || isOurs(field)) continue
      nominated ??= new Set()
      nominated.add(field)
    }
  }
  return nominated
}

/** The list without the named fields (lower case). */
export function withoutFields(raw: RawHeaders, names: ReadonlySet<string>): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string
    if (!names.has(name.toLowerCase())) kept.push(name, raw[i + 1] as string)
  }
  return kept
}

/**
 * Fields of a request for the next hop, `Via` added. Host and framing are left out because they are made anew, `Expect` because it
 * has been answered, `Trailer` because request trailers are not forwarded. `via` = the whole field value.
 */
export function forwardRequestHeaders(raw: RawHeaders, via: string): string[] {
  const nominated = nominatedFields(raw)
  const source = nominated === null ? raw : withoutFields(raw, nominated)
  const kept: string[] = []
  for (let i = 0; i + 1 < source.length; i += 2) {
    const name = source[i] as string
    if (!isHopByHop(name) && !isRequestFraming(name) && !isOurs(name)) kept.push(name, source[i + 1] as string)
  }
  kept.push('Via', via)
  return kept
}

export interface ResponseFraming {
  /** `keep`: the upstream's `Content-Length` stays. `drop`: the caller declares the length. */
  readonly length: 'keep' | 'drop'
  /** A body without a declared length will be chunked, so announced trailers can follow it. */
  readonly canChunk: boolean
}

/** Fields of an upstream response for the app, `Via` added; of the `forbear-*` fields only `forbear-exhausted` passes a layer. */
export function forwardResponseHeaders(raw: RawHeaders, via: string, framing: ResponseFraming): string[] {
  const nominated = nominatedFields(raw)
  const source = nominated === null ? raw : withoutFields(raw, nominated)
  const kept: string[] = []
  let hasLength = false
  let hasTrailer = false
  let codings = false
  for (let i = 0; i + 1 < source.length; i += 2) {
    const name = source[i] as string
    if (isHopByHop(name)) {
      codings ||= name.length === 17
      continue
    }
    if (isOurs(name) && name.toLowerCase() !== 'forbear-exhausted') continue
    hasLength ||= name.length === 14 && name.toLowerCase() === 'content-length'
    hasTrailer ||= name.length === 7 && name.toLowerCase() === 'trailer'
    kept.push(name, source[i + 1] as string)
  }
  // Transfer-Encoding overrides Content-Length (RFC 9112 §6.3), and the coding ends here.
  const dropLength = hasLength && (codings || framing.length === 'drop')
  const dropTrailer = hasTrailer && (!framing.canChunk || (hasLength && !dropLength))
  const unwanted = dropLength && dropTrailer ? LENGTH_AND_TRAILER : dropLength ? LENGTH : TRAILER
  const fields = dropLength || dropTrailer ? withoutFields(kept, unwanted) : kept
  fields.push('Via', via)
  return fields
}

/** Fields that cannot stand in a trailer section (RFC 9110 §6.5.1) or are not end-to-end are left out. */
export function forwardTrailers(raw: RawHeaders): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string
    if (isHopByHop(name) || isRequestFraming(name) || isOurs(name)) continue
    kept.push(name, raw[i + 1] as string)
  }
  return kept
}

function isHopByHop(name: string): boolean {
  switch (name.length) {
    case 2:
      return name.toLowerCase() === 'te'
    case 7:
      return name.toLowerCase() === 'upgrade'
    case 10:
      return isConnectionOrKeepAlive(name.toLowerCase())
    case 14:
      return name.toLowerCase() === 'http2-settings'
    case 16:
      return name.toLowerCase() === 'proxy-connection'
    case 17:
      return name.toLowerCase() === 'transfer-encoding'
    // Single hop by their own sections: RFC 9110 §11.7.
    case 18:
      return name.toLowerCase() === 'proxy-authenticate'
    case 19:
      return name.toLowerCase() === 'proxy-authorization'
    default:
      return false
  }
}

function isConnectionOrKeepAlive(lower: string): boolean {
  return lower === 'connection' || lower === 'keep-alive'
}

function isRequestFraming(name: string): boolean {
  switch (name.length) {
    case 4:
      return name.toLowerCase() === 'host'
    case 6:
      return name.toLowerCase() === 'expect'
    case 7:
      return name.toLowerCase() === 'trailer'
    case 14:
      return name.toLowerCase() === 'content-length'
    default:
      return false
  }
}

function isOurs(name: string): boolean {
  const first = name.charCodeAt(0) | 0x20
  return first === 0x66 && name.length > 8 && name.slice(0, 8).toLowerCase() === 'forbear-'
}
