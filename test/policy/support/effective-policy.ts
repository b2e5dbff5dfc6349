import type { EffectivePolicy } from '../../../src/core/snapshot.js'

const backoff = { kind: 'exponential', baseMs: 100, factor: 2, capMs: 400, jitter: { kind: 'full' } } as const

/** Small round numbers, to be changed where a test is about them. */
export const effectivePolicy = (changes: Partial<EffectivePolicy> = {}): EffectivePolicy => ({
  timeouts: { connectMs: 1000, attemptMs: 3000, totalMs: 10_000, idleMs: 60_000, responseMs: Number.POSITIVE_INFINITY },
  retry: {
    maxAttempts: 3,
    retryOn: { connect: true, reset: true, timeout: true, statuses: new Set([503, 429]) },
    onHeaders: [],
    backoff,
    throttled: { ...backoff, baseMs: 500, capMs: 4000 },
    retryAfter: { capMs: 5000, scope: 'request' },
    idempotency: { keyHeaders: ['idempotency-key'], generate: false },
    maxBodyBytes: 65_536,
  },
  budget: { ratio: 0.2, windowMs: 10_000, minPerSecond: 0.5 },
  breaker: {
    mode: 'enforce',
    failureRatio: 0.8,
    windowMs: 10_000,
    minRequests: 20,
    consecutiveFailures: 10,
    openForMs: 1000,
    maxOpenForMs: 15_000,
    whenOpen: 'refuse',
  },
  limits: { maxInFlight: 1024, maxWaiting: 1024, maxWaitingBytes: 16_777_216 },
  propagate: false,
  longPoll: false,
  ...changes,
})
