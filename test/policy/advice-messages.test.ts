import { describe, expect, it } from 'vitest'
import { messagesOf, upstream } from './set.js'

/** Of one document; place and path are dropped where only the words matter. */
const told = (lines: string) => messagesOf(upstream(lines)).map(line => line.replace(/^a\.yaml:\d+:\d+ {2}/, ''))

const DURATION = 'a duration such as 250ms or 1m30s'

describe('a section that shall be off', () => {
  it.each([
    [
      'retry: { enabled: false }',
      'spec.retry.enabled  unknown key "enabled": there is no such switch; to turn retries off, write maxAttempts: 1 [FB030]',
    ],
    [
      'retry: { disabled: true }',
      'spec.retry.disabled  unknown key "disabled": there is no such switch; to turn retries off, write maxAttempts: 1 [FB030]',
    ],
    [
      'retry: { enabled: true }',
      'spec.retry.enabled  unknown key "enabled": there is no such switch, retry is on without it; remove it [FB030]',
    ],
    [
      'budget: { enabled: true }',
      'spec.budget.enabled  unknown key "enabled": there is no such switch, budget is on without it; remove it [FB030]',
    ],
    [
      'limits: { enabled: false }',
      'spec.limits.enabled  unknown key "enabled": there is no such switch, limits cannot be turned off; remove it [FB030]',
    ],
    [
      'routes: [{ name: a, match: {}, retry: { enabled: false } }]',
      'spec.routes[0].retry.enabled  unknown key "enabled": there is no such switch; to turn retries off, write maxAttempts: 1 [FB030]',
    ],
    ['breaker: { enabled: true }', 'spec.breaker.enabled  unknown key "enabled"; did you mean mode? [FB030]'],
    ['retry: off', 'spec.retry  expected a mapping, got the text "off": write { maxAttempts: 1 } [FB034]'],
    ['retry: false', 'spec.retry  expected a mapping, got false: write { maxAttempts: 1 } [FB034]'],
    ['retry: 3', 'spec.retry  expected a mapping, got 3: write { maxAttempts: 3 } [FB034]'],
    ['retry: 60', 'spec.retry  expected a mapping, got 60 [FB034]'],
    ['retry: on', 'spec.retry  expected a mapping, got the text "on": retry is on without it; remove the key [FB034]'],
    [
      'budget: none',
      'spec.budget  expected a mapping, got the text "none": budget cannot be turned off; remove the key [FB034]',
    ],
    [
      'limits: false',
      'spec.limits  expected a mapping, got false: limits cannot be turned off; remove the key [FB034]',
    ],
    ['timeouts: off', 'spec.timeouts  expected a mapping, got the text "off": write { total: none } [FB034]'],
    ['timeouts: 5', 'spec.timeouts  expected a mapping, got 5: write { total: 5s } [FB034]'],
    ['breaker: off', 'spec.breaker  expected a mapping, got the text "off": write { mode: disabled } [FB034]'],
    ['budget: 20%', 'spec.budget  expected a mapping, got the text "20%": write { ratio: 0.2 } [FB034]'],
    ['match: pay', 'spec.match  expected a mapping, got the text "pay" [FB034]'],
    ['match: /pay', 'spec.match  expected a mapping, got the text "/pay": write { pathPrefix: /pay } [FB034]'],
    [
      'retry: { backoff: linear }',
      'spec.retry.backoff  expected a mapping, got the text "linear": write { kind: linear } [FB034]',
    ],
    [
      'retry:\n  maxAttempts = 3',
      'spec.retry  expected a mapping, got the text "maxAttempts = 3": a key and its value are parted by a colon, write maxAttempts: 3 [FB034]',
    ],
  ])('%s', (lines, text) => {
    expect(told(lines)).toEqual([text])
  })
})

describe('a number without a unit', () => {
  const size = (max: string) => `a size such as 64KiB, from 0B to ${max}`
  it.each([
    [
      'retry: { maxBody: 131072 }',
      `spec.retry.maxBody  expected ${size('64MiB')}, got 131072: add a unit, such as 128KiB [FB034]`,
    ],
    [
      'retry: { maxBody: 65536 }',
      `spec.retry.maxBody  expected ${size('64MiB')}, got 65536: add a unit, such as 64KiB [FB034]`,
    ],
    [
      'retry: { maxBody: 100000 }',
      `spec.retry.maxBody  expected ${size('64MiB')}, got 100000: add a unit, such as 100000B [FB034]`,
    ],
    ['retry: { maxBody: "64" }', `spec.retry.maxBody  "64" is not ${size('64MiB')}; add a unit, such as 64KiB [FB037]`],
    ['retry: { maxBody: 100000000 }', `spec.retry.maxBody  expected ${size('64MiB')}, got 100000000 [FB034]`],
    [
      'timeouts: { connect: 5000 }',
      `spec.timeouts.connect  expected ${DURATION}, from 1ms to 10m, or none, got 5000: add a unit, such as 5000ms [FB034]`,
    ],
    [
      'timeouts: { total: 30000 }',
      `spec.timeouts.total  expected ${DURATION}, from 1ms to 24h, or none, got 30000: add a unit, such as 30000ms or 30000s [FB034]`,
    ],
    [
      'timeouts: { total: 1.5 }',
      `spec.timeouts.total  expected ${DURATION}, from 1ms to 24h, or none, got 1.5: add a unit, such as 1500ms for seconds [FB034]`,
    ],
    [
      'budget: { window: 5 }',
      `spec.budget.window  expected ${DURATION}, from 1s to 10m, got 5: add a unit, such as 5s [FB034]`,
    ],
  ])('%s', (lines, text) => {
    expect(told(lines)).toEqual([text])
  })
})

describe('a variable that nobody has expanded', () => {
  const run = 'variables are not expanded: run envsubst first [FB012]'
  it.each([
    ['timeouts: { total: ${TOTAL} }', `\${TOTAL} is left: ${run}`],
    ['timeouts:\n  total: ${TOTAL}', `spec.timeouts.total  \${TOTAL} is left: ${run}`],
    ['retry: { maxAttempts: $N }', `spec.retry.maxAttempts  $N is left: ${run}`],
    ['listen: $LISTEN', `spec.listen  $LISTEN is left: ${run}`],
    ['policyRef: $(POLICY)', 'spec.policyRef  $(POLICY) is left: variables are not expanded: write the value [FB012]'],
    [
      'policyRef: <%= x %>',
      'spec.policyRef  <%= x %> is left: looks like an unrendered template, render it first [FB012]',
    ],
    ['{% if x %}', '{% if x %} is left: looks like an unrendered template, render it first [FB012]'],
  ])('%s', (lines, text) => {
    expect(told(lines)).toEqual([text])
  })

  it('stands in a target', () => {
    expect(messagesOf(upstream().replace('https://payments.example.com', 'https://${HOST}/x'))).toEqual([
      `a.yaml:5:11  spec.target  \${HOST} is left: ${run}`,
    ])
  })

  it('is text where text of any kind may stand, and where the mistake is another one', () => {
    expect(told("routes: [{ name: a, match: { headers: { x-a: '${X}' } } }]")).toEqual([])
    expect(told("routes: [{ name: A, match: { headers: { x-a: '${X}' } } }]")).toEqual([
      expect.stringMatching(/^spec\.routes\[0\]\.name .*\[FB037\]$/),
    ])
  })

  it('does not carry a secret of a target into a message', () => {
    const text = messagesOf(upstream().replace('payments.example.com', 'user:${PASS}@a.example')).join()
    expect(text).not.toContain('PASS')
  })
})

describe('what is written in other ways', () => {
  it.each([
    [
      "propagate: 'true'",
      'spec.propagate  expected true or false, got the text "true": write true without quotes [FB034]',
    ],
    [
      'retry:{ maxAttempts: 3 }',
      'spec["retry:{ maxAttempts"]  unknown key "retry:{ maxAttempts": a space is missing after the colon, write retry: { maxAttempts: 3 } [FB030]',
    ],
    [
      'retry: { retryOn: [502 503] }',
      'spec.retry.retryOn[0]  "502 503" is not connect, reset, timeout, or a status from 400 to 599 without quotes; did you mean 502, 503? [FB037]',
    ],
    [
      'retry: { retryOn: [500–504] }',
      'spec.retry.retryOn[0]  "500–504" is not connect, reset, timeout, or a status from 400 to 599 without quotes; did you mean 502, 503, 504? [FB037]',
    ],
    [
      'retry: { retryOn: [50x] }',
      'spec.retry.retryOn[0]  "50x" is not connect, reset, timeout, or a status from 400 to 599 without quotes; did you mean 502, 503, 504? [FB037]',
    ],
    [
      'retry: { retryOn: [4xx] }',
      'spec.retry.retryOn[0]  "4xx" is not connect, reset, timeout, or a status from 400 to 599 without quotes; did you mean 408, 425, 429? [FB037]',
    ],
    ['routes: [{ name:, match: {} }]', 'spec.routes[0].name  name is empty: give it a value [FB033]'],
    [
      'routes:\n  - name: a\n    match:',
      'spec.routes[0].match  match is empty: give it a value, {} for every call [FB033]',
    ],
    ['retry:', 'spec.retry  retry is empty: remove the key or give it a value [FB033]'],
  ])('%s', (lines, text) => {
    expect(told(lines)).toEqual([text])
  })

  it('is told at the top too', () => {
    const head = 'apiVersion: forbear.dev/v1alpha1\nkind: Upstream\n'
    expect(messagesOf(`${head}metadata: { name: a }\nspec:\n`)).toEqual([
      'a.yaml:4:1  spec  spec is empty: give it a value [FB033]',
    ])
    expect(messagesOf(`${head}metadata: { name: }\nspec: { target: http://a }\n`)).toEqual([
      'a.yaml:3:13  metadata.name  name is empty: give it a value [FB033]',
    ])
    expect(messagesOf(upstream('', 'payments').replace('name: payments', 'name: Payments'))).toEqual([
      'a.yaml:3:19  metadata.name  "Payments" is not 1 to 63 lower-case letters, digits and hyphens, a letter or digit at both ends; did you mean payments? [FB037]',
    ])
  })
})
