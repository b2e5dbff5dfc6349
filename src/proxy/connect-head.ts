/** Reads the head of a CONNECT (RFC 9110 §9.3.6, RFC 9112 §3.2.3). */
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { type BadHead, hostFault } from './request-head.js'

export interface ConnectHead {
  /** `host:port`, lower case, IPv6 in brackets. */
  readonly authority: string
}

const NAME_AND_PORT = /^[a-z\d](?:[a-z\d._-]*[a-z\d])?\.?:(\d{1,5})$/
const IPV6_AND_PORT = /^\[([\da-f:.]+)\]:(\d{1,5})$/

export function readConnectHead(request: IncomingMessage): ConnectHead | BadHead {
  const fault = hostFault(request)
  if (fault !== null) return { problem: fault }
  const { headers } = request
  const length = headers['content-length']
  // What follows the head belongs to the tunnel; a framing of it would be read by some and not by others.
  if (headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')) {
    return { problem: 'a CONNECT request cannot have a body' }
  }
  const authority = (request.url ?? '').toLowerCase()
  const port = portOf(authority)
  if (port === null) return { problem: 'the target of a CONNECT is a host and a port, such as api.example.com:443' }
  if (port < 1 || port > 65_535) return { problem: `the port ${port} of the CONNECT is not from 1 to 65535` }
  return { authority }
}

function portOf(authority: string): number | null {
  const [, ipv6, bracketed] = IPV6_AND_PORT.exec(authority) ?? []
  if (ipv6 !== undefined) return isIPv6(ipv6) ? Number(bracketed) : null
  const digits = NAME_AND_PORT.exec(authority)?.[1]
  return digits === undefined ? null : Number(digits)
}
