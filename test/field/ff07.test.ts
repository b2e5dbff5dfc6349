import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { load, messagesOf, snapshotOf, upstream } from '../policy/set.js'

const text = readFileSync(new URL('./fixtures/ff07-anchors-policy.yaml', import.meta.url), 'utf8')

it('FF07: a map of upstreams with anchors is refused by name in one message, and never half loaded', () => {
  expect(messagesOf(text)).toEqual([
    'a.yaml:1:1  not a document of forbear: it has neither apiVersion nor kind; it looks like a map of upstreams; write one document of kind Upstream for each; the on at line 17 is text in YAML 1.2, write true; write apiVersion: forbear.dev/v1alpha1 and kind: Upstream or Policy [FB020]',
  ])
  expect(load(text, 'valid-only')).toMatchObject({ ok: false, partial: { upstreams: new Map(), invalid: new Map() } })
})

it('FF07: two upstreams that share an alias share no mutable object', () => {
  const shared = 'x-std: &std { maxAttempts: 2, backoff: { base: 50ms } }\n'
  const text = `${shared}${upstream('retry: *std\nroutes: [{ name: a, match: {}, retry: *std }]')}`
  const found = snapshotOf(text).upstreams.get('payments')
  expect(found?.routes[0]?.policy.retry).toEqual(found?.policy.retry)
  expect(Object.isFrozen(found?.policy.retry.backoff)).toBe(true)
})
