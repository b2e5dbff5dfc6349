/** A key that is none here: reserved, in the wrong place, another tool's, or misspelt. */
import { type Finding, type Path, pathText } from './document.js'
import { foreignKeyPath } from './foreign-keys.js'
import { ROUTE_SECTIONS } from './generated/fields.js'
import { homesOf, PLACED_KEYS } from './key-homes.js'
import { nearest } from './nearest.js'
import { listText, quote } from './schema-words.js'
import { switchText } from './section-hints.js'

export interface UnknownKey extends Finding {
  /** Paths (as text) that it was probably meant to be: that those are missing is no mistake of its own. */
  readonly meant: readonly string[]
  /** Of one without a colon behind it: the key before it, `null` = it is the first. */
  readonly after?: string | null
}

const ALSO_IN_ROUTES = new RegExp(`^spec\\.(?=${[...ROUTE_SECTIONS, 'match'].join('|')})`)
const TOP = new Set(['apiVersion', 'kind', 'metadata', 'spec'])

/**
 * @param known the keys that the mapping at `parent` may have
 * @param after the key before it, of one without a colon behind it; `null` = it is the first
 */
export function unknownKeyFinding(
  parent: Path,
  key: string,
  value: unknown,
  known: readonly string[],
  after: string | null | undefined,
): UnknownKey {
  const found = { path: [...parent, key], mark: 'key', code: 'FB030' } as const
  const unknown = `unknown key ${quote(key)}`
  const at = pathText(parent)
  const here = (name: string) => pathText([...parent, name])

  const control = switchText(parent, key, value)
  if (control !== null) return { ...found, text: `${unknown}: ${control}`, meant: [] }

  const [, glued, rest] = value === null ? (/^([A-Za-z]\w*):(.+)$/s.exec(key) ?? []) : []
  if (glued !== undefined) {
    const text = `${unknown}: a space is missing after the colon, write ${glued}: ${quote(rest).slice(1, -1)}`
    return { ...found, text, meant: [here(glued)] }
  }
  const [, opener] = typeof value === 'string' ? (/^([A-Za-z]\w*):[{[]/.exec(key) ?? []) : []
  if (opener !== undefined) {
    const whole = `${opener}: ${key.slice(opener.length + 1)}: ${value}`
    const text = `${unknown}: a space is missing after the colon, write ${quote(whole).slice(1, -1)}`
    return { ...found, text, meant: [here(opener)] }
  }
  if (after !== undefined) {
    const text = `${unknown}: within { } a comma ends an unquoted value; put all of it in quotes, or give the key a value`
    return { ...found, text, meant: [], after }
  }
  if (parent.length > 0 && TOP.has(key)) {
    return { ...found, text: `${unknown} here; it belongs at the top of the document`, meant: [key] }
  }
  const homes = homesOf(parent, key)
  if (homes.length > 0 && homes.length <= 5) {
    // At home, and yet unknown: the schema of a Policy has fewer keys.
    const where = `${listText(homes)}${homes.includes(at) ? ' of an Upstream' : ''}`
    return { ...found, text: `${unknown} here; it belongs under ${where}`, meant: homes.map(home => `${home}.${key}`) }
  }
  const near = nearest(key, known)
  // Hardly anything else is meant by one of our words in other dress.
  const isOurs = near !== null && (plain(near) === plain(key) || (parent.at(-1) === 'match' && near === `${key}s`))
  const foreign = isOurs ? null : inRoute(at, foreignKeyPath(key, value))
  if (foreign !== null && (near === null || foreign !== here(near))) {
    const suggestion = foreign.startsWith(`${at}.`) && at !== '' ? foreign.slice(at.length + 1) : foreign
    return { ...found, text: unknown, suggestion, meant: [foreign] }
  }
  if (near !== null) return { ...found, text: unknown, suggestion: near, meant: [here(near)] }
  return { ...found, ...elsewhere(parent, key, unknown, known) }
}

/** `Retry_On ` → `retryon`. */
function plain(key: string): string {
  return key.toLowerCase().replace(/[-_\s]/g, '')
}

/** Misspelt and misplaced at once; else what may stand here. */
function elsewhere(parent: Path, key: string, unknown: string, known: readonly string[]) {
  const word = key.length > 4 ? nearest(key, PLACED_KEYS) : null
  const homes = word === null ? [] : homesOf(parent, word)
  const [home] = homes
  if (home !== undefined && homes.length === 1) {
    return { text: unknown, suggestion: `${home}.${word}`, meant: [`${home}.${word}`] }
  }
  return {
    text: `${unknown}${known.length > 0 ? `; known here: ${known.join(', ')}` : ''}`,
    suggestion: null,
    meant: [],
  }
}

/** In a route, `spec.retry…` of another tool is meant for the route. */
function inRoute(at: string, path: string | null): string | null {
  const route = /^spec\.routes\[\d+\]/.exec(at)?.[0]
  return route === undefined ? path : (path?.replace(ALSO_IN_ROUTES, `${route}.`) ?? null)
}
