import { ADMIN_PORT, HEALTH_PORT, PROXY_PORT } from './names.js'
import type { Complain } from './settings.js'

/** Where the app finds an upstream: at a port of its own, which its policy opens (`listen`), or below the shared one. */
export interface UpstreamAddress {
  readonly name: string
  readonly port: number | null
  /** `PAYMENTS_URL` */
  readonly variable: string
  readonly url: string
}

/** `payments=9101,ledger` */
export function parseUpstreams(text: string, complain: Complain): readonly UpstreamAddress[] {
  const words = text.split(/[\s,]+/).filter(word => word !== '')
  const found: UpstreamAddress[] = []
  for (const word of words) {
    const address = parseUpstream(word, complain)
    const rival = found.find(
      other => other.variable === address?.variable || (address?.port && other.port === address.port),
    )
    if (rival !== undefined && address !== null) {
      const shared = rival.variable === address.variable ? rival.variable : `port ${address.port}`
      complain('upstreams', `${rival.name} and ${address.name} both want ${shared}`, 'give each its own')
    } else if (address !== null) found.push(address)
  }
  return found
}

function parseUpstream(word: string, complain: Complain): UpstreamAddress | null {
  const [, name = '', portText] = /^([^=]*)(?:=(.*))?$/.exec(word) ?? []
  if (!DNS_LABEL.test(name)) {
    complain(
      'upstreams',
      `"${word}" names no upstream`,
      'write names of Upstream documents, such as payments=9101,ledger',
    )
    return null
  }
  const port = portText === undefined ? null : portOf(portText)
  if (Number.isNaN(port)) {
    complain('upstreams', `"${word}" has no port from 1 to 65535`, `write the port of its listen, such as ${name}=9101`)
    return null
  }
  if (port !== null && RESERVED.includes(port)) {
    complain('upstreams', `"${word}" takes a port that forbear itself listens on`, 'choose another, such as 9101')
    return null
  }
  const variable = `${name.toUpperCase().replaceAll('-', '_')}_URL`
  if (OWN_VARIABLES.includes(variable)) {
    complain(
      'upstreams',
      `"${word}" would have ${variable}, which forbear sets for itself`,
      'give the upstream another name',
    )
    return null
  }
  const url = port === null ? `http://127.0.0.1:${PROXY_PORT}/${name}` : `http://127.0.0.1:${port}`
  return { name, port, variable, url }
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port >= 1 && port <= 65_535 ? port : Number.NaN
}

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const OWN_VARIABLES: readonly string[] = ['FORBEAR_URL', 'FORBEAR_QUIT_URL']
const RESERVED: readonly number[] = [PROXY_PORT, ADMIN_PORT, HEALTH_PORT]
