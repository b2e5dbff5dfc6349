import { describe, expect, it } from 'vitest'
import { formatMessages } from '../../src/policy/messages.js'
import { load, messagesOf, together, upstream } from './set.js'

const MiB = 1024 * 1024
const filled = (text: string) => text.repeat(MiB / text.length)
const numbered = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join('')

describe('a file of one MiB', () => {
  it.each([
    ['aliases', `x-a: &a x\nx-b:\n${filled('- *a\n')}`],
    ['broken values', `x-a: [${filled('@,')}]`],
    ['brackets that close nothing', `x-a: ${filled('}')}`],
    ['merge keys', `x-a: &a { x: 1 }\nx-b: { ${filled('<<: *a,')} }`],
  ])('of %s is read in part and refused', (_, text) => {
    const { ok, messages } = load(text)
    expect(ok).toBe(false)
    expect(messages.map(({ code }) => code)).toContain('FB018')
    expect(messages.length).toBeLessThan(3)
  })

  it('of documents is read in part and refused', () => {
    expect(messagesOf(filled('---\n'))).toEqual([
      'a.yaml:2002:1  more than 2000 documents in one file: no more are read [FB018]',
    ])
    expect(load(filled('%A\n---\n')).ok).toBe(false)
  })

  it.each<[string, string, string]>([
    ['items', `${upstream()}  retry:\n    retryOn: [${filled('bogus,')}`, 'a.yaml:7:12014'],
    ['keys', `${upstream()}${numbered(60_000, n => `  k${n}: 1\n`)}`, 'a.yaml:2005:1'],
    ['routes', `${upstream()}  routes:\n${filled('    - { name: r }\n')}`, 'a.yaml:2007:1'],
  ])('of far too many %s is read no further than any policy goes', (_, text, place) => {
    const lines = messagesOf(text.slice(0, MiB))
    expect(lines).toEqual([`${place}  more than 2000 entries in one list or mapping: no more are read [FB018]`])
  })

  it.each<[string, string]>([
    ['a wrong type', '  retry: 1\n  breaker: []\n  timeouts: { total: 3 }\n'],
    ['wrong items', `  retry: { retryOn: [${'x, '.repeat(200)}] }\n`],
    ['unknown keys', numbered(40, n => `  maxAttemptz${n}: 1\n`)],
    ['a broken line', '  retry: a: b\n'],
    ['aliases of nothing', `  match: { hosts: [${'*none, '.repeat(30)}] }\n`],
    ['a key twice', `  retry: { ${'maxAttempts: 1, '.repeat(30)} }\n`],
  ])('of documents with %s each is judged up to a thousand errors', (_, spec) => {
    const file = { 'a.yaml': together(...Array.from({ length: 1500 }, (_, n) => upstream('', `a${n}`) + spec)) }
    const { all } = load(file)
    const [first] = all
    expect(first === undefined ? '' : formatMessages([first])).toBe(
      'a.yaml  has 1000 errors and more: what follows is not looked at [FB018]',
    )
    expect(all.filter(({ severity }) => severity === 'error').length).toBeLessThan(1300)
  })

  it('of routes with several mistakes each is judged up to a thousand errors', () => {
    const routes = numbered(
      1000,
      n => `    - { name: r${n}, match: { path: x }, retry: { maxAttempts: 0, maxBody: 1 }, timeouts: { total: x } }\n`,
    )
    const { all } = load(`${upstream()}  routes:\n${routes}`)
    expect(all.length).toBeLessThanOrEqual(1001)
    expect(all[0]?.text).toBe('has 1000 errors and more: what follows is not looked at')
  })

  it('of one long text is no trouble', () => {
    const long = filled(' x\n').slice(0, MiB - 200)
    expect(messagesOf(`x-a: |\n${long}\n${upstream()}`)).toEqual([])
  })
})

it('documents before the place where reading stopped are used with valid-only', () => {
  const result = load(together(upstream('', 'a'), upstream('', 'b'), filled('- ')), 'valid-only')
  expect(result).toMatchObject({ ok: false, messages: [{ code: 'FB014', line: 15 }] })
  expect([...((result.ok ? undefined : result.partial)?.upstreams.keys() ?? [])]).toEqual(['a', 'b'])
})

describe('of very many messages', () => {
  const bad = (count: number) => numbered(count, n => `  k${n}: 1\n`)
  const unwise = (count: number) =>
    `  routes:\n${numbered(count, n => `    - { name: r${n}, match: { path: /r${n} }, longPoll: true, timeouts: { attempt: 1s } }\n`)}`

  it('100 are shown and the rest is counted', () => {
    const lines = messagesOf(upstream() + bad(150))
    expect(lines).toHaveLength(101)
    expect(lines.at(-1)).toBe('and 50 more errors: mend those above first [FB019]')
    expect(messagesOf(upstream() + bad(100))).toHaveLength(100)
  })

  it('the errors come first', () => {
    const { messages, left } = load(upstream() + unwise(150) + bad(60))
    expect(messages.filter(({ severity }) => severity === 'error')).toHaveLength(60)
    expect(left).toEqual({ errors: 0, warnings: 110 })
    expect(formatMessages(messages.slice(-1))).toBe('warning: and 110 more warnings: mend those above first [FB069]')
  })

  it('those of warnings alone leave the set valid', () => {
    expect(load(upstream() + unwise(120))).toMatchObject({ ok: true, left: { errors: 0, warnings: 20 } })
  })
})
