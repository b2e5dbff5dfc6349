import { expect, it } from 'vitest'
import { messagesOf, upstream } from '../policy/set.js'

const levels = Array.from({ length: 9 }, (_, level) => {
  const inner = level === 0 ? 'lol' : `*a${level - 1}`
  return `  - &a${level} [${Array(9).fill(inner).join(', ')}]`
})

it.each([
  ['below an x- key', `x-bomb:\n${levels.join('\n')}\n${upstream()}`],
  ['below a key that does not exist', `${upstream()}bomb:\n${levels.join('\n')}\n`],
  [
    'below a key that a section does not have',
    upstream(`retry:\n  bomb:\n${levels.map(line => `  ${line}`).join('\n')}`),
  ],
  ['in a route', upstream(`routes:\n  - name: a\n    bomb:\n${levels.map(line => `    ${line}`).join('\n')}`)],
  [
    'through merge keys',
    `x-bomb:\n${Array.from({ length: 9 }, (_, level) => `  - &a${level} { k: [${Array(9).fill(level === 0 ? 'lol' : `*a${level - 1}`)}], <<: ${level === 0 ? '{}' : `*a${level - 1}`} }`).join('\n')}\n${upstream()}`,
  ],
  ['as the whole file', levels.join('\n')],
])('F091: nine levels of nine aliases are refused, counted and not expanded: %s', (_, text) => {
  expect(messagesOf(text)).toEqual([
    expect.stringMatching(
      /more than 200000 values once the \d+ aliases so far are expanded: no more are read \[FB013\]$/,
    ),
  ])
})

it('F091: an alias within its own anchor is refused', () => {
  expect(messagesOf(`x-a: &a [1, *a]\n${upstream()}`)).toEqual([
    'a.yaml:1:13  x-a[1]  *a stands within &a itself [FB015]',
  ])
})
