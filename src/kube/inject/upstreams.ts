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
  // The variables differ when the names do: a name has no underscore.
  const byName = new Map<string, UpstreamAddress>()
  const byPort = new Map<number, string>()
  for (const word of words) {
    const address = parseUpstream(word, complain)
    if (address === null) continue
    const rival = address.port === null ? undefined : byPort.get(address.port)
    if (byName.has(address.name)) {
      complain('upstreams', `${address.name} is named twice`, 'name it once')
    } else if (rival !== undefined) {
      complain('upstreams', `${rival} and ${address.name} both want port ${address.port}`, 'give each its own')
    } else {
      byName.set(address.name, address)
      if (address.port !== null) byPort.set(address.port, address.name)
    }
  }
  return [...byName.values()]
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
  const variable = variableOf(name)
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

/** No variable begins with a digit: shells cannot name it, and API servers before 1.30 refuse it. */
function variableOf(name: string): string {
  const word = name.replaceAll('-', '_').toUpperCase()
  return `${/^\d/.test(word) ? '_' : ''}${word}_URL`
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port >= 1 && port <= 65_535 ? port : Number.NaN
}

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const OWN_VARIABLES: readonly string[] = ['FORBEAR_URL', 'FORBEAR_QUIT_URL']
const RESERVED: readonly number[] = [PROXY_PORT, ADMIN_PORT, HEALTH_PORT]
