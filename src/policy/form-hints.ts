/** What keeps a target, a host, a path or an address from its form, and the nearest that has it. */
import type { Path } from './document.js'

export interface FormHint {
  /** `has a query: leave it out`; `null` = what is allowed says enough. */
  readonly fault: string | null
  readonly suggestion: string | null
}

type Hinted = 'target' | 'listen' | 'host' | 'path' | 'pathPrefix'

const HINTS: Readonly<Record<Hinted, (value: string) => FormHint | null>> = {
  target: targetHint,
  listen: listenHint,
  host: hostHint,
  path: value => pathHint(value, false),
  pathPrefix: value => pathHint(value, true),
}

/** Longer ones are not told back in full. */
const LONGEST = 200

/** @param pattern of the field: nothing else is suggested */
export function formHint(path: Path, value: string, pattern: string | undefined): FormHint | null {
  const kind = value.length > LONGEST ? null : kindOf(path)
  const hint = kind === null ? null : HINTS[kind](value)
  if (hint === null) return null
  const fits = hint.suggestion !== null && new RegExp(pattern ?? '', 'u').test(hint.suggestion)
  const suggestion = fits ? hint.suggestion : null
  return hint.fault === null && suggestion === null ? null : { ...hint, suggestion }
}

function kindOf(path: Path): Hinted | null {
  const last = path.at(-1)
  if (typeof last === 'number') return path.at(-2) === 'hosts' ? 'host' : null
  const isMatch = path.at(-2) === 'match'
  if (isMatch && (last === 'path' || last === 'pathPrefix')) return last
  return path.length === 2 && (last === 'target' || last === 'listen') ? last : null
}

function targetHint(value: string): FormHint | null {
  if (/\$[{(]|<%|\{[{%]/.test(value)) return null
  const [, scheme = '', host = '', rest = ''] = /^(https?):\/\/([^/?#]*)(.*)$/is.exec(value) ?? []
  if (scheme === '') return { fault: null, suggestion: withScheme(value) }
  if (host.includes('@')) return { fault: 'has a user name: leave it out', suggestion: null }
  const extra = /[?#]/.exec(rest)
  if (extra !== null) {
    const what = extra[0] === '?' ? 'query' : 'fragment'
    return { fault: `has a ${what}: leave it out`, suggestion: value.slice(0, value.search(/[?#]/)) }
  }
  if (scheme !== scheme.toLowerCase()) {
    return { fault: 'has a scheme in capitals', suggestion: `${scheme.toLowerCase()}://${host}${rest}` }
  }
  if (/[^\0-\x7f]/.test(host)) {
    const ascii = URL.canParse(value) ? `${scheme}://${new URL(value).host}${rest}` : null
    return { fault: 'has a host that is not ASCII: write it as DNS has it', suggestion: ascii }
  }
  return null
}

/** Hosts of one label and hosts with a port of their own mostly are inside, where http is spoken. */
function withScheme(value: string): string | null {
  const slip = /^(https?)(?::\/?|\/{1,2}|:\/{3,})(?=[^/:])(.+)$/i.exec(value)
  if (slip !== null) return `${slip[1]?.toLowerCase()}://${slip[2]}`
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return null
  if (value.startsWith('unix:')) return `http://${value}`
  const bare = value.replace(/^\/\//, '')
  const [host = ''] = bare.split('/')
  const outside = /\.[a-z]{2,}$/i.test(host) || host.endsWith(':443')
  return host.includes('@') || !/[a-z0-9]/i.test(host) ? null : `${outside ? 'https' : 'http'}://${bare}`
}

function listenHint(value: string): FormHint | null {
  const port = /^[:*]{0,2}(\d{1,5})$/.exec(value)?.[1]
  if (port !== undefined) return { fault: null, suggestion: `127.0.0.1:${port}` }
  const url = /^https?:\/\/([^/]+)\/?$/.exec(value)?.[1]
  if (url !== undefined) return { fault: null, suggestion: url }
  if (/^[\w.-]+:?$/.test(value)) {
    return { fault: `has no port: write ${value.replace(/:$/, '')}:15101, or whichever is free`, suggestion: null }
  }
  return null
}

function hostHint(value: string): FormHint | null {
  if (value.includes('*')) return { fault: 'has a wildcard: write each host by its name', suggestion: null }
  const url = /^[a-z]+:\/\/([^/:?#@]+)/i.exec(value)?.[1]
  if (url !== undefined) return { fault: 'is a URL', suggestion: url }
  const [, name = '', port] = /^([^:/]+?)\.?(:\d+)?$/.exec(value) ?? []
  if (port !== undefined) return { fault: 'has a port: a host counts with any', suggestion: name }
  return name !== '' && value.endsWith('.') ? { fault: 'ends in a dot', suggestion: name } : null
}

function pathHint(value: string, isPrefix: boolean): FormHint | null {
  const url = /^https?:\/\/[^/?#]+(\/[^?#]*)?/i.exec(value)
  if (url !== null) return { fault: 'is a URL', suggestion: url[1] ?? '/' }
  if (!value.startsWith('/')) return { fault: null, suggestion: `/${value}` }
  const extra = /[?#]/.exec(value)
  if (extra !== null) {
    const what = extra[0] === '?' ? 'query, and only the path is matched' : 'fragment, which is never sent'
    return { fault: `has a ${what}`, suggestion: value.slice(0, extra.index) || '/' }
  }
  if (/\s/.test(value)) return { fault: 'has a blank: a URL has it as %20', suggestion: value.replaceAll(' ', '%20') }
  if (isPrefix && /[{}]/.test(value))
    return { fault: `has ${/\{[^/]*/.exec(value)?.[0] ?? '}'}: ${onlyPath(value)}`, suggestion: null }
  if (!value.includes('//')) return null
  const dots = /\/\.\.?(\/|$)/.test(value)
  return {
    fault: 'has an empty segment: // counts as written',
    suggestion: dots ? null : value.replace(/\/{2,}/g, '/'),
  }
}

function onlyPath(value: string): string {
  const before = /^(.*?)\/[^/]*[{}]/.exec(value)?.[1] ?? ''
  return `only the path of a route has variables; the prefix before it is ${before === '' ? '/' : before}`
}
