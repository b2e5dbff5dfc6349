/**
 * `HOST:PORT` as flags and policies write it. `localhost` means both loopback addresses: apps differ in which
 * of the two they try first.
 */

export interface ListenAddress {
  /** Addresses to bind, without brackets. */
  readonly hosts: readonly string[]
  /** 0 = any free one. */
  readonly port: number
}

export type ListenAddressResult = ListenAddress | { readonly error: string }

const SHAPE = /^(?:\[([0-9a-f:.]+)\]|([^[\]:\s/@]+)):(\d{1,5})$/i
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const IPV6_LOOPBACK = /^[0:]*:0*1$/
const WANTED = 'write HOST:PORT: localhost:15080, 127.0.0.1:15080, [::1]:15080 or 0.0.0.0:15080'

export function parseListenAddress(text: string): ListenAddressResult {
  const [, ipv6, name, digits] = SHAPE.exec(text) ?? []
  if (digits === undefined) return { error: `"${text}" is not an address to listen on; ${WANTED}` }
  const port = Number(digits)
  if (port > 65_535) return { error: `port ${port} in "${text}" is above 65535` }
  if (ipv6 !== undefined) {
    return isIpv6(ipv6) ? { hosts: [ipv6], port } : { error: `"${ipv6}" in "${text}" is not an IPv6 address` }
  }
  if (name?.toLowerCase() === 'localhost') return { hosts: ['127.0.0.1', '::1'], port }
  if (name !== undefined && IPV4.test(name)) return { hosts: [name], port }
  return { error: `"${name}" in "${text}" is neither localhost nor an IP address; ${WANTED}` }
}

/** An address that only this host can reach. */
export function isLoopback(host: string): boolean {
  return (host.startsWith('127.') && IPV4.test(host)) || IPV6_LOOPBACK.test(host)
}

/** `host:port` with brackets around IPv6. */
export function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function isIpv6(text: string): boolean {
  const [head, tail, more] = text.split('::')
  if (head === undefined || more !== undefined) return false
  // A dotted part may only stand at the very end.
  if (tail !== undefined && head.includes('.')) return false
  const left = groups(head)
  const right = tail === undefined ? 0 : groups(tail)
  if (left === null || right === null) return false
  return tail === undefined ? left === 8 : left + right < 8
}

/** Number of 16-bit groups, or `null` when one is malformed; a dotted tail counts as two. */
function groups(text: string): number | null {
  if (text === '') return 0
  const parts = text.split(':')
  const last = parts[parts.length - 1] ?? ''
  const dotted = IPV4.test(last)
  const plain = dotted ? parts.slice(0, -1) : parts
  return plain.every(part => /^[0-9a-f]{1,4}$/i.test(part)) ? plain.length + (dotted ? 2 : 0) : null
}

/** Both cannot be had at once: a wildcard takes the port on every address. Port 0 is whichever is free. */
export function overlap(a: ListenAddress, b: ListenAddress): boolean {
  if (a.port !== b.port || a.port === 0) return false
  const isWildcard = (host: string) => /^(0\.0\.0\.0|[0:]+)$/.test(host)
  return [...a.hosts, ...b.hosts].some(isWildcard) || a.hosts.some(host => b.hosts.includes(host))
}
