import type { RawHeaders } from '../pipeline/ports.js'

export const NO_HEADERS: RawHeaders = []

/**
 * Names and values as latin1 strings. The parser's pieces are views of one read, so the span they lie in is decoded
 * once and cut up; a head that came in several reads is decoded piece by piece.
 */
export function decodeHeaders(pieces: readonly Buffer[]): RawHeaders {
  const count = pieces.length
  const first = pieces[0]
  const last = pieces[count - 1]
  if (first === undefined || last === undefined) return NO_HEADERS
  const memory = first.buffer
  const start = first.byteOffset
  const headers = new Array<string>(count)
  let text: string | null = null
  let end = start
  for (const piece of pieces) {
    if (piece.buffer !== memory || piece.byteOffset < end) return pieces.map(one => one.toString('latin1'))
    end = piece.byteOffset + piece.length
  }
  text = Buffer.from(memory, start, end - start).toString('latin1')
  for (let at = 0; at < count; at++) {
    const piece = pieces[at] as Buffer
    const from = piece.byteOffset - start
    headers[at] = text.substring(from, from + piece.length)
  }
  return headers
}

/** Host first, then the app's fields, then ours in place of equally named ones, then the length. */
export function requestHeaders(host: string, app: RawHeaders, set: RawHeaders, contentLength: number | null): string[] {
  const headers = ['Host', host]
  for (let at = 0; at < app.length; at += 2) {
    const name = app[at] as string
    if (set.length > 0 && includesName(set, name)) continue
    headers.push(name, app[at + 1] as string)
  }
  for (const item of set) headers.push(item)
  if (contentLength !== null) headers.push('Content-Length', String(contentLength))
  return headers
}

function includesName(headers: RawHeaders, name: string): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    const other = headers[at] as string
    if (other.length === name.length && (other === name || other.toLowerCase() === name.toLowerCase())) return true
  }
  return false
}

/** Anything but visible ASCII, blank and tab. */
const UNUSUAL = /[^\t\x20-\x7e]/

/** The reason phrase, which undici decodes as UTF-8, back in latin1. */
export function statusPhrase(text: string): string {
  if (!UNUSUAL.test(text)) return text
  // Control characters cannot be sent on.
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '')
}
