import { expect, it } from 'vitest'
import { load, upstream } from './set.js'

/** Wrong lines, the part of them that the advice replaces, and how the advice is read from the message. */
type Case = readonly [lines: string, wrong: string, advice: RegExp]

const WRITE = /write (.+)$/
const UNIT = /such as (\S+)/
const OTHER_UNIT = / or (\d\S+)$/
const cases = (advice: RegExp, wrap: (wrong: string) => string, ...wrong: string[]) =>
  wrong.map((one): Case => [wrap(one), one, advice])
const field = (name: string) => (value: string) => name.replace('_', value)

const CASES: readonly Case[] = [
  ...['off', 'false', 'none', '3'].flatMap(word => cases(WRITE, field('retry: _'), word)),
  ...cases(WRITE, field('timeouts: _'), 'off', '5', '2s'),
  ...cases(WRITE, field('breaker: _'), 'off', 'on', 'false', 'observe'),
  ...cases(WRITE, field('limits: _'), '10', 'auto'),
  ...cases(WRITE, field('budget: _'), '20%', '0.1'),
  ...cases(WRITE, field('retry: { backoff: _ }'), 'linear', 'constant', '1s'),
  ...cases(WRITE, field('retry:\n  _'), 'maxAttempts = 3', 'maxAttempts => 3'),
  ...cases(WRITE, field('retry: { _ }'), 'enabled: false', 'disabled: true'),
  ...cases(WRITE, field('_'), 'retry:{ maxAttempts: 3 }'),
  ...cases(WRITE, field('propagate: _'), "'true'", 'yes').map(([a, b]): Case => [a, b, /write (true|false)/]),
  ...cases(UNIT, field('retry: { maxBody: _ }'), '1', '64', '1000', '65536', '131072', '100000', '0', '"64"'),
  ...cases(UNIT, field('timeouts: { connect: _ }'), '1', '600', '601', '5000', '1.5'),
  ...cases(OTHER_UNIT, field('timeouts: { total: _ }'), '1', '30000'),
  ...cases(/did you mean (.+)\?$/, field('retry: { retryOn: [_] }'), '502 503', '500-504', '50x', '5xx', '4xx', '5*x'),
  ...[
    "path: '/a/*'",
    "path: '/a/:id'",
    "path: '/**'",
    "path: '/x/<b>'",
    "pathPrefix: '/a/*'",
    "pathPrefix: '/:t/b'",
  ].map((match): Case => [`routes:\n  - name: a\n    match:\n      ${match}`, match, /write ([a-zA-Z]+: [^ ,]+)/]),
  ...["pathPrefix: '/x/*'", "pathPrefix: '/*'"].map((match): Case => [`match:\n  ${match}`, match, WRITE]),
  ...cases(
    /did you mean (.+)\?$/,
    field('routes: [{ name: a, match: { methods: [_] } }]'),
    'GTE',
    'DELTE',
    'PSOT',
    'get',
  ),
  ...cases(/did you mean (.+)\?$/, field('routes: [{ name: _, match: {} }]'), 'Orders', 'my_orders', 'a.b'),
]

it.each(CASES)('%j: what the message says to write for %j is right', (lines, wrong, advice) => {
  const { messages } = load(upstream(lines))
  expect(messages).toHaveLength(1)
  const [first] = messages
  const said = first?.suggestion == null ? `${first?.text}` : `${first.text}; did you mean ${first.suggestion}?`
  const right = advice.exec(said)?.[1]
  if (right === undefined) throw new Error(`no advice in: ${said}`)
  expect(load(upstream(lines.replace(wrong, () => right))).messages).toEqual([])
})
