import { expect, it } from 'vitest'
import { messagesOf, upstream } from '../policy/set.js'

it('F105: one typo is one message, beside others of their own', () => {
  expect(messagesOf(upstream('retry: { backoff: { kind: exponential, bse: 1s }, attemps: 3 }'))).toEqual([
    'a.yaml:6:42  spec.retry.backoff.bse  unknown key "bse"; did you mean base? [FB030]',
    'a.yaml:6:53  spec.retry.attemps  unknown key "attemps"; did you mean maxAttempts? [FB030]',
  ])
})
