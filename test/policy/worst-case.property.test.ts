import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BackoffSettings } from '../../src/core/backoff.js'
import { forecast } from '../../src/policy/forecast.js'
import { type PolicyPart, policyOf } from '../pipeline/support/policy.js'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, hang, type Play, reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const CONNECT_MS = 400

/** Of the attempt clock. As slow as it may be, mostly: that is where a sum that is too small shows. */
const share = fc.constantFrom(0.99, 0.99, 0.6, 0.01)
const hints = fc.constantFrom<Record<string, string>>(
  {},
  { 'Retry-After': '1' },
  { 'Retry-After': '2' },
  { 'Retry-After': '3' },
)
const plays: fc.Arbitrary<(attemptMs: number) => Play> = fc.oneof(
  fc.constant(() => hang()),
  fc.tuple(share, fc.constantFrom(503, 503, 429, 502, 409, 200), hints).map(
    ([of, status, headers]) =>
      (attemptMs: number) =>
        reply(status, { afterMs: of * attemptMs, headers }),
  ),
  fc.constant(() => reply(503, { headers: { 'Retry-After': '2' } })),
  fc.tuple(share, fc.constantFrom(5000, undefined)).map(
    ([of, idleMs]) =>
      (attemptMs: number) =>
        fail('reset', { afterMs: of * attemptMs, ...(idleMs && { idleMs }) }),
  ),
  fc.constantFrom(CONNECT_MS, 5).map(afterMs => () => fail('connect', { afterMs })),
)

const backoffs: fc.Arbitrary<BackoffSettings> = fc.record({
  kind: fc.constantFrom('exponential', 'linear', 'fixed'),
  baseMs: fc.constantFrom(0, 100, 700),
  factor: fc.constantFrom(1, 2, 3),
  capMs: fc.constantFrom(500, 3000, 60_000),
  jitter: fc.oneof(
    fc.record({ kind: fc.constantFrom('none', 'full', 'equal', 'decorrelated', 'decorrelated', 'decorrelated') }),
    fc.constant({ kind: 'range', low: 0.5, high: 1.5 } as const),
  ),
})

const policies: fc.Arbitrary<PolicyPart> = fc
  .record({
    backoff: backoffs,
    throttled: backoffs,
    // With short attempts it is the waits that make the sum.
    attemptMs: fc.constantFrom(1200, 40),
    maxAttempts: fc.integer({ min: 1, max: 5 }),
    statuses: fc.constantFrom<readonly number[]>([429, 503], [503], []),
    connect: fc.boolean(),
    timeout: fc.boolean(),
    totalMs: fc.constantFrom(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 6000),
    mode: fc.constantFrom('disabled', 'enforce'),
    scope: fc.constantFrom('request', 'request', 'upstream'),
    whenOpen: fc.constantFrom('refuse', 'refuse', 'wait'),
    longPoll: fc.constantFrom(false, false, false, true),
  })
  .map(
    ({
      attemptMs,
      backoff,
      throttled,
      maxAttempts,
      statuses,
      connect,
      timeout,
      totalMs,
      mode,
      scope,
      whenOpen,
      longPoll,
    }) => ({
      timeouts: { connectMs: CONNECT_MS, attemptMs, totalMs },
      retry: {
        maxAttempts,
        backoff,
        throttled,
        retryOn: { connect, reset: true, timeout, statuses: new Set(statuses) },
        retryAfter: { capMs: 2000, scope },
      },
      budget: { minPerSecond: 1000 },
      breaker: { mode, whenOpen, minRequests: 3, consecutiveFailures: 3, openForMs: 100, maxOpenForMs: 500 },
      longPoll,
    }),
  )

const calls = fc.array(
  fc.record({
    method: fc.constantFrom('GET', 'GET', 'POST'),
    afterMs: fc.constantFrom(0, 5, 400, 1500),
    headers: fc.constantFrom<Record<string, string>>(
      {},
      {},
      { 'forbear-timeout-ms': '2500' },
      { 'forbear-max-attempts': '2' },
      { 'idempotency-key': 'k' },
    ),
  }),
  { minLength: 1, maxLength: 4 },
)

describe('the worst case that is told', () => {
  it('is never exceeded by a call in the pipeline, and some come near', async () => {
    let closest = 0
    await fc.assert(
      fc.asyncProperty(
        policies,
        calls,
        fc.array(plays, { minLength: 1, maxLength: 30 }),
        fc.infiniteStream(fc.constantFrom(0, 0.999_999, 0.999_999)),
        async (part, list, script, randoms) => {
          const stage = new Stage(part, { random: () => randoms.next().value as number })
          const attemptMs = part.timeouts?.attemptMs ?? 0
          const playOf = (n: number) => (script[n % script.length] ?? (() => reply(200)))(attemptMs)
          stage.upstream.decides(n => (n < 60 ? playOf(n) : reply(200)))
          for (const { method, afterMs, headers } of list) {
            stage.call(method, `/${stage.calls.length}`, { headers })
            await stage.run(afterMs)
          }
          await stage.finish()
          for (const call of stage.calls) {
            const { ms, because } = forecast(policyOf(part), call.method, call.headers).worst
            // Without an end it is, and rightly so, when the upstream never answers.
            if (ms === Number.POSITIVE_INFINITY) {
              call.hangUp()
              continue
            }
            const tookMs = (call.answeredAtMs ?? Number.NaN) - call.readyAtMs
            expect(tookMs).toBeLessThanOrEqual(ms)
            if (because === 'attempts') closest = Math.max(closest, tookMs / ms)
          }
          await stage.end()
        },
      ),
      { numRuns: 300 },
    )
    expect(closest).toBeGreaterThan(0.8)
  })

  it('counts that decorrelated waits grow from a hint', async () => {
    const jittered = {
      kind: 'exponential',
      baseMs: 100,
      factor: 2,
      capMs: 60_000,
      jitter: { kind: 'decorrelated' },
    } as const
    const part: PolicyPart = {
      timeouts: { connectMs: 5, attemptMs: 20, totalMs: Number.POSITIVE_INFINITY },
      retry: { maxAttempts: 3, backoff: jittered, throttled: jittered, retryAfter: { capMs: 2000 } },
      breaker: { mode: 'disabled' },
    }
    const stage = new Stage(part, { random: () => 0.999_999 })
    stage.upstream.plays(reply(503, { afterMs: 19, headers: { 'Retry-After': '2' } }))
    const call = stage.get('/')
    await stage.finish()
    const { ms } = forecast(policyOf(part), 'GET', []).worst
    expect(call.answeredAtMs).toBeLessThanOrEqual(ms)
    expect(call.answeredAtMs).toBeGreaterThan(0.98 * ms)
  })
})
