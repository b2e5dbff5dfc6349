import { deepFreeze } from './deep-freeze.js'

/** What holds where nobody wrote anything: the only copy in code, in the words of a policy. `timeouts.attempt` follows `timeouts.total`. */
export const BUILT_IN = deepFreeze({
  timeouts: { connect: '3s', total: '30s', idle: '60s', response: 'none' },
  retry: {
    maxAttempts: 5,
    retryOn: ['connect', 'reset', 'timeout', 408, 425, 429, 502, 503, 504],
    onHeaders: {},
    backoff: { kind: 'exponential', base: '200ms', factor: 2, cap: '30s', jitter: 'full' },
    throttled: { kind: 'exponential', base: '1s', factor: 2, cap: '30s', jitter: 'full' },
    retryAfter: { cap: '30s', scope: 'request' },
    idempotency: { keyHeaders: ['Idempotency-Key'], generate: false },
    maxBody: '64KiB',
  },
  budget: { ratio: 0.2, window: '10s', minPerSecond: 0.5 },
  breaker: {
    mode: 'enforce',
    failureRatio: 0.8,
    window: '10s',
    minRequests: 20,
    consecutiveFailures: 10,
    openFor: '1s',
    maxOpenFor: '15s',
    whenOpen: 'refuse',
    slowCall: { after: 'none', ratio: 0.8 },
  },
  limits: { maxInFlight: 1024, maxWaiting: 1024, maxWaitingBytes: '16MiB' },
  throttle: { mode: 'disabled', k: 2, window: '30s' },
  fault: { percent: 0, delay: '0ms', abort: false },
  park: {
    accept: 'prefer',
    store: '/var/lib/forbear',
    first: '1m',
    every: '1h',
    maxAge: '12h',
    maxAttempts: 24,
    maxBytes: '64MiB',
    secretHeaders: ['Authorization', 'Cookie', 'X-Api-Key'],
  },
  pool: { maxConnections: 256, maxAge: '5m' },
  propagate: false,
  longPoll: false,
} as const)
