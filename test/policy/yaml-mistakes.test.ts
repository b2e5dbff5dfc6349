import { expect, it } from 'vitest'
import { messagesOf, upstream } from './set.js'

/** Of the lines under `spec`, which begin at line 6. */
const told = (lines: string) => messagesOf(upstream(lines)).map(line => line.replace(/^a\.yaml:/, ''))

it.each<[string, string]>([
  ['match: { pathPrefix: /a/{id} }', '6:24  { ends an unquoted value: put the path in quotes, "/a/{id}" [FB010]'],
  [
    'routes: [{ name: a, match: { path: /a/{id} } }]',
    '6:38  { ends an unquoted value: put the path in quotes, "/a/{id}" [FB010]',
  ],
  [
    'routes:\n  - { name: a, match: { path: /a/{id}/b, methods: [GET] } }',
    '7:33  { ends an unquoted value: put the path in quotes, "/a/{id}/b" [FB010]',
  ],
  [
    'routes:\n  - name: a\n    match: { methods: [GET], path: /{id} }',
    '8:38  { ends an unquoted value: put the path in quotes, "/{id}" [FB010]',
  ],
  [
    'routes: [{ name: a, match: { path: {id} } }]',
    '6:38  spec.routes[0].match.path  expected a path that begins with /, with {name} for a whole segment, got a mapping: put it in quotes: "{id}" [FB034]',
  ],
  [
    'routes:\n  - name: a\n    match:\n      path: {id}/a',
    '9:15  a value that begins with { must be in quotes unless it is a mapping: "{id}/a" [FB010]',
  ],
  ['match: { hosts: [a[0], b] }', '6:20  [ ends an unquoted value: put the value in quotes, "a[0]" [FB010]'],
  [
    'match: { hosts: [a, foo]bar] }',
    '6:27  something follows the ] that ends the value: a comma is missing, or the value needs quotes [FB010]',
  ],
  ['tls: { serverName: ${HOST} }', '6:22  ${HOST} is left: variables are not expanded: run envsubst first [FB012]'],
])('an unquoted value that brackets cut in two is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  [
    'routes: [{ name: a, match: { path: /a,b } }]',
    '6:41  spec.routes[0].match.b  unknown key "b": within { } a comma ends an unquoted value; put all of it in quotes, or give the key a value [FB030]',
  ],
  [
    'retry: { retryOn: gateway-error,connect-failure }',
    '6:21  spec.retry.retryOn  expected a list, got the text "gateway-error": write a list in brackets: [gateway-error] [FB034]',
  ],
])('a value that commas cut in two is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  ['policyRef: @careful', '6:14  a value that begins with @ must be in quotes: "@careful" [FB010]'],
  ['policyRef: `careful`', '6:14  a value that begins with ` must be in quotes: "`careful`" [FB010]'],
  ['policyRef: %careful', '6:14  a value that begins with % must be in quotes: "%careful" [FB010]'],
  ['match: { hosts: [@a] }', '6:20  a value that begins with @ must be in quotes: "@a" [FB010]'],
  [
    'match: { hosts: [*.internal] }',
    '6:20  spec.match.hosts[0]  *.internal has no &.internal before it in this document; a text that begins with * must be in quotes [FB015]',
  ],
  [
    'match:\n  hosts:\n    - *.internal',
    '8:9  spec.match.hosts[0]  *.internal has no &.internal before it in this document; a text that begins with * must be in quotes [FB015]',
  ],
  ['retry: { onHeaders: { x-a: * } }', '6:30  a value that begins with * must be in quotes: "*" [FB010]'],
  ['policyRef: &', '6:14  a value that begins with & must be in quotes: "&" [FB010]'],
  [
    'policyRef: &careful',
    '6:22  spec.policyRef  &careful names nothing: give it a value, or put "&careful" in quotes if it is one [FB015]',
  ],
  [
    'policyRef: !careful',
    '6:14  !careful is a tag, and tags are not supported: remove it, or put the value in quotes if it begins with ! [FB017]',
  ],
  [
    'policyRef: !careful x',
    '6:14  !careful is a tag, and tags are not supported: remove it, or put the value in quotes if it begins with ! [FB017]',
  ],
  [
    'policyRef: !!binary aGk=',
    '6:23  spec.policyRef  !!binary is a tag, and tags are not supported: remove it [FB017]',
  ],
  ['policyRef: *careful', '6:14  spec.policyRef  *careful has no &careful before it in this document [FB015]'],
])('a value that begins with a character YAML keeps for itself is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  ['retry:\n\tmaxAttempts: 3', '7:3  a tab where spaces belong: YAML is indented with spaces only [FB010]'],
  [
    'retry:\n  maxAttempts: 3\n\tmaxBody: 1KiB',
    '8:3  a tab where spaces belong: YAML is indented with spaces only [FB010]',
  ],
  ['routes:\n\t- name: a', '7:3  a tab where spaces belong: YAML is indented with spaces only [FB010]'],
  ['retry: {\n\tmaxAttempts: 3 }', '7:3  a tab where spaces belong: YAML is indented with spaces only [FB010]'],
  ['routes:\n  -\tname: a\n    match: {}', '7:6  a tab where spaces belong: YAML is indented with spaces only [FB010]'],
])('a tab is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  [
    'retry:\n  maxAttempts:3',
    '7:5  spec.retry  expected a mapping, got the text "maxAttempts:3": a space is missing after the colon in maxAttempts:3 [FB034]',
  ],
  ['retry:\n  maxAttempts:3\n  maxBody: 1KiB', '7:5  a space is missing after the colon: write maxAttempts: 3 [FB010]'],
  ['retry:\n  maxBody: 1KiB\n  maxAttempts:3', '8:5  a space is missing after the colon: write maxAttempts: 3 [FB010]'],
  [
    'retry: {maxAttempts:3}',
    '6:11  spec.retry["maxAttempts:3"]  unknown key "maxAttempts:3": a space is missing after the colon, write maxAttempts: 3 [FB030]',
  ],
  [
    'retry: {maxBody: 1KiB, maxAttempts:3}',
    '6:26  spec.retry["maxAttempts:3"]  unknown key "maxAttempts:3": a space is missing after the colon, write maxAttempts: 3 [FB030]',
  ],
  ['routes:\n  - name:a\n    match: {}', '7:7  a space is missing after the colon: write name: a [FB010]'],
  [
    'retry:\n  retryOn:\n    -connect\n    -reset',
    '8:7  spec.retry.retryOn  expected a list, got the text "-connect -reset": a space is missing after the dash [FB034]',
  ],
  ['routes:\n  -name: a\n   match: {}', '7:5  a space is missing after the dash: write - name: a [FB010]'],
  ['policyRef: "careful"#x', '6:23  a comment begins with a space and #: put a space before it [FB010]'],
])('a space that is missing is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  [
    'policyRef: a: b',
    '6:14  a colon and a space in an unquoted value begin another key: put "a: b" in quotes, or a on a line of its own [FB010]',
  ],
  [
    'tls: { caFile: a: b }',
    '6:18  a colon and a space in an unquoted value begin another key: put "a: b" in quotes [FB010]',
  ],
  [
    'retry: maxAttempts: 3',
    '6:10  a colon and a space in an unquoted value begin another key: put "maxAttempts: 3" in quotes, or maxAttempts on a line of its own [FB010]',
  ],
  [
    'retry:\n  maxAttempts = 3\n  maxBody: 1KiB',
    '7:5  a key and its value are parted by a colon: write maxAttempts: 3 [FB010]',
  ],
  ['retry:\n  maxAttempts\n  maxBody: 1KiB', '7:5  a colon is missing after maxAttempts [FB010]'],
  [
    'retry:\n  maxBody: 1KiB\n  maxAttempts 3',
    '8:5  a colon is missing after maxAttempts: write maxAttempts: 3 [FB010]',
  ],
])('a colon is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  [
    'retry:\n  maxAttempts: 3\n    maxBody: 1KiB',
    '8:7  indented deeper than maxAttempts on the line above, which has a value already: align it [FB010]',
  ],
  [
    'retry:\n    maxAttempts: 3\n  maxBody: 1KiB',
    '8:5  this line begins after 4 spaces, where the lines above begin after 0, 2 or 6: align it [FB010]',
  ],
  [
    'retry:\n  backoff:\n     base: 1s\n    cap: 2s',
    '9:7  this line begins after 6 spaces, where the lines above begin after 0, 2, 4 or 7: align it [FB010]',
  ],
  [
    'routes:\n  - name: a\n   - name: b',
    '8:6  this line begins after 5 spaces, where the lines above begin after 0, 2, 4 or 6: align it [FB010]',
  ],
  [
    'routes:\n  - name: a\n     match: {}',
    '8:8  indented deeper than name on the line above, which has a value already: align it [FB010]',
  ],
  [
    'routes:\n  - name: a\n    match: {}\n - name: b',
    '9:4  this line begins after 3 spaces, where the lines above begin after 0, 2, 4 or 6: align it [FB010]',
  ],
  [
    'match:\n  pathPrefix: /a\n  - b',
    '8:7  a list item where a key is expected: indent it below the key of its list [FB010]',
  ],
  [
    'retry:\nmaxAttempts: 3',
    '6:3  spec.retry  retry is empty: maxAttempts stands beside it and belongs under it; indent it [FB033]',
  ],
  [
    'retry: { retryOn: [\nconnect\n] }',
    '7:3  what stands between [ and ] must be indented deeper than its key, ] too [FB010]',
  ],
])('an indentation is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  ['policyRef: "careful', '6:14  the quote opened here is never closed [FB010]'],
  ['policyRef: "careful\nretry: { maxAttempts: 3 }', '6:14  the quote opened here is never closed [FB010]'],
  ["policyRef: 'careful\nretry: {}", '6:14  the quote opened here is never closed [FB010]'],
  ['policyRef: "careful\nlisten: "127.0.0.1:1"', '6:14  the quote opened here is never closed [FB010]'],
  ['retry: { maxAttempts: 3', '6:10  the { opened here is not closed [FB010]'],
  ['retry: { maxAttempts: 3\nbudget: { ratio: 1 }', '6:10  the { opened here is not closed [FB010]'],
  ['retry: { retryOn: [503 }', '6:21  the [ opened here is not closed before this }: ] is missing [FB010]'],
  [
    'retry: { retryOn: [503 }, maxAttempts: 3 }',
    '6:21  the [ opened here is not closed before this }: ] is missing [FB010]',
  ],
  ['retry: { maxAttempts: 3 ]', '6:10  the { opened here is not closed before this ]: } is missing [FB010]'],
  ['retry: { maxAttempts: 3 }}', '6:28  this } closes nothing: it is one too many, or the value needs quotes [FB010]'],
  ['retry: { retryOn: [503]] }', '6:26  this ] closes nothing: it is one too many, or the value needs quotes [FB010]'],
  [
    "policyRef: 'it's'",
    "6:18  the value ends at the ' before this: put all of it in quotes, and write '' for a quote within [FB010]",
  ],
  [
    'policyRef: "a" b',
    '6:18  the value ends at the " before this: put all of it in quotes, and write \\" for a quote within [FB010]',
  ],
  [
    'tls: { caFile: "C:\\dir" }',
    '6:21  a backslash in double quotes begins an escape: write \\\\, or use single quotes [FB010]',
  ],
])('a quote or bracket without its other half is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  ['retry: { maxAttempts: 3 maxBody: 1KiB }', '6:26  a comma is missing before maxBody [FB010]'],
  ['retry: { maxAttempts: 3,, maxBody: 1KiB }', '6:27  a comma with nothing before it: remove it [FB010]'],
])('a comma is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it.each<[string, string]>([
  ['policyRef: | careful', '6:16  a text after | or > begins on the next line [FB010]'],
  [
    'retry: - 3',
    '6:10  a list item on the line of its key: put it on the next line, or write the list in brackets [FB010]',
  ],
  [' retry: {}', '6:3  spec  a no-break space (U+00A0) stands in the key: type it again with plain spaces [FB016]'],
])('something else is told in one message: %j', (lines, message) => {
  expect(told(lines)).toEqual([message])
})

it('a merge conflict is told at its first mark', () => {
  const text = upstream('retry: {}').replace('  retry: {}', '<<<<<<< HEAD\n  retry: {}\n=======\n>>>>>>> mine')
  expect(messagesOf(text)).toEqual([
    'a.yaml:6:1  a merge conflict was left in the file: keep one of its sides and remove the marks [FB010]',
  ])
})

it.each([
  ['%YAML 1.1\n---\n', 'a.yaml:1:1  %YAML 1.1: only YAML 1.2 is read; remove the line [FB017]'],
  [
    '# by hand\n%YAML 1.3\n---\n',
    'a.yaml:2:1  %YAML 1.3: the only line with % that is read is %YAML 1.2; remove the line [FB017]',
  ],
  ['%FOO bar\n---\n', 'a.yaml:1:1  %FOO bar: the only line with % that is read is %YAML 1.2; remove the line [FB017]'],
  ['%YAML 1.2\n', 'a.yaml:2:1  the % lines above end with a line ---, which is missing [FB010]'],
])('a line with % is told where it stands: %j', (before, message) => {
  expect(messagesOf(before + upstream())).toEqual([message])
})

it('a directive of the second document is told in its own place', () => {
  expect(messagesOf(`${upstream()}...\n%YAML 1.1\n---\n${upstream('', 'b')}`)).toEqual([
    'a.yaml:7:1  %YAML 1.1: only YAML 1.2 is read; remove the line [FB017]',
  ])
})
