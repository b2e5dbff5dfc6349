import { expect, it } from 'vitest'
import { load, upstream } from '../policy/set.js'

it.each([
  ['an attempt longer than the total', 'timeouts: { attempt: 5s, total: 2s }', ['timeouts.attempt', 'timeouts.total']],
  [
    'ten attempts on no budget',
    'retry: { maxAttempts: 10 }\nbudget: { ratio: 0, minPerSecond: 0 }',
    ['retry.maxAttempts', 'budget.ratio'],
  ],
  [
    'a Retry-After cap above the total',
    'retry: { retryAfter: { cap: 1m } }\ntimeouts: { total: 30s }',
    ['retry.retryAfter.cap', 'timeouts.total'],
  ],
  [
    'retries of a POST without a rule of idempotency',
    'routes: [{ name: pay, match: { methods: [POST] }, retry: { maxAttempts: 3 } }]',
    ['retry.maxAttempts', 'retry.idempotency.generate'],
  ],
  [
    'a generated key without a header',
    'retry: { idempotency: { generate: true, keyHeaders: [] } }',
    ['idempotency.generate', 'idempotency.keyHeaders'],
  ],
  ['a connect clock above the total', 'timeouts: { connect: 5s, total: 2s }', ['timeouts.connect', 'timeouts.total']],
])('F110: %s is one message that names both keys', (_, lines, keys) => {
  const { messages } = load(upstream(lines))
  expect(messages).toHaveLength(1)
  for (const key of keys) expect(messages[0]?.text).toContain(key)
})
