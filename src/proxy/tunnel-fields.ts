/** Field lists of an Upgrade handshake, as Node's client takes them. */
import { headerValue } from '../core/headers.js'
import type { RawHeaders } from '../pipeline/ports.js'
import type { UpgradeGranted } from '../pipeline/upgrade-ports.js'
import { forwardRequestHeaders, withoutFields } from './headers.js'

/** Fields by name as first spelled, in order; several values of one name become a list. */
export function headersOf(fields: RawHeaders): Record<string, string | string[]> {
  const spelling = new Map<string, string>()
  const headers: Record<string, string | string[]> = Object.create(null)
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [name, value] = [fields[i] as string, fields[i + 1] as string]
    const known = spelling.get(name.toLowerCase())
    if (known === undefined) {
      spelling.set(name.toLowerCase(), name)
      headers[name] = value
    } else {
      headers[known] = [headers[known] as string | string[], value].flat()
    }
  }
  return headers
}

/** `rawHeaders` = the app's. */
export function upstreamHandshakeFields(
  rawHeaders: RawHeaders,
  granted: UpgradeGranted,
  token: string,
  via: string,
): Record<string, string | string[]> {
  const { upstream, set } = granted
  const replaced = new Set(set.filter((_item, i) => i % 2 === 0).map(name => name.toLowerCase()))
  const preserved = upstream.hostHeader === 'preserve' ? headerValue(rawHeaders, 'host') : undefined
  const own = ['Host', preserved ?? upstream.target.authority, 'Connection', 'Upgrade', 'Upgrade', token]
  return headersOf([...own, ...withoutFields(forwardRequestHeaders(rawHeaders, via), replaced), ...set])
}
