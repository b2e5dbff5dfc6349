import { expect, it } from 'vitest'
import { messagesOf, policy, together, upstream } from './set.js'

const [A, B, C] = [upstream('', 'a'), upstream('', 'b'), upstream('', 'c')].map(text => text.trimEnd())

it('documents without --- between them are one message for each that begins', () => {
  expect(messagesOf(`${A}\n${B}\n${C}`)).toEqual([
    'a.yaml:6:1  another document begins here: --- is missing before line 6 [FB011]',
    'a.yaml:11:1  another document begins here: --- is missing before line 11 [FB011]',
  ])
  expect(messagesOf(`${A}\n---\n${B}\n---\n${C}`)).toEqual([])
})

it('one key of the top that stands twice is a key twice', () => {
  expect(messagesOf(`${A}\nkind: Upstream`)).toEqual([
    'a.yaml:6:1  kind  the key kind stands here twice, at line 2 and at line 6: keep one [FB011]',
  ])
})

it.each([
  ['  ---', 'a.yaml:6:3  --- must begin at column 1: remove the spaces before it [FB010]'],
  ['\ufeff---', 'a.yaml:6:2  an invisible mark (BOM, U+FEFF) stands before ---: remove it [FB010]'],
])('a mark that is none because of what stands before it: %j', (mark, message) => {
  expect(messagesOf(`${A}\n${mark}\n${B}`)).toEqual([message])
})

it('a BOM after --- is named', () => {
  expect(messagesOf(`${A}\n---\n\ufeff${B}`)).toEqual([
    'a.yaml:7:1  an invisible mark (BOM, U+FEFF) stands in the key: remove it [FB016]',
  ])
})

it('a Policy whose own name is refused is not proposed', () => {
  expect(messagesOf(together(policy('retry: { maxAttempts: 2 }', 'P'), upstream('policyRef: p')))).toEqual([
    expect.stringMatching(/^a\.yaml:3:19 {2}metadata\.name .*did you mean p\? \[FB037\]$/),
    'a.yaml:12:14  spec.policyRef  no Policy is called "p"; there are P [FB044]',
  ])
  expect(
    messagesOf(together(policy('retry: { maxAttempts: 2 }', 'default'), upstream('policyRef: Default'))).at(-1),
  ).toMatch(/did you mean default\? \[FB037\]$/)
})
