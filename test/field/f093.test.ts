import { expect, it } from 'vitest'
import { snapshotOf } from '../policy/set.js'

it('F093: 150 aliases in one document load', () => {
  const routes = Array.from({ length: 150 }, (_, i) => `    - { name: r${i}, match: { path: /r${i} }, retry: *std }`)
  const text = `apiVersion: forbear.dev/v1alpha1
kind: Upstream
x-std: &std { maxAttempts: 2, backoff: { base: 1s } }
metadata: { name: payments }
spec:
  target: http://payments
  routes:
${routes.join('\n')}
`
  const list = snapshotOf(text).upstreams.get('payments')?.routes ?? []
  expect(list).toHaveLength(150)
  expect(list.every(({ policy }) => policy.retry.maxAttempts === 2 && policy.retry.backoff.baseMs === 1000)).toBe(true)
})
