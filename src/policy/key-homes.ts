/** Where keys belong that people put a level too high or too low. */
import { type Path, pathText } from './document.js'
import { ROUTE_SECTIONS, SECTION_FIELDS } from './generated/fields.js'

const ROUTE = 'spec.routes[]'
/** Key → paths of the mappings that may have it, routes as `spec.routes[]`. */
const HOMES = homes()

/** Words that are near enough to be what a misplaced typo meant. */
export const PLACED_KEYS: readonly string[] = [...HOMES.keys()]

const IN_ROUTES = new RegExp(`^spec\\.(?=(${ROUTE_SECTIONS.join('|')})(\\.|$))`)

/** Nearest first: what lies below `parent` hides the rest. In a route, sections are those of the route. */
export function homesOf(parent: Path, key: string): readonly string[] {
  const at = pathText(parent)
  const route = /^spec\.routes\[\d+\]/.exec(at)?.[0]
  const list = (HOMES.get(key) ?? []).map(home => {
    if (route === undefined) return home
    if (home === 'spec' && IN_ROUTES.test(`spec.${key}`)) return route
    return home.replace(IN_ROUTES, `${route}.`).replace(/^spec\.routes\[\]/, route)
  })
  const near = list.filter(home => (route === undefined ? home !== ROUTE : home.startsWith(route)))
  const below = near.filter(home => home.startsWith(`${at}.`))
  return [below, near].find(homes => homes.length > 0) ?? list
}

function homes(): Map<string, string[]> {
  const map = new Map<string, string[]>()
  const add = (home: string, ...keys: string[]) => {
    for (const key of keys) {
      const list = map.get(key) ?? []
      if (!list.includes(home)) map.set(key, [...list, home])
    }
  }
  add('spec', 'target', 'policyRef', 'listen', 'hostHeader', 'tls', 'routes', 'match')
  add('metadata', 'name', 'labels', 'annotations')
  add('spec.tls', 'caFile', 'certFile', 'keyFile', 'serverName')
  add('spec.match', 'hosts', 'pathPrefix')
  add('spec.routes[].match', 'methods', 'path', 'headers', 'pathPrefix')
  add(ROUTE, 'name', 'match', 'longPoll')
  for (const path of Object.keys(SECTION_FIELDS)) {
    // Whoever writes maxAttempts in the wrong place means retries.
    if (path === 'longPoll' || path === 'park.maxAttempts') continue
    const own = path.startsWith('poll.')
    const steps = [own ? ROUTE : 'spec', ...path.split('.')]
    for (let end = 2; end <= steps.length; end++) {
      const key = steps[end - 1] ?? ''
      // Whoever misplaces a backoff or a status hardly ever means that of a poll.
      if (!own || !map.has(key) || end === 2) add(steps.slice(0, end - 1).join('.'), key)
    }
  }
  return map
}
