import type { RawHeaders } from '../pipeline/ports.js'

const NO_HEADERS: RawHeaders = []

/** `latin1Slice` is what `toString('latin1')` ends in, at two thirds of the cost; Node's types leave it out. */
type Piece = Buffer & { latin1Slice(): string }

/** The parser's pieces, names and values in turn, as strings. */
export function decodeHeaders(pieces: readonly Buffer[]): RawHeaders {
  const count = pieces.length
  if (count === 0) return NO_HEADERS
  const headers = new Array<string>(count)
  for (let at = 0; at < count; at++) headers[at] = (pieces[at] as Piece).latin1Slice()
  return headers
}

/** A `Transfer-Encoding` that is not `chunked` alone. */
export function hasForeignCoding(headers: RawHeaders): boolean {
  let chunked = false
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (name.length !== 17 || name.toLowerCase() !== 'transfer-encoding') continue
    if (chunked || (headers[at + 1] as string).trim().toLowerCase() !== 'chunked') return true
    chunked = true
  }
  return false
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
