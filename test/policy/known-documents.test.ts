import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type KnownDocuments, packKnown, unpackKnown } from '../../src/policy/known-documents.js'
import { loadDocuments } from '../../src/policy/load.js'
import { readDocuments } from '../../src/policy/read-documents.js'
import { policy, sourceOf, type Texts, together, upstream } from './set.js'

const NOTHING: KnownDocuments = new Map()

/** As the sidecar does: what is known goes through another thread. */
function loadKnowing(texts: Texts, known: KnownDocuments) {
  const source = sourceOf(texts)
  const set = readDocuments(source, unpackKnown(packKnown(known)))
  const options = { mode: 'valid-only', generation: 7 } as const
  const asNew = loadDocuments(source, { ...set, seniority: new Map() }, options)
  return { ...set, asNew, result: loadDocuments(source, set, options) }
}

const parsedOf = (before: Texts, after: Texts) => loadKnowing(after, loadKnowing(before, NOTHING).known).parsed

describe('a document is parsed again', () => {
  const others = Array.from({ length: 5 }, (_, n) => upstream('', `other-${n}`))

  test('when its text changed, and no other one is, wherever it stands', () => {
    const before = together(...others, upstream('timeouts: { total: 2s }'), ...others.map(text => `${text}x-y: 1`))
    const after = before.replace('{ total: 2s }', '\n    total: 3s\n    # three\n    idle: 4s')
    expect(parsedOf(before, after)).toBe(1)
  })

  test('never for being moved', () => {
    const [first = '', ...rest] = others
    const before = { 'a.yaml': together(first, ...rest), 'b.yaml': policy('propagate: true') }
    const after = { 'a.yaml': policy('propagate: true'), 'c.yaml': `${first}\n`, 'd.yaml': together('', ...rest) }
    expect(parsedOf(before, before)).toBe(0)
    expect(parsedOf(before, after)).toBe(0)
  })

  test('when there is a mistake in it', () => {
    const set = together(...others, upstream('retry: { maxAttempts: 0 }'))
    expect(parsedOf(set, set)).toBe(1)
  })

  test('with all of its file where a directive or an end mark stands', () => {
    const set = (total: string) => together(...others, upstream(`timeouts: { total: ${total} }`)) + '\n...\n'
    expect(parsedOf(set('2s'), set('3s'))).toBe(6)
    expect(parsedOf(set('2s'), set('2s'))).toBe(0)
  })
})

const ROUTE = '{ name: a, match: { path: /a } }'
const LINES = [
  '',
  '# only a comment',
  'policyRef: careful',
  'policyRef: nobody',
  'listen: 0.0.0.0:15101',
  'match: { hosts: [shop.internal] }',
  'timeouts: { attempt: 40s }',
  'timeouts: { attempt: 40s, total: 30s }',
  'timeouts: &t { total: 5s }\nx: *t',
  'timeouts: { <<: { total: 5s }, idle: 2s }',
  'timeouts: { total: 5s, total: 6s }',
  'retry: { retryOn: [404] }',
  'retry: { maxAttempts: 9, __proto__: 1 }',
  'retry: { onHeaders: { X-Retry: "yes" } }',
  'budget: { ratio: 0 }',
  `routes: [${ROUTE}]`,
  `routes: [${ROUTE}, ${ROUTE}]`,
  'routes:\n  - name: a\n    match: { path: /a }\n    timeouts: { attempt: 50s }\n    budget: { ratio: 0.9 }',
  'hostHeader: |-\n  target',
  'tls: [',
  'x: "not\n---\n closed"',
]
const NAMES = ['payments', 'shop', 'careful', 'default']

const line = fc.constantFrom(...LINES)
const document = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(line, fc.constantFrom(...NAMES)).map(([text, name]) => upstream(text, name)) },
  { weight: 2, arbitrary: fc.tuple(line, fc.constantFrom(...NAMES)).map(([text, name]) => policy(text, name)) },
  fc.constantFrom(
    '',
    '# nothing',
    '%YAML 1.2',
    '...',
    '{{ .Values.all }}',
    'just text',
    '\n\n# far\n\n',
    '--- |\n ---\n',
  ),
)

const edit = fc.record({
  file: fc.constantFrom('a.yaml', 'b.yaml'),
  at: fc.nat(5),
  remove: fc.nat(2),
  insert: fc.array(document, { maxLength: 3 }),
})

test('after any edits the set is what it would be if it were loaded for the first time', () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 8 }), edits => {
      const set: Record<string, string[]> = { 'a.yaml': [upstream()], 'b.yaml': [policy('propagate: true')] }
      let known = NOTHING
      for (const { file, at, remove, insert } of edits) {
        set[file]?.splice(at, remove, ...insert)
        const texts = Object.fromEntries(Object.entries(set).map(([name, documents]) => [name, together(...documents)]))
        const again = loadKnowing(texts, known)
        const fresh = loadKnowing(texts, NOTHING)
        expect(again.asNew).toEqual(fresh.result)
        // Who of two came first is all that a load knows of the ones before it.
        expect(again.result.ok).toBe(fresh.result.ok)
        expect([...again.known.keys()]).toEqual([...fresh.known.keys()])
        known = again.known
      }
    }),
    { numRuns: 150 },
  )
})
