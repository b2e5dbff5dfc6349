import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cancels,
  isParkable,
  keyOf,
  mayPark,
  nextDueMs,
  type ParkSettings,
  type Redelivery,
  type Sameness,
  storeText,
  verdictOn,
} from '../../src/core/park.js'
import { prefersAsync } from '../../src/core/prefer.js'

const MINUTE = 60_000
const HOUR = 3_600_000
const SETTINGS: ParkSettings = {
  accept: 'prefer',
  store: '/var/lib/forbear',
  firstMs: MINUTE,
  everyMs: HOUR,
  maxAgeMs: 12 * HOUR,
  maxAttempts: 24,
  maxBytes: 1_000_000,
  onParked: null,
  onDead: null,
  keyFile: null,
  secretHeaders: [],
}
const KEYED = { kind: 'keyed', header: 'idempotency-key' } as const
const PREFER = ['Prefer', 'respond-async', 'Idempotency-Key', 'k']

describe('what may be parked', () => {
  it('needs a key of the app, or If-Match, and a method that changes something', () => {
    const always = { accept: 'always' } as const
    expect(mayPark(always, 'POST', ['Idempotency-Key', 'k'], KEYED)).toBe(true)
    expect(mayPark(always, 'PUT', ['If-Match', '"1"'], { kind: 'idempotent' })).toBe(true)
    expect(mayPark(always, 'PATCH', ['If-Match', '"1"'], { kind: 'none' })).toBe(true)
    expect(mayPark(always, 'PUT', [], { kind: 'idempotent' })).toBe(false)
    expect(mayPark(always, 'POST', [], { kind: 'generate' })).toBe(false)
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT']) {
      expect(mayPark(always, method, ['If-Match', '"1"'], { kind: 'idempotent' })).toBe(false)
    }
  })

  it('needs the app to agree unless the policy accepts always', () => {
    expect(mayPark(SETTINGS, 'POST', PREFER, KEYED)).toBe(true)
    expect(mayPark(SETTINGS, 'POST', ['Idempotency-Key', 'k'], KEYED)).toBe(false)
  })

  it.each([
    ['respond-async', true],
    ['Respond-Async', true],
    ['wait=10, respond-async', true],
    ['respond-async; x=1', true],
    ['respond-asynchronously', false],
    ['return=minimal', false],
    ['x="respond-async"', false],
    ['x="a, respond-async, b"', false],
  ])('reads Prefer: %s as %s', (value, agrees) => {
    expect(prefersAsync(['prefer', value])).toBe(agrees)
  })

  it('reads every Prefer field', () => {
    expect(prefersAsync(['Prefer', 'wait=5', 'Prefer', 'respond-async'])).toBe(true)
  })

  it('is nothing that a repetition cannot mend', () => {
    const never = [
      'delivered',
      'bad-request',
      'loop',
      'no-route',
      'no-policy',
      'aborted',
      'cut',
      'body-too-large',
      'parked',
    ]
    for (const outcome of never) expect(isParkable(outcome as 'loop')).toBe(false)
    for (const outcome of [
      'connect',
      'deadline',
      'retries-exhausted',
      'breaker-open',
      'retry-after-too-long',
    ] as const) {
      expect(isParkable(outcome)).toBe(true)
    }
  })
})

describe('when a redelivery is due', () => {
  const due = (attempts: number, hintMs: number | null, random = 0) =>
    nextDueMs(SETTINGS, 0, attempts, hintMs, 1000, () => random) - 1000

  it('comes first after `first` and doubles up to `every`', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7].map(n => due(n, null) / MINUTE)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })

  it('is drawn up to a fifth later', () => {
    expect(due(0, null, 0.5)).toBe(MINUTE * 1.1)
  })

  it('is never before a Retry-After, however long, and not much after it', () => {
    fc.assert(
      fc.property(
        fc.nat(50),
        fc.integer({ min: 1, max: 10 * HOUR }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (n, hint, u) => {
          const waitMs = due(n, hint, u)
          expect(waitMs).toBeGreaterThanOrEqual(hint)
          expect(waitMs).toBeLessThanOrEqual(hint + MINUTE)
        },
      ),
    )
  })

  it('lies between the plain wait and a fifth more, or at the end of the entry', () => {
    const times = fc.record({
      nowMs: fc.integer({ min: 0, max: 13 * HOUR }),
      attempts: fc.nat(2000),
      u: fc.double({ min: 0, max: 0.999, noNaN: true }),
    })
    fc.assert(
      fc.property(times, ({ nowMs, attempts, u }) => {
        const at = nextDueMs(SETTINGS, 0, attempts, null, nowMs, () => u)
        const plain = Math.min(HOUR, MINUTE * 2 ** Math.min(attempts, 30))
        expect(at).toBeGreaterThan(nowMs)
        expect(at).toBeLessThanOrEqual(nowMs + plain * 1.2)
        if (at !== SETTINGS.maxAgeMs) expect(at).toBeGreaterThanOrEqual(nowMs + plain)
        if (nowMs < SETTINGS.maxAgeMs) expect(at).toBeLessThanOrEqual(SETTINGS.maxAgeMs)
      }),
    )
  })
})

describe('what becomes of an entry', () => {
  const facts = { parkedAtMs: 0, attempts: 0, keyed: true, conditional: false, byHand: false }
  const verdict = (result: Redelivery, more: Partial<typeof facts> = {}, nowMs = MINUTE) =>
    verdictOn(result, { ...facts, ...more }, SETTINGS, nowMs, () => 0)
  const response = (status: number, retryAfterMs: number | null = null): Redelivery => ({
    kind: 'response',
    status,
    retryAfterMs,
  })

  it('is delivered by any answer below 400', () => {
    for (const status of [200, 201, 204, 303]) expect(verdict(response(status))).toEqual({ next: 'delivered', status })
  })

  it('is dead at once when the caller is refused', () => {
    for (const status of [401, 403])
      expect(verdict(response(status))).toMatchObject({ next: 'dead', why: `status ${status}` })
  })

  it('is dead when the key was used for something else, or the resource has moved on', () => {
    expect(verdict(response(422))).toMatchObject({ next: 'dead' })
    expect(verdict(response(422), { keyed: false, conditional: true })).toMatchObject({ next: 'later' })
    expect(verdict(response(412), { conditional: true })).toMatchObject({ next: 'dead' })
    expect(verdict(response(412))).toMatchObject({ next: 'later' })
  })

  it('waits on after every other failure', () => {
    for (const status of [400, 404, 409, 429, 500, 503]) {
      expect(verdict(response(status))).toMatchObject({ next: 'later', counted: true, dueAtMs: 3 * MINUTE })
    }
    expect(verdict({ kind: 'failure', outcome: 'reset' })).toMatchObject({ next: 'later', counted: true, why: 'reset' })
  })

  it('waits as long as it is told', () => {
    expect(verdict(response(503, HOUR))).toMatchObject({ next: 'later', dueAtMs: MINUTE + HOUR })
  })

  it('is dead when it is told to wait past its end', () => {
    expect(verdict(response(503, 12 * HOUR))).toMatchObject({
      next: 'dead',
      why: 'status 503; told to wait past maxAge',
    })
  })

  it('does not count what was kept here', () => {
    const kept: Redelivery = { kind: 'not-sent', outcome: 'breaker-open', retryAfterMs: 5000 }
    expect(verdict(kept, { attempts: 23 })).toMatchObject({ next: 'later', counted: false, dueAtMs: MINUTE + 15_000 })
    expect(verdict({ ...kept, retryAfterMs: 2 * MINUTE })).toMatchObject({ dueAtMs: 3 * MINUTE })
  })

  it('is dead with the last of maxAttempts, and with the first failure after maxAge', () => {
    expect(verdict(response(503), { attempts: 22 })).toMatchObject({ next: 'later' })
    expect(verdict(response(503), { attempts: 23 })).toMatchObject({
      next: 'dead',
      why: 'status 503; maxAttempts reached',
    })
    expect(verdict(response(503), {}, 12 * HOUR)).toMatchObject({ next: 'dead', why: 'status 503; older than maxAge' })
    expect(verdict(response(200), {}, 13 * HOUR)).toMatchObject({ next: 'delivered' })
  })

  it('ends, whatever the upstream answers', () => {
    const results: fc.Arbitrary<Redelivery> = fc.oneof(
      fc.record({
        kind: fc.constant('response' as const),
        status: fc.integer({ min: 400, max: 599 }),
        retryAfterMs: fc.option(fc.nat(20 * HOUR)),
      }),
      fc.record({ kind: fc.constant('failure' as const), outcome: fc.constant('reset') }),
      fc.record({
        kind: fc.constant('not-sent' as const),
        outcome: fc.constant('x'),
        retryAfterMs: fc.option(fc.nat(HOUR)),
      }),
    )
    fc.assert(
      fc.property(fc.infiniteStream(results), fc.double({ min: 0, max: 0.999, noNaN: true }), (stream, u) => {
        let nowMs = 0
        let attempts = 0
        for (const result of stream) {
          const next = verdictOn(result, { ...facts, attempts }, SETTINGS, nowMs, () => u)
          if (next.next !== 'later') break
          expect(next.dueAtMs).toBeGreaterThan(nowMs)
          attempts += next.counted ? 1 : 0
          nowMs = next.dueAtMs
        }
        expect(nowMs).toBeLessThanOrEqual(SETTINGS.maxAgeMs + 2 * HOUR)
        expect(attempts).toBeLessThan(SETTINGS.maxAttempts)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a later success', () => {
  const parked: Sameness = { upstream: 'shop', method: 'PUT', path: '/orders/1', key: 'k: 1', arrivedAtMs: 100 }
  const success = { ...parked, key: 'k: 2', arrivedAtMs: 200 }

  it('makes an older call of the same method and target void', () => {
    expect(cancels(success, parked)).toBe(true)
    expect(cancels({ ...success, path: '/orders/2' }, parked)).toBe(false)
    expect(cancels({ ...success, upstream: 'other' }, parked)).toBe(false)
    expect(cancels({ ...success, method: 'DELETE' }, parked)).toBe(false)
  })

  it('leaves one alone that came after it', () => {
    expect(cancels({ ...success, arrivedAtMs: 50 }, parked)).toBe(false)
  })

  it('with POST is another order unless it carries the same key', () => {
    const order = { ...parked, method: 'POST', path: '/orders' }
    expect(cancels({ ...order, key: 'k: 2', arrivedAtMs: 200 }, order)).toBe(false)
    expect(cancels({ ...order, arrivedAtMs: 200 }, order)).toBe(true)
    expect(cancels({ ...order, key: null, arrivedAtMs: 200 }, { ...order, key: null })).toBe(false)
  })

  it('is known by the first key header that holds something', () => {
    expect(keyOf(['X-Key', '', 'Idempotency-Key', 'abc'], ['x-key', 'idempotency-key'])).toBe('idempotency-key: abc')
    expect(keyOf(['Idempotency-Key', '""'], ['idempotency-key'])).toBe(null)
  })
})

describe('the address of a store', () => {
  it.each([
    ['/var/lib/forbear', '/var/lib/forbear'],
    ['redis://redis:6379/2', 'redis://redis:6379/2'],
    ['redis://user:pass@redis:6379', 'redis://***@redis:6379'],
    ['rediss://:p@ss/w@redis', 'rediss://***@redis'],
    ['redis://redis?password=p', 'redis://redis?***'],
  ])('%s is shown as %s', (location, shown) => {
    expect(storeText(location)).toBe(shown)
  })
})
