import { expect, it } from 'vitest'
import { formatMessages } from '../../src/policy/messages.js'
import { load, policy, together, upstream } from './set.js'

/** Each line may stand for its kind: all of them are changed in turn, in each way. */
const LINES = `listen: 127.0.0.1:15101
hostHeader: preserve
match:
  pathPrefix: /pay
timeouts:
  connect: 2s
  total: 20s
  idle: 1m
retry:
  maxAttempts: 4
  maxBody: 64KiB
  backoff:
    kind: linear
    base: 100ms
    jitter: equal
  retryAfter:
    scope: request
budget:
  ratio: 0.1
  window: 20s
breaker:
  mode: observe
  minRequests: 30
limits:
  maxInFlight: 100
propagate: true
routes:
  - name: orders
    match:
      pathPrefix: /orders
    retry:
      maxAttempts: 2
  - name: rest
    match:
      pathPrefix: /rest
    longPoll: true`

const SET = together(upstream(LINES), policy('retry:\n  maxAttempts: 2\ntimeouts:\n  total: 10s', 'default'))
const TEXT = SET.split('\n')
/** Lines that hold one key below `spec`, and the value if it is a scalar. */
const KEYED = TEXT.flatMap((line, index) => {
  const [, head = '', key = '', value = ''] = /^( {2,}(?:- )?)([A-Za-z]+):(?: (.*))?$/.exec(line) ?? []
  return key === '' ? [] : [{ index, head, key, value }]
})
const SCALARS = KEYED.filter(({ value }) => value !== '')

type Mutation = { readonly text: string; readonly lines: readonly number[]; readonly what: string }

function replaced(index: number, line: string, what: string, ...also: number[]): Mutation {
  return { text: TEXT.with(index, line).join('\n'), lines: [index + 1, ...also], what: `${what}: ${line}` }
}

const value = (what: string, write: (value: string) => string) =>
  SCALARS.map(({ index, head, key, value: old }) => replaced(index, `${head}${key}:${write(old)}`, what))

const MUTATIONS: readonly Mutation[] = [
  ...KEYED.flatMap(({ index, head, key, value: old }) =>
    Array.from(key, (_, at) =>
      replaced(index, `${head}${key.slice(0, at)}${key.slice(at + 1)}: ${old}`.trimEnd(), 'a letter left out'),
    ),
  ),
  ...KEYED.map(({ index, head, key, value: old }) =>
    replaced(index, `${head}${key}X: ${old}`.trimEnd(), 'a letter too many'),
  ),
  ...KEYED.map(({ index, head, key, value: old }) => replaced(index, `\t${head}${key}: ${old}`.trimEnd(), 'a tab')),
  ...SCALARS.map(({ index, head, key, value: old }) =>
    replaced(index, `${head}${key}: ${old}\n${head.replace('- ', '  ')}${key}: ${old}`, 'twice', index + 2),
  ),
  ...SCALARS.map(({ index, head, key, value: old }) => replaced(index, `${head}${key} ${old}`, 'no colon')),
  ...SCALARS.map(({ index, head, key, value: old }) =>
    replaced(index, `${head}${key}:${old}`, 'no space', index, index - 1),
  ),
  ...value('no value', () => ''),
  ...value('null', () => ' null'),
  ...value('a mapping', () => ' {}'),
  ...value('a key in a mapping', () => ' { a: 1 }'),
  ...value('a list', () => ' [[]]'),
  ...value('a wrong word', old => ` ${old} zzz`),
  ...value('a wrong unit', old => ` ${old}parsec`).filter(({ what }) => /: \d+\w*$/.test(what)),
  ...value('an open quote', old => ` "${old}`),
  ...value('text after a quote', old => ` "${old}" zzz`),
  ...value('a reserved character', old => ` @${old}`),
  ...value('an alias of nothing', old => ` *${old}`),
  ...value('a tag', old => ` !zzz ${old}`),
  ...value('an open mapping', old => ` {${old}`),
  ...value('an open list', old => ` [${old}`),
  ...value('a bracket too many', old => ` [${old}]]`),
  ...value('two colons', old => ` a: ${old}`),
]

const BY_KIND = new Map<string, Mutation[]>()
for (const one of MUTATIONS) {
  const kind = one.what.split(':')[0] ?? ''
  BY_KIND.set(kind, [...(BY_KIND.get(kind) ?? []), one])
}

it.each([...BY_KIND])('one mistake is one message, at its line, with a text: %s', (_, mutations) => {
  const failures = mutations.flatMap(({ text, lines, what }) => {
    const { messages } = load(text)
    const [first] = messages
    const right =
      messages.length === 1 &&
      lines.includes(first?.line ?? 0) &&
      !/undefined|not valid YAML|^$/.test(first?.text ?? '')
    return right ? [] : [`${what}\n${formatMessages(messages)}`]
  })
  expect(failures).toEqual([])
})

it('none of it is a mistake of the set that was changed', () => {
  expect(load(SET)).toMatchObject({ ok: true, messages: [] })
})
