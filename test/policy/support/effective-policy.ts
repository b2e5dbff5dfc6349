import type { EffectivePolicy } from '../../../src/core/snapshot.js'
import { BUILT_IN_POLICY } from '../../support/built-in.js'

const backoff = { kind: 'exponential', baseMs: 100, factor: 2, capMs: 400, jitter: { kind: 'full' } } as const

/** Small round numbers, to be changed where a test is about them. */
export const effectivePolicy = (changes: Partial<EffectivePolicy> = {}): EffectivePolicy => ({
  ...BUILT_IN_POLICY,
  timeouts: { ...BUILT_IN_POLICY.timeouts, connectMs: 1000, attemptMs: 3000, totalMs: 10_000 },
  retry: {
    ...BUILT_IN_POLICY.retry,
    maxAttempts: 3,
    retryOn: { connect: true, reset: true, timeout: true, statuses: new Set([503, 429]) },
    backoff,
    throttled: { ...backoff, baseMs: 500, capMs: 4000 },
    retryAfter: { capMs: 5000, scope: 'request' },
  },
  ...changes,
})
