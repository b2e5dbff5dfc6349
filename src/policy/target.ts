import type { TargetSnapshot } from '../core/snapshot.js'

export type ParsedTarget = TargetSnapshot | { readonly error: string }

const SHAPE = /^(https?):\/\/(\[[^\]]*\]|[^:/?#]+)(?::(\d+))?(\/[^?#]*)?$/
/** As nginx writes it: the socket file ends at the second colon. */
const UNIX_SHAPE = /^(https?):\/\/unix:(\/[^:?#]*)(?::(\/[^?#]*))?$/
const NO_SOCKET = 'names no socket file: write http://unix:/run/app.sock, and a base path after a second colon'
/** Of `sockaddr_un` on Linux, without the final zero. */
const MAX_SOCKET_PATH_BYTES = 107

/** An absolute http(s) URL without credentials, query and fragment → its parts, or why it cannot be called. */
export function parseTarget(text: string): ParsedTarget {
  const unix = UNIX_SHAPE.exec(text)
  if (unix !== null) return unixTarget(unix[1] === 'https', unix[2] ?? '', unix[3] ?? '')
  if (/^https?:\/\/unix:(?!\d)/.test(text)) return { error: NO_SOCKET }
  const [, scheme, , digits, path = ''] = SHAPE.exec(text) ?? []
  if (scheme === undefined) return { error: 'is not an http or https URL' }
  if (digits !== undefined && (Number(digits) < 1 || Number(digits) > 65_535)) {
    return { error: `has the port ${digits}: a port is a number from 1 to 65535` }
  }
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) return { error: 'has a host that is neither a name nor an IP address' }
  const fault = basePathFault(path)
  if (fault !== null) return { error: fault }
  const protocol = scheme === 'https' ? 'https:' : 'http:'
  return Object.freeze({
    protocol,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(url.port),
    authority: url.host,
    // As written: the path of a URL object may be encoded anew.
    basePath: withoutSlashes(path),
  })
}

function unixTarget(secure: boolean, socketPath: string, path: string): ParsedTarget {
  if (socketPath.endsWith('/')) return { error: NO_SOCKET }
  const bytes = Buffer.byteLength(socketPath)
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    return { error: `has a socket path of ${bytes} bytes: the system takes ${MAX_SOCKET_PATH_BYTES}` }
  }
  const fault = basePathFault(path)
  if (fault !== null) return { error: fault }
  return Object.freeze({
    protocol: secure ? 'https:' : 'http:',
    hostname: 'localhost',
    port: secure ? 443 : 80,
    authority: 'localhost',
    basePath: withoutSlashes(path),
    socketPath,
  })
}

function basePathFault(path: string): string | null {
  if (/(^|\/)\.{1,2}(\/|$)/.test(path)) return 'has a base path with . or .. as a segment'
  // It goes into the request line as it stands (RFC 3986 §2).
  return /[^!-~]/.test(path) ? 'has a base path with a character that a URL can only have percent-encoded' : null
}

function withoutSlashes(path: string): string {
  return path.replace(/\/+$/, '')
}
