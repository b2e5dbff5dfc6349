import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { load, messagesOf, upstream } from '../policy/set.js'

const text = readFileSync(new URL('./fixtures/ff05-named-policies.yaml', import.meta.url), 'utf8')

it('FF05: a file of policies by name is refused by name in one message, and never half loaded', () => {
  expect(messagesOf(text)).toEqual([
    'a.yaml:3:7  kind  kind "Resiliency" of "example.dev/v1alpha1" is not a document of forbear; it is a set of Dapr policies; write a Policy for each name and an Upstream with policyRef for each target [FB020]',
  ])
  expect(load(text, 'valid-only')).toMatchObject({ ok: false, partial: { upstreams: new Map(), invalid: new Map() } })
})

it.each(['-1', '-1 ', '"-1"', 'unlimited', '0'])('FF05: retries without end, %s, are no number of attempts', count => {
  expect(messagesOf(upstream(`retry: { maxAttempts: ${count} }`))).toEqual([
    expect.stringMatching(/^a\.yaml:6:25 {2}spec\.retry\.maxAttempts /),
  ])
})
