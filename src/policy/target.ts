import type { TargetSnapshot } from '../core/snapshot.js'

const SHAPE = /^(https?):\/\/(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?(\/[^?#]*)?$/

/** An absolute http(s) URL without credentials, query and fragment → its parts, or why it cannot be called. */
export function parseTarget(text: string): TargetSnapshot | { readonly error: string } {
  const [, scheme, , digits, path = ''] = SHAPE.exec(text) ?? []
  if (scheme === undefined) return { error: 'is not an http or https URL' }
  if (digits !== undefined && (Number(digits) < 1 || Number(digits) > 65_535)) {
    return { error: `has the port ${digits}: a port is a number from 1 to 65535` }
  }
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) return { error: 'has a host that is neither a name nor an IP address' }
  if (/(^|\/)\.{1,2}(\/|$)/.test(path)) return { error: 'has a base path with . or .. as a segment' }
  // It goes into the request line as it stands (RFC 3986 §2).
  if (/[^!-~]/.test(path)) return { error: 'has a base path with a character that a URL can only have percent-encoded' }
  const protocol = scheme === 'https' ? 'https:' : 'http:'
  return Object.freeze({
    protocol,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(url.port),
    authority: url.host,
    // As written: the path of a URL object may be encoded anew.
    basePath: path.replace(/\/+$/, ''),
  })
}
