/** Checks and reads what the parser leaves to us: request target, Host, framing. */
import type { IncomingMessage } from 'node:http'
import { isHeaderName } from '../core/headers.js'
import type { RawHeaders } from '../pipeline/ports.js'

export interface RequestHead {
  /** Origin form, bytes as sent; `/` when an absolute form has no path. */
  readonly path: string
  /** `host[:port]` of an absolute-form target. */
  readonly authority: string | null
  /** The Host field. */
  readonly host: string | undefined
  readonly forbearUpstream: string | undefined
  /** Declared length; `null` = chunked or none. */
  readonly contentLength: number | null
  readonly hasBody: boolean
}

/** Why a head cannot be served, for the answer's `detail`. */
export interface BadHead {
  readonly problem: string
}

const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])(?::\d{0,5})?$/

export function readRequestHead(request: IncomingMessage): RequestHead | BadHead {
  if (request.httpVersionMajor !== 1) return bad(`HTTP/${request.httpVersion} is not spoken here, use HTTP/1.1`)
  const headers = request.headers
  const fault = hostFault(request)
  if (fault !== null) return bad(fault)
  const codings = headers['transfer-encoding']
  if (codings !== undefined) {
    if (codings.toLowerCase() !== 'chunked') return bad('the only Transfer-Encoding served is chunked')
    // RFC 9112 §6.1: the framing of such a message cannot be trusted.
    if (request.httpVersionMinor === 0) return bad('Transfer-Encoding is not part of HTTP/1.0')
  }
  const target = readTarget(request.url ?? '')
  if ('problem' in target) return target
  const length = headers['content-length']
  const contentLength = length === undefined ? null : Number(length)
  if (contentLength !== null && !Number.isSafeInteger(contentLength)) return bad('the Content-Length is too large')
  const upstream = headers['forbear-upstream']
  return {
    path: target.path,
    authority: target.authority,
    host: headers.host,
    forbearUpstream: typeof upstream === 'string' ? upstream : undefined,
    contentLength,
    hasBody: codings !== undefined || (contentLength !== null && contentLength > 0),
  }
}

/** RFC 9112 §3.2: exactly one, in every request. */
export function hostFault({ headers: { host }, httpVersionMinor, rawHeaders }: IncomingMessage): string | null {
  if (host === undefined) return httpVersionMinor > 0 ? 'the Host field is missing' : null
  if (host !== '' && !AUTHORITY.test(host)) return 'the Host field is not a host with an optional port'
  return occurrences(rawHeaders, 'host') > 1 ? 'there is more than one Host field' : null
}

function readTarget(target: string): { path: string; authority: string | null } | BadHead {
  // RFC 9112 §3.2: none of the forms has one; an upstream might read it as part of the path.
  if (target.includes('#')) return bad('the request target has a fragment')
  if (target.charCodeAt(0) === 0x2f) return { path: target, authority: null }
  if (target === '*') return bad('a request for * concerns this proxy, not an upstream, and is not served')
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(target)
  if (scheme === null) return bad('the request target is neither a path nor a URL')
  if (scheme[1]?.toLowerCase() !== 'http') {
    return bad('the scheme of the request target is not http; the upstream policy decides about TLS')
  }
  const rest = target.slice(scheme[0].length)
  const end = rest.search(/[/?]/)
  const authority = end === -1 ? rest : rest.slice(0, end)
  if (!AUTHORITY.test(authority)) return bad('the authority of the request target is not a host with an optional port')
  const path = end === -1 ? '' : rest.slice(end)
  return { path: path.startsWith('/') ? path : `/${path}`, authority }
}

function occurrences(raw: RawHeaders, name: string): number {
  let count = 0
  for (let i = 0; i < raw.length; i += 2) {
    if (isHeaderName(raw[i] as string, name)) count += 1
  }
  return count
}

function bad(problem: string): BadHead {
  return { problem }
}
