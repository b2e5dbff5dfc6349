import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { load, messagesOf, upstream } from '../policy/set.js'

const text = readFileSync(new URL('./fixtures/ff06-route-retries.yaml', import.meta.url), 'utf8')

it('FF06: a list of routes with retries is refused by name in one message, and never half loaded', () => {
  expect(messagesOf(text)).toEqual([
    'a.yaml:2:7  kind  kind "VirtualService" of "networking.example.io/v1" is not a document of forbear; it is an Istio route list; write an Upstream for each destination, its retries as spec.retry and its timeout as spec.timeouts.total [FB020]',
  ])
  expect(load(text, 'valid-only')).toMatchObject({ ok: false, partial: { upstreams: new Map(), invalid: new Map() } })
})

it.each([
  ['retry: { attempts: 3 }', 'spec.retry.attempts  unknown key "attempts"; did you mean maxAttempts? [FB030]'],
  [
    'retry: { perTryTimeout: 2s }',
    'spec.retry.perTryTimeout  unknown key "perTryTimeout"; did you mean spec.timeouts.attempt? [FB030]',
  ],
  ['retries: { attempts: 3 }', 'spec.retries  unknown key "retries"; did you mean retry? [FB030]'],
  ['timeout: 3s', 'spec.timeout  unknown key "timeout"; did you mean timeouts.total? [FB030]'],
  [
    'timeouts: { attempt: 2s, total: 3s }\nretry: { maxAttempts: 3 }',
    'spec.retry.maxAttempts  warning: retry.maxAttempts 3 with timeouts.attempt 2s (a.yaml:6) does not fit into timeouts.total 3s (a.yaml:6): once 2 attempts have timed out there is no time for another [FB061]',
  ],
])('FF06: its words and its sums are explained: %s', (lines, message) => {
  expect(messagesOf(upstream(lines)).map(line => line.replace(/^a\.yaml:\d+:\d+ {2}/, ''))).toEqual([message])
})
