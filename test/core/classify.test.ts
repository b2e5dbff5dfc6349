import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ClassifyContext, classifyFailure, classifyResponse } from '../../src/core/classify.js'
import type { RetryHeader, RetrySettings } from '../../src/core/snapshot.js'

const STATUSES = [408, 425, 429, 502, 503, 504]
const backoff = { kind: 'fixed', baseMs: 1, factor: 1, capMs: 1, jitter: { kind: 'none' } } as const

function retry(onHeaders: readonly RetryHeader[] = [], on = true): RetrySettings {
  return {
    maxAttempts: 3,
    retryOn: { connect: on, reset: on, timeout: on, statuses: new Set(on ? STATUSES : []) },
    onHeaders,
    backoff,
    throttled: backoff,
    retryAfter: { capMs: 30_000, scope: 'request' },
    idempotency: { keyHeaders: ['idempotency-key'], generate: false },
    maxBodyBytes: 0,
  }
}

function classify(status: number, headers: readonly string[] = [], over: Partial<ClassifyContext> = {}) {
  return classifyResponse(status, headers, { retry: retry(), wallNowMs: 0, keyed: false, resend: false, ...over })
}

describe('classifying a response', () => {
  it.each(STATUSES)('finds %i worth another attempt', status => {
    expect(classify(status)).toMatchObject({ retryable: true, why: 'status', stop: null })
  })

  it.each([400, 401, 403, 404, 409, 422, 500, 501])('finds %i not worth another attempt', status => {
    expect(classify(status)).toMatchObject({ retryable: false, why: null, stop: null })
  })

  it('gives every good answer the same facts, whatever its headers say', () => {
    const good = classify(200)
    expect(good).toEqual({
      retryable: false,
      why: null,
      breaker: 'success',
      retryAfterMs: null,
      throttled: false,
      stop: null,
    })
    expect(classify(302, ['Retry-After', '5', 'forbear-exhausted', '1'])).toBe(good)
  })

  it('tells the breaker what each status means', () => {
    const means = [200, 404, 429, 500, 501, 502, 503, 504, 599].map(s => classify(s).breaker)
    expect(means).toEqual([
      'success',
      'success',
      'throttled',
      'ratio-failure',
      'ratio-failure',
      'failure',
      'failure',
      'failure',
      'ratio-failure',
    ])
  })

  it('marks only a 429 as throttled', () => {
    expect([429, 503].map(s => classify(s).throttled)).toEqual([true, false])
  })

  it('reads the hint of a 429 and a 503 even when they are not retried, for the gate', () => {
    const off = { retry: retry([], false) }
    expect(classify(503, ['Retry-After', '2'], off)).toMatchObject({ retryable: false, retryAfterMs: 2000 })
    expect(classify(429, ['Retry-After', '2'], off)).toMatchObject({ retryable: false, retryAfterMs: 2000 })
  })

  it('never lets a hint make an answer retryable', () => {
    expect(classify(500, ['Retry-After', '2'])).toMatchObject({ retryable: false, retryAfterMs: null })
  })

  it('retries on a configured header, of a good answer too', () => {
    const any = { retry: retry([{ name: 'x-busy', value: null }]) }
    const exact = { retry: retry([{ name: 'x-busy', value: 'Yes' }]) }
    expect(classify(200, ['X-Busy', ''], any)).toMatchObject({ retryable: true, why: 'header', breaker: 'success' })
    expect(classify(200, ['X-Busy', 'Yes'], exact).retryable).toBe(true)
    expect(classify(200, ['X-Busy', 'yes'], exact).retryable).toBe(false)
    expect(classify(200, [], any).retryable).toBe(false)
  })

  it('waits for the first one on a 409 to a re-send with a key, and only then', () => {
    expect(classify(409, [], { keyed: true, resend: true })).toMatchObject({ retryable: true, why: 'key-conflict' })
    expect(classify(409, [], { keyed: true }).retryable).toBe(false)
    expect(classify(409, [], { resend: true }).retryable).toBe(false)
  })

  it('takes a 422 to a re-send with a key as final, whatever is configured', () => {
    const configured = { retry: retry([{ name: 'x', value: null }]), keyed: true, resend: true }
    expect(classify(422, ['X', '1'], configured).retryable).toBe(false)
  })

  it('stops when a layer below has given up', () => {
    expect(classify(503, ['Forbear-Exhausted', '1'])).toMatchObject({
      retryable: false,
      why: null,
      stop: 'exhausted',
      breaker: 'failure',
    })
    expect(classify(404, ['Forbear-Exhausted', '1']).stop).toBeNull()
  })

  it.each(['-1', '-5', '', 'soon', '1.5', '+3', '2147483648', '99999999999'])(
    'takes the push-back %j as "never again"',
    value => {
      expect(classify(503, ['grpc-retry-pushback-ms', value])).toMatchObject({ retryable: false, stop: 'pushback' })
    },
  )

  it('stops on an overloaded Envoy', () => {
    expect(classify(503, ['x-envoy-overloaded', 'true'])).toMatchObject({ retryable: false, stop: 'pushback' })
  })

  it('takes the later of Retry-After and a valid push-back', () => {
    expect(classify(503, ['grpc-retry-pushback-ms', '700'])).toMatchObject({ retryable: true, retryAfterMs: 700 })
    expect(classify(503, ['grpc-retry-pushback-ms', '700', 'Retry-After', '1']).retryAfterMs).toBe(1000)
    expect(classify(503, ['grpc-retry-pushback-ms', '1700', 'Retry-After', '1']).retryAfterMs).toBe(1700)
  })

  it('is retryable exactly when it has a cause, and never with a stop', () => {
    const header = fc.tuple(
      fc.constantFrom('Retry-After', 'forbear-exhausted', 'grpc-retry-pushback-ms', 'x-envoy-overloaded', 'x-busy'),
      fc.oneof(fc.constantFrom('1', '-1', 'true'), fc.string()),
    )
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), fc.array(header), fc.boolean(), (status, fields, keyed) => {
        const context = { retry: retry([{ name: 'x-busy', value: null }]), keyed, resend: keyed }
        const facts = classify(status, fields.flat(), context)
        expect(facts.retryable).toBe(facts.why !== null)
        expect(facts.retryable && facts.stop !== null).toBe(false)
      }),
    )
  })
})

describe('classifying a failure', () => {
  it('finds connect, reset and timeout worth another attempt when the policy says so', () => {
    for (const kind of ['connect', 'reset', 'timeout'] as const) {
      expect(classifyFailure(kind, false, retry())).toMatchObject({ retryable: true, why: kind, breaker: 'failure' })
      expect(classifyFailure(kind, false, retry([], false))).toMatchObject({ retryable: false, breaker: 'failure' })
    }
  })

  it('says nothing about the upstream when this host has run out of something', () => {
    expect(classifyFailure('overloaded', false, retry())).toMatchObject({ why: 'connect', breaker: 'none' })
    expect(classifyFailure('overloaded', false, retry([], false))).toMatchObject({ retryable: false, breaker: 'none' })
  })

  it('never repeats a bad response, a cut or what no repetition can mend, yet counts them', () => {
    const never = { retryable: false, why: null, breaker: 'failure' }
    expect(classifyFailure('bad-response', false, retry())).toMatchObject(never)
    expect(classifyFailure('cut', false, retry())).toMatchObject(never)
    expect(classifyFailure('connect', true, retry())).toMatchObject(never)
  })
})
