import { expect, it } from 'vitest'
import { messagesOf, snapshotOf, upstream } from '../policy/set.js'

it.each(['1e21', '1_000', '60s', '.inf', '.nan', '1.5', '9007199254740993', '-1'])(
  'F103: %s is no number of attempts',
  text => {
    expect(messagesOf(upstream(`retry: { maxAttempts: ${text} }`))).toHaveLength(1)
  },
)

it.each(['60', '1e3', '1.5s', '1_000ms', '0x10', '.inf', '-5s', '5 s', '5S', '5sec'])(
  'F103: %s is no duration',
  text => {
    expect(messagesOf(upstream(`timeouts: { total: ${text} }`))).toHaveLength(1)
  },
)

it.each(['.inf', '.nan', '1e21', '-0.1', '"0.5"'])('F103: %s is no ratio', text => {
  expect(messagesOf(upstream(`budget: { ratio: ${text} }`))).toHaveLength(1)
})

it('F103: a negative zero is zero, and a hexadecimal number a number', () => {
  const found = snapshotOf(upstream('budget: { ratio: -0 }\nretry: { maxAttempts: 0x10 }')).upstreams.get('payments')
  expect(Object.is(found?.policy.budget.ratio, 0)).toBe(true)
  expect(found?.policy.retry.maxAttempts).toBe(16)
})
