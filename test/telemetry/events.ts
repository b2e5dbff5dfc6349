import type { AttemptFinished, RequestFinished, RetryScheduled } from '../../src/telemetry/events.js'

export function requestFinished(over: Partial<RequestFinished> = {}): RequestFinished {
  return {
    type: 'request-finished',
    upstream: 'payments',
    route: null,
    method: 'GET',
    path: '/v1/orders',
    status: 200,
    outcome: 'delivered',
    denied: null,
    attempts: 1,
    hedges: 0,
    polls: 0,
    durationMs: 12.3456,
    headMs: 11.2345,
    waitedMs: 0,
    responseBytes: 1024,
    generation: 3,
    traceId: null,
    ...over,
  }
}

export function attemptFinished(over: Partial<AttemptFinished> = {}): AttemptFinished {
  return {
    type: 'attempt-finished',
    upstream: 'payments',
    route: null,
    attempt: 1,
    status: 200,
    result: 'response',
    durationMs: 11,
    ...over,
  }
}

export function retryScheduled(over: Partial<RetryScheduled> = {}): RetryScheduled {
  return {
    type: 'retry-scheduled',
    upstream: 'payments',
    route: null,
    method: 'GET',
    path: '/v1/orders',
    attempt: 1,
    status: 503,
    error: null,
    delayMs: 187.654,
    reason: 'status',
    traceId: null,
    ...over,
  }
}
