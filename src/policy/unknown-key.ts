import { type Finding, type Path, pathText } from './document.js'
import { SECTION_FIELDS } from './generated/fields.js'
import { nearest } from './nearest.js'
import { reservedKeyText } from './reserved.js'
import { quote } from './schema-words.js'

/** Where keys belong that people put a level too high or too low. */
const HOMES = homes()

/** @param known the keys that the mapping at `parent` may have */
export function unknownKeyFinding(parent: Path, key: string, known: readonly string[]): Finding {
  const path = [...parent, key]
  const reserved = reservedKeyText(parent, key)
  if (reserved !== null) return { code: 'FB031', path, mark: 'key', text: reserved }
  const home = homeText(parent, key)
  if (home !== null)
    return { code: 'FB030', path, mark: 'key', text: `unknown key ${quote(key)} here; it belongs under ${home}` }
  const suggestion = nearest(key, known)
  const list = suggestion === null && known.length > 0 ? `; known here: ${known.join(', ')}` : ''
  return { code: 'FB030', path, mark: 'key', text: `unknown key ${quote(key)}${list}`, suggestion }
}

function homeText(parent: Path, key: string): string | null {
  const found = HOMES.get(key)
  if (found === undefined || found.length > 2) return null
  // At home, and yet unknown: the schema of a Policy has fewer keys.
  return found.includes(pathText(parent)) ? `${found.join(' or ')} of an Upstream` : found.join(' or ')
}

function homes(): Map<string, string[]> {
  const map = new Map<string, string[]>()
  const add = (key: string, home: string) => {
    const list = map.get(key) ?? []
    if (!list.includes(home)) map.set(key, [...list, home])
  }
  for (const key of ['target', 'policyRef', 'listen', 'hostHeader', 'tls', 'routes']) add(key, 'spec')
  add('longPoll', 'spec.routes[]')
  for (const path of Object.keys(SECTION_FIELDS)) {
    if (path === 'longPoll') continue
    const steps = ['spec', ...path.split('.')]
    for (let end = 2; end <= steps.length; end++) add(steps[end - 1] ?? '', steps.slice(0, end - 1).join('.'))
  }
  return map
}
