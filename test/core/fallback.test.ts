import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { FALLBACK_CAUSES, type FallbackSettings, fallbackCause } from '../../src/core/fallback.js'
import { DELIVERED_OUTCOMES, OWN_REASONS } from '../../src/core/reasons.js'

const settings: FallbackSettings = {
  when: new Set(['breaker-open', 'retries-exhausted']),
  methods: new Set(['GET']),
  status: 200,
  headers: [],
  body: '',
  file: null,
}

test('a cause is how the request ended, or why no further attempt was made', () => {
  expect(fallbackCause(settings, 'GET', 'breaker-open', null)).toBe('breaker-open')
  expect(fallbackCause(settings, 'GET', 'connect', 'retries-exhausted')).toBe('retries-exhausted')
  expect(fallbackCause(settings, 'GET', 'connect', 'not-repeatable')).toBe(null)
})

test('another method and an empty list of causes have none', () => {
  expect(fallbackCause(settings, 'POST', 'breaker-open', null)).toBe(null)
  expect(fallbackCause({ ...settings, when: new Set() }, 'GET', 'breaker-open', null)).toBe(null)
})

test('every cause that may be written is given, and no other end is', () => {
  const all = { ...settings, when: new Set(FALLBACK_CAUSES) }
  fc.assert(
    fc.property(fc.constantFrom(...DELIVERED_OUTCOMES, ...OWN_REASONS), outcome => {
      const known = (FALLBACK_CAUSES as readonly string[]).includes(outcome)
      expect(fallbackCause(all, 'GET', outcome, null)).toBe(known ? outcome : null)
    }),
  )
})
