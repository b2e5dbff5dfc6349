/**
 * Names to addresses without `getaddrinfo` and its few threads: the hosts file, then the name servers over sockets of
 * Node's own. What it cannot say for sure it leaves to `getaddrinfo`, by failing.
 */
import type { LookupAddress } from 'node:dns'
import { promises as dns } from 'node:dns'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Lookup } from './resolver.js'

export interface DirectSources {
  /** Text of the hosts file. */
  readonly hosts: () => string
  /** Text of `resolv.conf`, for its search list. */
  readonly resolvConf: () => string
  /** `address:port`; `null` = those of the system. */
  readonly servers: readonly string[] | null
}

const SYSTEM: DirectSources = {
  hosts: () => textOf('/etc/hosts'),
  resolvConf: () => textOf('/etc/resolv.conf'),
  servers: null,
}

/** One server's first share of time, ms, and how often each is asked. */
const SERVER_TIMEOUT_MS = 1_000
const TRIES = 2

export function directLookup(sources: DirectSources = SYSTEM): Lookup {
  return (name, done) => {
    const known = inHosts(sources.hosts(), name)
    if (known.length > 0) return done(null, known)
    // Made anew, because it reads the system's list of servers only once.
    const resolver = new dns.Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES })
    if (sources.servers !== null) resolver.setServers(sources.servers)
    askServers(resolver, candidates(name, sources.resolvConf())).then(
      addresses => done(null, addresses),
      (error: NodeJS.ErrnoException) => done(error, []),
    )
  }
}

/** Only "there is no such name" leads to the next candidate: after silence or an error it could be another's address. */
async function askServers(resolver: dns.Resolver, names: readonly string[]): Promise<readonly LookupAddress[]> {
  let last: unknown = null
  for (const name of names) {
    for (const family of [4, 6] as const) {
      try {
        const found = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name))
        return found.map(address => ({ address, family }))
      } catch (error) {
        last = error
        const { code } = error as NodeJS.ErrnoException
        if (code === 'ENOTFOUND') break
        if (code !== 'ENODATA') throw error
      }
    }
  }
  throw last
}

function inHosts(text: string, name: string): LookupAddress[] {
  const wanted = withoutRootDot(name).toLowerCase()
  const found: LookupAddress[] = []
  for (const line of text.split('\n')) {
    const [address = '', ...names] = fieldsOf(line)
    const family = isIP(address)
    if (family !== 0 && names.some(one => one.toLowerCase() === wanted)) found.push({ address, family })
  }
  return found
}

/** The absolute names that a name may stand for, in the order of resolv.conf(5). */
function candidates(name: string, resolvConf: string): readonly string[] {
  if (name.endsWith('.')) return [withoutRootDot(name)]
  let search: string[] = []
  let ndots = 1
  for (const line of resolvConf.split('\n')) {
    const [keyword, ...values] = fieldsOf(line)
    if (keyword === 'search' || keyword === 'domain') search = values
    const option = keyword === 'options' ? values.find(value => /^ndots:\d+$/.test(value)) : undefined
    if (option !== undefined) ndots = Number(option.slice('ndots:'.length))
  }
  const searched = search.map(domain => withoutRootDot(`${name}.${domain}`))
  return name.split('.').length > ndots ? [name, ...searched] : [...searched, name]
}

function fieldsOf(line: string): string[] {
  return line
    .replace(/[#;].*/, '')
    .split(/\s+/)
    .filter(field => field !== '')
}

function withoutRootDot(name: string): string {
  return name.replace(/\.+$/, '')
}

/** `''` where there is no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
