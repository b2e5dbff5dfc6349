import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'

/**
 * A whole body without its content codings (RFC 9110 §8.4); `null` = coded in a way that is not known, broken, or larger
 * than `maxBytes` at any stage, as bombs are.
 * @param codings value of `Content-Encoding`, in the order in which they were applied
 */
export function decodeBody(body: Uint8Array, codings: string, maxBytes: number): Uint8Array | null {
  const names = codings.split(',').map(name => name.trim().toLowerCase())
  let decoded: Uint8Array | null = body
  for (const name of names.reverse()) {
    if (name === '' || name === 'identity') continue
    decoded = decoded === null ? null : without(name, decoded, maxBytes)
  }
  return decoded !== null && decoded.length <= maxBytes ? decoded : null
}

function without(coding: string, body: Uint8Array, maxOutputLength: number): Uint8Array | null {
  try {
    switch (coding) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(body, { maxOutputLength })
      case 'deflate':
        return inflated(body, maxOutputLength)
      case 'br':
        return brotliDecompressSync(body, { maxOutputLength })
      default:
        return null
    }
  } catch {
    return null
  }
}

/** Some send it without its zlib wrapper (RFC 9110 §8.4.1.2); the first byte of one says 8 in its lower half. */
function inflated(body: Uint8Array, maxOutputLength: number): Uint8Array {
  const wrapped = ((body[0] ?? 0) & 0x0f) === 8
  return wrapped ? inflateSync(body, { maxOutputLength }) : inflateRawSync(body, { maxOutputLength })
}
