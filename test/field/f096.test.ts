import { expect, it } from 'vitest'
import { messagesOf, upstream } from '../policy/set.js'

const line = 'routes: [{ name: a, match: {}, longPoll: WORD }]'

it.each([
  ['on', 'true'],
  ['yes', 'true'],
  ['off', 'false'],
  ['no', 'false'],
])('F096: the text %s is not taken for %s', (word, meant) => {
  expect(messagesOf(upstream(line.replace('WORD', word)))).toEqual([
    `a.yaml:6:44  spec.routes[0].longPoll  expected true or false, got the text "${word}": ${word} is text in YAML 1.2, write ${meant} [FB034]`,
  ])
})

it('F096: a key that a tool of YAML 1.1 made out of on is explained', () => {
  expect(messagesOf(upstream('retry: { true: [503] }'))).toEqual([
    'a.yaml:6:12  spec.retry  the key is the truth value true: tools of YAML 1.1 turn on, yes, off and no into it [FB016]',
  ])
})

it('F096: a file that asks for YAML 1.1 is refused', () => {
  expect(messagesOf(`%YAML 1.1\n---\n${upstream()}`)).toEqual([
    'a.yaml:1:1  %YAML 1.1: only YAML 1.2 is read; remove the line [FB017]',
  ])
})
