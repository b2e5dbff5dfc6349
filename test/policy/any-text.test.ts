import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { formatMessages } from '../../src/policy/messages.js'
import { load, policy, together, upstream } from './set.js'

const WORDS = [
  'spec',
  'retry',
  'timeouts',
  'routes',
  'match',
  'metadata',
  'name',
  'kind',
  'apiVersion',
  'budget',
  'tls',
]
const key = fc.oneof(
  fc.constantFrom(...WORDS, 'total', 'retryOn', 'backoff', '__proto__', 'constructor', '<<'),
  fc.string(),
)
const value = fc.letrec(tie => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, 'on', '5s', 'none', 'Upstream', 'forbear.dev/v1alpha1', -0, 1e21, Number.NaN),
    fc.string(),
    fc.integer(),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(key, tie('any'), { maxKeys: 6 }),
  ),
})).any

const base = together(
  upstream('timeouts: { total: 5s }\nroutes: [{ name: a, match: {} }]'),
  policy('retry: { maxAttempts: 2 }', 'default'),
)

function judge(text: string): void {
  for (const mode of ['all', 'valid-only'] as const) {
    const result = load(text, mode)
    expect(formatMessages(result.messages).includes('undefined')).toBe(false)
    if (!result.ok) expect(result.messages.some(({ severity }) => severity === 'error')).toBe(true)
  }
}

it('a set of any documents is loaded or refused, and nothing is thrown', () => {
  fc.assert(
    fc.property(fc.dictionary(key, value), fc.constantFrom('Upstream', 'Policy'), (spec, kind) => {
      const document = { apiVersion: 'forbear.dev/v1alpha1', kind, metadata: { name: 'a' }, spec }
      judge(together(base, stringify(document), stringify(spec)))
    }),
    { numRuns: 300 },
  )
})

it('a set of any text is loaded or refused, and nothing is thrown', () => {
  const noise = fc.string({ unit: fc.constantFrom(...'{}[]:,-?!&*#|>%@`\'"<> \n\tab1', '&a ', '*a', '<<: ', '---\n') })
  fc.assert(
    fc.property(noise, fc.nat(base.length), (text, at) => judge(base.slice(0, at) + text + base.slice(at))),
    { numRuns: 500 },
  )
})
