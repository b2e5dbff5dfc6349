/** What makes no sense about a route beside its neighbours, its methods or its kind. All of it works, none of it as meant. */

import { repeatability } from '../core/idempotency.js'
import type { EffectivePolicy, RouteSnapshot } from '../core/snapshot.js'
import { routeMatchOf } from './compile-upstream.js'
import { message, type ParsedDocument, type Path, valueAt, whereText } from './document.js'
import { hedgeMessages } from './hedge-rules.js'
import type { PolicyMessage } from './messages.js'
import type { Fields } from './overlay.js'
import { unpolledMessages } from './poll-rules.js'
import { written } from './rule-messages.js'
import { listText, quote } from './schema-words.js'

export interface RuledRoute {
  readonly fields: Fields
  readonly policy: EffectivePolicy
}

type RouteMatch = RouteSnapshot['match']

/** @param faulty whether a message has been written about the path, or something in it */
export function routeMessages(
  document: ParsedDocument,
  routes: readonly RuledRoute[],
  faulty: (path: Path) => boolean,
): PolicyMessage[] {
  const earlier: { readonly match: RouteMatch; readonly path: Path; readonly name: unknown }[] = []
  return routes.flatMap((route, index): PolicyMessage[] => {
    const path = ['spec', 'routes', index]
    const written = valueAt(document.root, [...path, 'match'])
    if (typeof written !== 'object' || written === null || ['match', 'name'].some(key => faulty([...path, key])))
      return []
    const match = routeMatchOf(written)
    const torn = match.headers.find(({ name, value }) => match.headers.some(o => o.name === name && o.value !== value))
    if (torn !== undefined) return [tornMessage(document, [...path, 'match', 'headers'], torn.name)]
    const cover = earlier.find(other => covers(other.match, match))
    const name = valueAt(document.root, [...path, 'name'])
    if (cover === undefined) {
      earlier.push({ match, path, name })
      return [
        ...longPollMessages(document, path, faulty),
        ...unpolledMessages(document, path, route.policy, match),
        ...repeatMessages(document, path, route, match),
        ...hedgeMessages(document, path, route.policy, match),
      ]
    }
    const text = `no call reaches this route: the route ${quote(cover.name)} at ${whereText(document, cover.path)} comes first and matches all of them`
    return [message(document, { code: 'FB065', path: [...path, 'match'], mark: 'key', text })]
  })
}

/** One header, whose name is written in two ways. */
function tornMessage(document: ParsedDocument, path: Path, name: string): PolicyMessage {
  const headers = Object.entries(valueAt(document.root, path) as object)
  const same = headers.filter(([key]) => key.toLowerCase() === name.toLowerCase())
  const text = `no call reaches this route: ${listText(same.map(([key]) => key)).replace(' or ', ' and ')} are one header, which has one value`
  return message(document, { code: 'FB065', path: [...path, same.at(-1)?.[0] ?? name], mark: 'key', text })
}

/** Every call that `inner` matches is matched by `outer` too. */
function covers(outer: RouteMatch, inner: RouteMatch): boolean {
  const { methods } = outer
  if (methods !== null && (inner.methods === null || [...inner.methods].some(method => !methods.has(method))))
    return false
  if (!outer.headers.every(({ name, value }) => inner.headers.some(own => own.name === name && own.value === value))) {
    return false
  }
  return coversPath(outer.path, inner.path)
}

function coversPath(outer: RouteMatch['path'], inner: RouteMatch['path']): boolean {
  if (outer.kind === 'any' || (outer.kind === 'prefix' && outer.prefix === '/')) return true
  if (inner.kind === 'any') return false
  if (outer.kind === 'exact') {
    if (inner.kind !== 'exact' || inner.segments.length !== outer.segments.length) return false
    return outer.segments.every((segment, at) =>
      segment === null ? inner.segments[at] !== '' : segment === inner.segments[at],
    )
  }
  const wanted = outer.prefix.slice(1).split('/')
  const own = inner.kind === 'prefix' ? inner.prefix.slice(1).split('/') : inner.segments
  return wanted.every((segment, at) => segment === own[at])
}

/** A long poll has no attempt clock, so one that is written on the same route is a misunderstanding. */
function longPollMessages(document: ParsedDocument, at: Path, faulty: (path: Path) => boolean): PolicyMessage[] {
  const path = [...at, 'timeouts', 'attempt']
  const attempt = valueAt(document.root, path)
  if (
    valueAt(document.root, [...at, 'longPoll']) !== true ||
    attempt === undefined ||
    attempt === 'none' ||
    faulty(path)
  )
    return []
  const text = `timeouts.attempt ${attempt} does nothing on a route with longPoll: its attempts have no clock but timeouts.total`
  return [message(document, { code: 'FB066', path, text })]
}

/** Of a route for methods that are not idempotent (RFC 9110 §9.2.2). Speaks where the route asks for retries itself. */
function repeatMessages(
  document: ParsedDocument,
  at: Path,
  { fields, policy: { retry } }: RuledRoute,
  { methods }: RouteMatch,
): PolicyMessage[] {
  const { idempotency, retryOn, maxAttempts } = retry
  const field = written(fields, 'retry.maxAttempts')
  const isOwn = field?.layer.document === document && field.path[2] === at[2] && field.path[1] === 'routes'
  if (field === null || field.faulty || !isOwn || maxAttempts < 2) return []
  if (methods === null || [...methods].some(method => repeatability(method, [], NO_KEY).kind !== 'none')) return []
  const onlyConnect = retryOn.connect && !retryOn.reset && !retryOn.timeout && retryOn.statuses.size === 0
  // Who wrote one of them has thought of it.
  const chosen =
    idempotency.generate ||
    (idempotency.keyHeaders.length > 0 &&
      ['generate', 'keyHeaders'].some(key => written(fields, `retry.idempotency.${key}`) !== null))
  if (onlyConnect || chosen) return []
  const unless = idempotency.keyHeaders.length === 0 ? '' : ' unless the app sends Idempotency-Key'
  const text = `retry.maxAttempts ${maxAttempts} for ${listText([...methods])}: a call of which something was sent is not repeated${unless}; for an upstream that honours such keys, write retry.idempotency.generate: true`
  return [message(document, { code: 'FB063', path: field.path, text })]
}

const NO_KEY = { keyHeaders: [], generate: false }
