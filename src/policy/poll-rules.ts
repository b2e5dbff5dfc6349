/** What makes no sense about the poll of a route. */
import { mayPoll } from '../core/poll.js'
import type { EffectivePolicy, RouteSnapshot } from '../core/snapshot.js'
import { type Finding, message, type ParsedDocument, type Path, valueAt } from './document.js'
import type { PolicyMessage } from './messages.js'
import type { Rule } from './rule.js'
import { listText } from './schema-words.js'

/** Of fields that are each allowed and make no sense together. */
export const POLL_RULES: readonly Rule[] = [
  {
    code: 'FB088',
    fields: ['poll.maxWait', 'poll.backoff.base'],
    text: ({ poll }, name) =>
      poll !== null && poll.maxWaitMs < poll.backoff.baseMs
        ? `${name('poll.maxWait')} is below ${name('poll.backoff.base')}: the polling is over before its first repeat`
        : null,
  },
  {
    code: 'FB056',
    fields: ['poll.backoff.base', 'poll.backoff.cap'],
    text: ({ poll }, name) =>
      poll !== null && poll.backoff.baseMs > poll.backoff.capMs
        ? `${name('poll.backoff.base')} is above ${name('poll.backoff.cap')}: every wait is as long as the cap`
        : null,
  },
  {
    code: 'FB078',
    fields: ['poll.backoff.factor', 'poll.backoff.kind'],
    together: true,
    text: ({ poll }, name) =>
      poll !== null && poll.backoff.kind !== 'exponential'
        ? `${name('poll.backoff.factor')} does nothing with ${name('poll.backoff.kind')}: only an exponential wait grows by a factor`
        : null,
  },
  {
    code: 'FB055',
    fields: ['limits.maxWaiting'],
    text: ({ limits, poll }, name) =>
      limits.maxWaiting === 0 && poll !== null
        ? `${name('limits.maxWaiting')} with poll: calls shall wait and none may`
        : null,
  },
]

const TESTS = ['equals', 'in', 'exists']

/** @param at the path of the route */
export function pollFindings(root: unknown, at: Path): Finding[] {
  const path = [...at, 'poll']
  const poll = valueAt(root, path)
  if (poll === undefined) return []
  return [
    ...(valueAt(root, [...at, 'longPoll']) === true ? [longPollFinding(path)] : []),
    ...untilFindings(valueAt(poll, ['until']), [...path, 'until']),
  ]
}

function longPollFinding(path: Path): Finding {
  const text =
    'poll and longPoll exclude each other: an upstream that answers when it has something to say need not be asked again'
  return { code: 'FB087', path, mark: 'key', text }
}

function untilFindings(until: unknown, path: Path): Finding[] {
  if (typeof until !== 'object' || until === null) return []
  const json = valueAt(until, ['json'])
  if (json === undefined && valueAt(until, ['status']) === undefined) {
    const text = 'until says nothing: write when the poll is done, such as { status: [200] }'
    return [{ code: 'FB085', path, mark: 'key', text }]
  }
  if (typeof json !== 'object' || json === null) return []
  const tests = TESTS.filter(key => valueAt(json, [key]) !== undefined)
  if (tests.length === 1) return []
  const text =
    tests.length === 0
      ? 'json needs equals, in or exists beside the pointer: say what shall stand there'
      : `${listText(tests).replace(' or ', ' and ')} exclude each other: keep one`
  return [
    {
      code: 'FB059',
      path: tests.length === 0 ? [...path, 'json'] : [...path, 'json', tests.at(-1) ?? ''],
      mark: 'key',
      text,
    },
  ]
}

/** Of a route none of whose calls is polled. */
export function unpolledMessages(
  document: ParsedDocument,
  at: Path,
  { poll }: EffectivePolicy,
  { methods }: RouteSnapshot['match'],
): PolicyMessage[] {
  if (poll === null || methods === null || [...methods].some(method => mayPoll(poll, method, false))) return []
  const why = methods.has('HEAD') ? 'a HEAD has no document to judge' : 'only a GET or HEAD is polled'
  const text = `poll does nothing for ${listText([...methods])}: ${why}`
  return [message(document, { code: 'FB086', path: [...at, 'poll'], mark: 'key', text })]
}
