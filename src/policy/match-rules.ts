/** Wildcards and methods of other tools: each is allowed here and means something else. */
import { type Finding, type Path, valueAt } from './document.js'
import { nearest } from './nearest.js'
import { quote } from './schema-words.js'

/** Of the match of the upstream and of each route. */
export function matchFindings(root: unknown, routes: readonly unknown[]): Finding[] {
  const matches: Path[] = routes.map((_, index) => ['spec', 'routes', index, 'match'])
  return [
    ...prefixFindings(root, ['spec', 'match', 'pathPrefix'], false),
    ...matches.flatMap(at => [
      ...prefixFindings(root, [...at, 'pathPrefix'], true),
      ...pathFindings(root, [...at, 'path']),
      ...methodFindings(root, [...at, 'methods']),
    ]),
  ]
}

/** `*`, `**`, `.*`, `:id`, `<id>` and other parts of patterns. */
const WILD = /[*<>[\]^|\\]|^:[A-Za-z_]|^\(/
/** What stands for all the rest of a path. */
const REST = /^(\*\*|\(?\.[*+]\)?)$/

function pathFindings(root: unknown, path: Path): Finding[] {
  const segments = segmentsOf(valueAt(root, path))
  const first = segments.findIndex(segment => WILD.test(segment))
  const wild = segments[first]
  if (wild === undefined) return []
  const exact = `path: ${exactPath(segments)}`
  const rest = segments.findIndex(segment => REST.test(segment))
  const prefix = `pathPrefix: ${pathBefore(segments, rest === -1 ? first : Math.min(rest, first))}`
  if (rest !== -1) return [wildcard(path, wild, `for all paths below, write ${prefix}`)]
  const one = `{name} stands for one segment, write ${exact}`
  return [
    wildcard(path, wild, wild === '*' && first === segments.length - 1 ? `${one}, or ${prefix} for all below` : one),
  ]
}

function prefixFindings(root: unknown, path: Path, mayBeExact: boolean): Finding[] {
  const segments = segmentsOf(valueAt(root, path))
  const first = segments.findIndex(segment => WILD.test(segment))
  const wild = segments[first]
  if (wild === undefined) return []
  const isLast = first === segments.length - 1
  const remedy =
    mayBeExact && !isLast && !segments.some(segment => REST.test(segment))
      ? `only a path has {name}, write path: ${exactPath(segments)}`
      : `a prefix matches all paths below it, write pathPrefix: ${pathBefore(segments, first)}`
  return [wildcard(path, wild, remedy)]
}

function segmentsOf(path: unknown): string[] {
  return typeof path === 'string' && path.startsWith('/') ? path.slice(1).split('/') : []
}

function wildcard(path: Path, wild: string, remedy: string): Finding {
  return { code: 'FB070', path, text: `${quote(wild)} is no wildcard here and matches only itself: ${remedy}` }
}

function exactPath(segments: readonly string[]): string {
  return segments
    .map(segment =>
      WILD.test(segment) ? `/{${/^(?:[:<]|<\w+:)([A-Za-z_]\w*)>?$/.exec(segment)?.[1] ?? 'id'}}` : `/${segment}`,
    )
    .join('')
}

function pathBefore(segments: readonly string[], end: number): string {
  return `/${segments.slice(0, end).join('/')}`
}

const COMMON = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
/** The others of the IANA registry that are near to a common one, and what caches and WebDAV servers take. */
const OTHERS = new Set([
  'CONNECT',
  'COPY',
  'LINK',
  'LOCK',
  'MERGE',
  'MOVE',
  'PRI',
  'PURGE',
  'QUERY',
  'REPORT',
  'SEARCH',
  'BIND',
])
const ANY = /^(ANY|ALL)$/

function methodFindings(root: unknown, at: Path): Finding[] {
  const methods = valueAt(root, at)
  if (!Array.isArray(methods)) return []
  return methods.flatMap((method, index): Finding[] => {
    if (typeof method !== 'string' || COMMON.includes(method) || OTHERS.has(method)) return []
    const path = [...at, index]
    if (ANY.test(method)) {
      return [
        { code: 'FB071', path, text: `${method} is a method of that name here: for any method, leave methods out` },
      ]
    }
    const near = /^[A-Z]+$/.test(method) ? nearest(method, COMMON) : null
    if (near === null) return []
    return [{ code: 'FB071', path, text: `${quote(method)} is not a method that is in use`, suggestion: near }]
  })
}
