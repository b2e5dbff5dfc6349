/** What one document must keep to beyond its schema. */
import { isLoopback, parseListenAddress } from '../core/listen-address.js'
import type { TargetSnapshot } from '../core/snapshot.js'
import { type Finding, type ParsedDocument, type Path, valueAt, whereText } from './document.js'
import { matchFindings } from './match-rules.js'
import { pollFindings } from './poll-rules.js'
import { TWICE } from './schema-findings.js'
import { quote } from './schema-words.js'
import { parseTarget } from './target.js'

export function documentFindings(document: ParsedDocument): Finding[] {
  const { root } = document
  const routes = valueAt(root, ['spec', 'routes'])
  const list = Array.isArray(routes) ? routes : []
  return [
    ...targetFindings(root),
    ...listenFindings(root),
    ...hostFindings(root),
    ...selfCallFindings(root),
    ...jitterFindings(root, ['spec']),
    ...matchFindings(root, list),
    ...routeNameFindings(document, list),
    ...list.flatMap((_, index) => routeFindings(root, ['spec', 'routes', index])),
  ]
}

function targetFindings(root: unknown): Finding[] {
  const path = ['spec', 'target']
  const target = valueAt(root, path)
  if (typeof target !== 'string') return []
  const parsed = parseTarget(target)
  if ('error' in parsed) return [{ code: 'FB037', path, text: `${quote(target)} ${parsed.error}` }]
  return [...tlsFindings(root, parsed.protocol === 'https:'), ...unixFindings(root, parsed)]
}

function tlsFindings(root: unknown, https: boolean): Finding[] {
  const path = ['spec', 'tls']
  const tls = valueAt(root, path)
  if (typeof tls !== 'object' || tls === null) return []
  if (!https) {
    return [
      {
        code: 'FB059',
        path,
        mark: 'key',
        text: 'tls is set, but spec.target is an http URL: write https:// or remove tls',
      },
    ]
  }
  const pair = ['certFile', 'keyFile'] as const
  const there = pair.filter(key => valueAt(tls, [key]) !== undefined)
  if (there.length !== 1) return []
  const missing = there[0] === 'certFile' ? 'keyFile' : 'certFile'
  return [{ code: 'FB059', path: [...path, there[0] ?? ''], text: `tls.${there[0]} needs tls.${missing} beside it` }]
}

/** A socket file has no name that a certificate could carry. */
function unixFindings(root: unknown, target: TargetSnapshot): Finding[] {
  if (target.socketPath === undefined || target.protocol === 'http:') return []
  if (valueAt(root, ['spec', 'tls', 'serverName']) !== undefined) return []
  const text =
    'https over a unix socket needs spec.tls.serverName, the name in the certificate: write it, or http://unix:'
  return [{ code: 'FB059', path: ['spec', 'target'], text }]
}

function listenFindings(root: unknown): Finding[] {
  const path = ['spec', 'listen']
  const listen = valueAt(root, path)
  if (typeof listen !== 'string') return []
  const parsed = parseListenAddress(listen)
  if ('error' in parsed) return [{ code: 'FB037', path, text: parsed.error }]
  if (parsed.hosts.every(isLoopback)) return []
  const text = `${listen} can be reached from other hosts, which could then call the upstream as this app: prefer 127.0.0.1:${parsed.port}`
  return [{ code: 'FB060', path, text }]
}

/** Names of hosts have no case. */
function hostFindings(root: unknown): Finding[] {
  const path = ['spec', 'match', 'hosts']
  const hosts = valueAt(root, path)
  if (!Array.isArray(hosts)) return []
  const names = hosts.map(host => (typeof host === 'string' ? host.toLowerCase() : null))
  return names.flatMap((name, index): Finding[] =>
    name === null || names.indexOf(name) === index ? [] : [{ code: 'FB038', path: [...path, index], text: TWICE }],
  )
}

/** What it forwards would come back to it, each time with retries on top. */
function selfCallFindings(root: unknown): Finding[] {
  const path = ['spec', 'target']
  const [target, listen] = [valueAt(root, path), valueAt(root, ['spec', 'listen'])]
  if (typeof target !== 'string' || typeof listen !== 'string') return []
  const [called, own] = [parseTarget(target), parseListenAddress(listen)]
  if ('error' in called || 'error' in own || called.socketPath !== undefined || called.port !== own.port) return []
  const hosts = called.hostname === 'localhost' ? ['127.0.0.1', '::1'] : [called.hostname]
  if (!hosts.some(host => isLoopback(host) && own.hosts.some(bound => reaches(host, bound)))) return []
  const text = `the upstream calls itself: ${quote(target)} is its own spec.listen ${listen}; write where the service is`
  return [{ code: 'FB075', path, text }]
}

function reaches(host: string, bound: string): boolean {
  return bound === host || bound === '0.0.0.0' || /^[0:]+$/.test(bound)
}

function jitterFindings(root: unknown, at: Path): Finding[] {
  return ['retry.backoff', 'retry.throttled', 'poll.backoff'].flatMap((name): Finding[] => {
    const path = [...at, ...name.split('.'), 'jitter']
    const range = valueAt(root, path)
    if (!Array.isArray(range) || range.length !== 2 || !(range[0] > range[1])) return []
    return [{ code: 'FB036', path, text: `the range begins at ${range[0]}, above its end ${range[1]}` }]
  })
}

function routeFindings(root: unknown, at: Path): Finding[] {
  const match = valueAt(root, [...at, 'match'])
  const both = valueAt(match, ['path']) !== undefined && valueAt(match, ['pathPrefix']) !== undefined
  const text = 'path and pathPrefix exclude each other: keep one'
  return [
    ...(both ? [{ code: 'FB059', path: [...at, 'match', 'pathPrefix'], mark: 'key', text } as const] : []),
    ...jitterFindings(root, at),
    ...pollFindings(root, at),
  ]
}

function routeNameFindings(document: ParsedDocument, routes: readonly unknown[]): Finding[] {
  const first = new Map<string, Path>()
  return routes.flatMap((route, index): Finding[] => {
    const name = valueAt(route, ['name'])
    const path = ['spec', 'routes', index, 'name']
    if (typeof name !== 'string') return []
    const other = first.get(name)
    if (other === undefined) {
      first.set(name, path)
      return []
    }
    return [{ code: 'FB040', path, text: `the route name ${quote(name)} is taken at ${whereText(document, other)}` }]
  })
}
