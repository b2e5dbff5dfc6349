import { describe, expect, test } from 'vitest'
import type { EffectivePolicy, RouteSnapshot } from '../../src/core/snapshot.js'
import { type ExplainedCall, explainData, explainText } from '../../src/policy/explain.js'
import { effectivePolicy } from './support/effective-policy.js'
import { upstreamSnapshot } from './support/upstream-snapshot.js'

const route: RouteSnapshot = {
  name: 'read-order',
  match: { methods: new Set(['GET']), path: { kind: 'exact', segments: ['orders', null] }, headers: [] },
  policy: effectivePolicy(),
  own: { breaker: false, limits: false, budget: false, throttle: false, pace: false, hedge: false },
}

const call = (changes: Partial<ExplainedCall> = {}): ExplainedCall => ({
  method: 'GET',
  url: '/shop/orders/1',
  upstream: upstreamSnapshot('shop', { listen: '127.0.0.1:15101', routes: [route] }),
  route,
  via: 'prefix',
  path: '/orders/1',
  headers: [],
  places: new Map([['read-order', 'p/shop.yaml:20']]),
  fields: [
    {
      path: 'timeouts.total',
      value: '10s',
      origin: { kind: 'file', file: 'p/shop.yaml', line: 9, col: 5, from: 'Upstream shop' },
    },
    { path: 'retry.retryOn', value: ['connect', 503], origin: { kind: 'built-in' } },
  ],
  ...changes,
})

test('one call is told in full', () => {
  expect(explainText(call())).toBe(`GET /shop/orders/1

upstream  shop, http://shop.example.com
          by the path prefix /shop on the shared port; it sees /orders/1
route     read-order, the first that matches: GET, path /orders/{…}
attempts  at most 3, the first included
retried   after no connection, connection lost before an answer, attempt timeout, 429, 503
repeated  yes: GET is idempotent
waits     before retry 1: 0ms to 100ms; after a 429: 0ms to 500ms
          before retry 2: 0ms to 200ms; after a 429: 0ms to 1s
          or as long as a Retry-After asks, up to 5s, and the wait above on top
budget    retries in 10s while first attempts succeed: 7 at 1 a second, 25 at 10 a second, 181 at 100 a second
          while all of them fail: 5
          in any second at most 20 % of its first attempts, or 5 if that is more
at worst  the app has an answer 10s after its request was sent (timeouts.total)
breaker   shared by the upstream’s routes; while open, calls are refused with 503

timeouts.total  10s             p/shop.yaml:9 (Upstream shop)
retry.retryOn   [connect, 503]  built-in
`)
})

describe('it is said', () => {
  const { retry, timeouts, breaker } = effectivePolicy()
  const withPolicy = (changes: Parameters<typeof effectivePolicy>[0], more: Partial<ExplainedCall> = {}): string =>
    explainText(
      call({ upstream: upstreamSnapshot('shop', { policy: effectivePolicy(changes) }), route: null, ...more }),
    )

  test('that a POST is sent once, unless it carries a key or gets one', () => {
    expect(withPolicy({}, { method: 'POST' })).toContain(`
repeated  only if nothing was sent: POST is not idempotent without idempotency-key
waits     before retry 1: 0ms to 100ms
          before retry 2: 0ms to 200ms
budget`)
    expect(withPolicy({}, { method: 'POST', headers: ['Idempotency-Key', 'k'] })).toContain(
      'yes: the call carries idempotency-key',
    )
    const idempotency = { keyHeaders: ['idempotency-key'], generate: true }
    expect(withPolicy({ retry: { ...retry, idempotency } }, { method: 'POST' })).toContain(
      'yes: idempotency-key is added, the same on all attempts',
    )
  })

  test('that one attempt is no retry, and nothing else about retries', () => {
    const text = withPolicy({ retry: { ...retry, maxAttempts: 1 } })
    expect(text).toContain('attempts  1: never retried\nat worst')
  })

  test('that no clock ends the call', () => {
    const none = Number.POSITIVE_INFINITY
    const text = withPolicy({ timeouts: { ...timeouts, attemptMs: none, totalMs: none } })
    expect(text).toContain('at worst  the app waits without end: no clock is set')
  })

  test('that decorrelated waits grow from a hint', () => {
    const backoff = { ...retry.backoff, jitter: { kind: 'decorrelated' } } as const
    expect(withPolicy({ retry: { ...retry, backoff } })).toContain(
      'and the wait above on top, from which the next one grows',
    )
  })

  test('how long it takes where the total clock is not what ends it', () => {
    const long = { ...timeouts, totalMs: 120_000 }
    expect(withPolicy({ timeouts: long, breaker: { ...breaker, mode: 'disabled' } })).toContain(`
at worst  the app has an answer 32s500ms after its request was sent (every attempt and wait at its longest, a free one on a fresh connection after a stale one included)
          with maxInFlight calls before it, 2m (timeouts.total)`)
  })

  test('that one attempt may be sent anew on a fresh connection', () => {
    const changes = {
      retry: { ...retry, maxAttempts: 1 },
      timeouts: { ...timeouts, connectMs: 3000, attemptMs: 2000, totalMs: 30_000 },
      breaker: { ...breaker, mode: 'disabled' },
    } as const
    expect(withPolicy(changes)).toContain(
      'an answer 7s after its request was sent (the attempt at its longest, a free one on a fresh connection after a stale one included)',
    )
    expect(withPolicy(changes, { method: 'POST' })).toContain(
      'an answer 5s after its request was sent (the attempt at its longest)',
    )
  })

  test('that no wait is longer than the whole call', () => {
    const long = { ...retry, backoff: { ...retry.backoff, baseMs: 4000, capMs: 60_000 } }
    const short = { ...timeouts, attemptMs: 2000, totalMs: 3000 }
    expect(withPolicy({ retry: long, timeouts: short })).toContain(`
waits     before retry 1: 0ms to 3s; after a 429: 0ms to 500ms
          before retry 2: 0ms to 3s; after a 429: 0ms to 1s
          or as long as a Retry-After asks, up to 3s, and the wait above on top
          none that does not end within 3s, the time of the whole call: the retry is not made
`)
    expect(withPolicy({ retry: long, timeouts: short }, { method: 'POST' })).toContain(`
          none that does not end within 3s, the time of the whole call: the retry is not made
budget`)
  })

  test('until when it is polled, how often and how long, if it is', () => {
    const poll = {
      until: {
        statuses: new Set([200, 404]),
        json: { keys: ['a/b', 'status'], test: { kind: 'in', values: ['done', 3] } },
      },
      backoff: { ...retry.backoff, baseMs: 1000, capMs: 60_000 },
      maxWaitMs: 300_000,
    } as const
    expect(withPolicy({ poll })).toContain(`
poll      repeated until the status is 200 or 404 and /a~1b/status is "done" or 3
          after 1s at first, 1m at most or as long as a Retry-After asks, for 5m
          each repeat is a call of its own with the attempts above; an empty budget makes it slower
at worst  the app has an answer 5m after its request was sent, the last one if it is not the one waited for (poll.maxWait)
`)
    const anything = {
      ...poll,
      until: { statuses: null, json: { keys: [], test: { kind: 'exists', wanted: false } } },
    } as const
    expect(withPolicy({ poll: anything })).toContain('until the status is 2xx and the document is not there')
    expect(withPolicy({ poll })).not.toContain('(timeouts.total)')
    expect(withPolicy({ poll }, { headers: ['Prefer', 'wait=7'] })).toContain('for 7s')
    expect(withPolicy({ poll }, { headers: ['Prefer', 'wait=7'] })).toContain('an answer 10s after')
    for (const unpolled of [withPolicy({}), withPolicy({ poll }, { method: 'POST' })])
      expect(unpolled).not.toContain('poll  ')
  })

  test('what the throttle does, if it is on', () => {
    expect(withPolicy({})).not.toContain('throttle  ')
    expect(withPolicy({ throttle: { mode: 'enabled', k: 1.5, windowMs: 30_000 } })).toContain(
      'throttle  refuses with 503: while the upstream accepts only a part, all but 1.5 times as many',
    )
    expect(withPolicy({ throttle: { mode: 'observe', k: 2, windowMs: 30_000 } })).toContain(
      'tells what it would refuse',
    )
  })

  test('how fast the pace lets calls through, if it is on', () => {
    const pace = { ratePerSec: 15, burst: 3 }
    expect(withPolicy({})).not.toContain('pace  ')
    expect(withPolicy({ pace: { ...pace, mode: 'fixed' } })).toContain(
      '15 calls a second, 3 at once; calls above it wait',
    )
    expect(withPolicy({ pace: { ...pace, mode: 'auto' } })).toContain('after a 429 no faster than it takes')
  })

  test('from when slowness opens the breaker', () => {
    expect(withPolicy({ breaker: { ...breaker, slowCall: { afterMs: 2000, ratio: 0.5 } } })).toContain(
      'also opens on slowness: 50 % of the calls after 2s or more',
    )
  })

  test('what an open breaker does', () => {
    expect(withPolicy({ breaker: { ...breaker, mode: 'disabled' } })).toContain('breaker   off')
    expect(withPolicy({ breaker: { ...breaker, mode: 'observe' } })).toContain('counts and reports, refuses nothing')
    expect(withPolicy({ breaker: { ...breaker, whenOpen: 'wait' } })).toContain('calls wait for it to close')
  })

  test('which routes nearly match, and where they are written', () => {
    expect(explainText(call({ method: 'POST', route: null }))).toContain(`
route     none of 1 matches
          not read-order (p/shop.yaml:20): its methods are GET
`)
    const later = { ...route, name: 'later', match: { ...route.match, methods: null } }
    const text = explainText(call({ upstream: upstreamSnapshot('shop', { routes: [route, later] }) }))
    expect(text).toContain('never later: it matches, too, but comes after read-order')
  })

  test('which route there is when none applies', () => {
    expect(explainText(call({ route: null }))).toContain('route     none of 1 matches')
    expect(withPolicy({})).toContain('route     none is written')
  })

  test.for([
    ['own-port', 'by its own port 127.0.0.1:15101'],
    ['authority', 'by the address in the request line'],
    ['host', 'by the Host header'],
    ['header', 'by the forbear-upstream header'],
  ] as const)('that the upstream was found by its %s', ([via, words]) => {
    expect(explainText(call({ via }))).toContain(words)
  })
})

test('tools get the same as data, that survives JSON', () => {
  const data = explainData(call())
  expect(JSON.parse(JSON.stringify(data))).toEqual(data)
  expect(data).toMatchObject({
    upstream: 'shop',
    route: 'read-order',
    repeatable: 'idempotent',
    maxAttempts: 3,
    worstCaseMs: 10_000,
    retriesPer10s: [{ perSecond: 1, succeeding: 7, failing: 5 }, { succeeding: 25 }, { succeeding: 181, failing: 5 }],
  })
})

describe('of hedging it is said', () => {
  const told = (hedge: Partial<EffectivePolicy['hedge']>, more: Partial<ExplainedCall> = {}, rest: object = {}) => {
    const policy = effectivePolicy({ hedge: { ...effectivePolicy().hedge, mode: 'enabled', ...hedge }, ...rest })
    const text = explainText(call({ upstream: upstreamSnapshot('shop', { policy }), route: null, ...more }))
    return /^hedged +(.*?)(?=^at worst)/ms.exec(text)?.[1]?.replace(/\n +/g, '\n').trimEnd() ?? null
  }

  test('nothing where it is off', () => {
    expect(told({ mode: 'disabled' })).toBeNull()
  })

  test('when one is sent and what it may cost', () => {
    expect(
      told({}),
    ).toBe(`later than 95 % of the last answers (at least 5ms, at most 10s, once 100 are known), one more call goes out on another connection
the first good answer counts and ends the others; a failure brings the next one forward, unless it asks for a pause
never while the breaker is not closed, the gate is shut or no slot is free
about 5 % more calls; never more in 10s than half of the budget: 3 at 1 a second, 12 at 10 a second, 90 at 100 a second`)
  })

  test('that a fixed time is one, and how many there may be', () => {
    const after = { kind: 'fixed', delayMs: 50 } as const
    expect(told({ after })).toMatch(/^without an answer after 50ms, one more call goes out on another connection\n/)
    // Three attempts in all.
    expect(told({ after, maxHedges: 4 })).toMatch(/^without an answer after 50ms, up to 2 more calls go out, each/)
  })

  test('that observing only counts', () => {
    expect(told({ mode: 'observe' })).toMatch(/, one more call would go out; it is only counted$/)
  })

  const { retry } = effectivePolicy()
  test.for([
    ['POST', {}, {}, 'never: POST is not hedged, only GET, HEAD and OPTIONS are'],
    ['POST', { keyedWrites: true }, {}, 'never: POST is hedged only with an idempotency key'],
    ['GET', {}, { longPoll: true }, 'never: the answer of a long poll is never late'],
    ['GET', {}, { retry: { ...retry, maxAttempts: 1 } }, 'never: a hedge is an attempt, and only one is allowed'],
  ] as const)('%s with %j and %j: %s', ([method, hedge, rest, expected]) => {
    expect(told(hedge, { method }, rest)).toBe(expected)
  })

  test('the same to tools', () => {
    const policy = effectivePolicy({ hedge: { ...effectivePolicy().hedge, mode: 'enabled' } })
    const data = explainData(call({ upstream: upstreamSnapshot('shop', { policy }), route: null }))
    expect(data).toMatchObject({
      hedged: [expect.stringMatching(/^later than 95 %/), ...Array(3).fill(expect.any(String))],
    })
  })
})

test('the password of a store is not told', () => {
  const store = { path: 'park.store', value: 'redis://:s3cret@redis:6379', origin: { kind: 'built-in' } } as const
  const told = [explainText(call({ fields: [store] })), JSON.stringify(explainData(call({ fields: [store] })))]
  for (const text of told) expect(text).toContain('redis://***@redis:6379')
})
