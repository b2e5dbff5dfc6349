import { describe, expect, it } from 'vitest'
import { load, policy, snapshotOf, together, upstream } from './set.js'

const only = (lines: string) => {
  const found = snapshotOf(upstream(lines)).upstreams.get('payments')
  if (found === undefined) throw new Error('no upstream')
  return found
}

describe('a snapshot', () => {
  it('has the built-in settings where nothing is written', () => {
    const { policy: built, pool } = only('')
    expect(built.timeouts).toEqual({
      connectMs: 3000,
      attemptMs: 30_000,
      totalMs: 30_000,
      idleMs: 60_000,
      responseMs: Number.POSITIVE_INFINITY,
    })
    expect(built.retry.maxAttempts).toBe(5)
    expect([...built.retry.retryOn.statuses]).toEqual([408, 425, 429, 502, 503, 504])
    expect(built.retry.backoff).toEqual({
      kind: 'exponential',
      baseMs: 200,
      factor: 2,
      capMs: 30_000,
      jitter: { kind: 'full' },
    })
    expect(built.retry.throttled.baseMs).toBe(1000)
    expect(built.retry.idempotency).toEqual({ keyHeaders: ['idempotency-key'], generate: false })
    expect(built.retry.maxBodyBytes).toBe(65_536)
    expect(built.budget).toEqual({ ratio: 0.2, windowMs: 10_000, minPerSecond: 0.5 })
    expect(built.limits).toEqual({
      maxInFlight: 1024,
      adaptive: false,
      maxTunnels: 1024,
      maxWaiting: 1024,
      maxWaitingBytes: 16_777_216,
    })
    expect(pool).toEqual({ maxConnections: 256, maxAgeMs: 300_000 })
    expect(built.longPoll).toBe(false)
  })

  it('carries its generation and the hash of its source', () => {
    expect(snapshotOf(upstream())).toMatchObject({ generation: 7, hash: 'abc' })
  })

  it('lets an attempt take as long as the total in force', () => {
    expect(only('timeouts: { total: 2s }').policy.timeouts.attemptMs).toBe(2000)
    expect(only('timeouts: { total: none }').policy.timeouts.attemptMs).toBe(Number.POSITIVE_INFINITY)
    expect(only('timeouts: { attempt: none }').policy.timeouts.attemptMs).toBe(Number.POSITIVE_INFINITY)
  })

  it('takes later layers over earlier ones, field by field', () => {
    const set = together(
      policy('timeouts: { connect: 1s, idle: 1s, total: 10s }\nretry: { backoff: { base: 1s, cap: 2s } }', 'default'),
      policy('timeouts: { idle: 2s, total: 20s }\nretry: { backoff: { base: 2s } }', 'careful'),
      upstream(`policyRef: careful
timeouts: { total: 25s }
routes:
  - { name: slow, match: { pathPrefix: /slow/ }, timeouts: { total: 28s }, retry: { backoff: { jitter: none } } }`),
    )
    const found = snapshotOf(set).upstreams.get('payments')
    expect(found?.policy.timeouts).toMatchObject({ connectMs: 1000, idleMs: 2000, totalMs: 25_000 })
    expect(found?.policy.retry.backoff).toMatchObject({ baseMs: 2000, capMs: 2000, jitter: { kind: 'full' } })
    const route = found?.routes[0]
    expect(route?.policy.timeouts).toMatchObject({ connectMs: 1000, idleMs: 2000, totalMs: 28_000, attemptMs: 28_000 })
    expect(route?.policy.retry.backoff).toMatchObject({ baseMs: 2000, capMs: 2000, jitter: { kind: 'none' } })
    expect(route?.match.path).toEqual({ kind: 'prefix', prefix: '/slow' })
  })

  it('finds a Policy in another file, whatever their order', () => {
    const set = { 'a.yaml': upstream('policyRef: careful'), 'b.yaml': policy('retry: { maxAttempts: 2 }') }
    expect(snapshotOf(set).upstreams.get('payments')?.policy.retry.maxAttempts).toBe(2)
  })

  it('replaces lists as a whole', () => {
    const { retryOn } = only('retry: { retryOn: [reset, 503] }').policy.retry
    expect(retryOn).toEqual({ connect: false, reset: true, timeout: false, statuses: new Set([503]) })
  })

  it('merges headers by name, in lower case', () => {
    const set = together(
      policy('retry: { onHeaders: { X-Retry: "yes", X-Other: "*" } }', 'default'),
      upstream('retry: { onHeaders: { x-retry: "no" } }'),
    )
    expect(snapshotOf(set).upstreams.get('payments')?.policy.retry.onHeaders).toEqual([
      { name: 'x-retry', value: 'no' },
      { name: 'x-other', value: null },
    ])
  })

  it('reads routes with segments, methods and headers, and which sections are their own', () => {
    const [route, other] = only(`routes:
  - name: order
    match: { methods: [GET, PUT], path: "/v1/orders/{id}", headers: { X-Tenant: gold } }
    breaker: { minRequests: 5 }
    budget: { ratio: 0.1 }
    longPoll: true
  - { name: rest, match: {}, limits: { maxInFlight: 2 } }`).routes
    expect(route?.match).toEqual({
      methods: new Set(['GET', 'PUT']),
      path: { kind: 'exact', segments: ['v1', 'orders', null] },
      headers: [{ name: 'x-tenant', value: 'gold' }],
    })
    expect(route?.own).toEqual({
      breaker: true,
      limits: false,
      budget: true,
      throttle: false,
      pace: false,
      hedge: false,
    })
    expect(route?.policy.longPoll).toBe(true)
    expect(other?.match).toEqual({ methods: null, path: { kind: 'any' }, headers: [] })
    expect(other?.own).toEqual({
      breaker: false,
      limits: true,
      budget: false,
      throttle: false,
      pace: false,
      hedge: false,
    })
  })

  it('can be cloned to another thread', () => {
    const result = load(upstream('routes: [{ name: a, match: { methods: [GET] } }]\ntls: { serverName: x.example }'))
    expect(structuredClone(result)).toEqual(result)
  })

  it('cannot be changed', () => {
    const { policy: built, routes, match } = only('routes: [{ name: a, match: {} }]')
    const parts = [built, built.retry, built.retry.retryOn, built.retry.backoff.jitter, built.retry.onHeaders, routes]
    for (const part of [...parts, routes[0], match, match.hosts]) expect(Object.isFrozen(part)).toBe(true)
  })
})

describe('where an upstream is', () => {
  it.each([
    ['https://payments.example.com/base/', 'https:', 'payments.example.com', 443, 'payments.example.com', '/base'],
    ['http://10.0.0.1:8080', 'http:', '10.0.0.1', 8080, '10.0.0.1:8080', ''],
    ['http://[::1]:80/', 'http:', '::1', 80, '[::1]', ''],
    ['http://Payments/a%2Fb', 'http:', 'payments', 80, 'payments', '/a%2Fb'],
  ])('%s is read into its parts', (target, protocol, hostname, port, authority, basePath) => {
    const text = upstream().replace('https://payments.example.com', target)
    const found = snapshotOf(text).upstreams.get('payments')
    expect(found?.target).toEqual({ protocol, hostname, port, authority, basePath })
  })

  it('is found by its name as prefix unless another is written', () => {
    expect(only('').match).toEqual({ hosts: [], pathPrefix: '/payments' })
    expect(only('match: { hosts: [A.Internal], pathPrefix: /a/b/ }').match).toEqual({
      hosts: ['a.internal'],
      pathPrefix: '/a/b',
    })
    expect(only('match: { pathPrefix: / }').match.pathPrefix).toBe('/')
  })

  it('keeps listener, host header and tls as written', () => {
    expect(only('listen: 127.0.0.1:15101\nhostHeader: preserve\ntls: { caFile: /ca.pem }')).toMatchObject({
      listen: '127.0.0.1:15101',
      hostHeader: 'preserve',
      tls: { caFile: '/ca.pem' },
    })
    expect(only('')).toMatchObject({ listen: null, hostHeader: 'target', tls: {} })
  })
})

describe('a set with valid and invalid documents', () => {
  const good = upstream('', 'good')
  const bad = upstream('listen: 127.0.0.1:15101\nmatch: { hosts: [bad.internal] }\nretry: { maxAttempts: 0 }', 'bad')

  it('is refused as a whole', () => {
    const result = load(together(good, bad))
    expect(result.ok).toBe(false)
    expect('partial' in result).toBe(false)
  })

  it('yields its valid documents when asked for them, and where the others would be', () => {
    const result = load(together(good, bad), 'valid-only')
    expect(result).toMatchObject({ ok: false, messages: [{ code: 'FB036' }] })
    const partial = result.ok ? undefined : result.partial
    expect([...(partial?.upstreams.keys() ?? [])]).toEqual(['good'])
    const match = { hosts: ['bad.internal'], pathPrefix: '/bad' }
    expect(partial?.invalid).toEqual(new Map([['bad', { match, listen: '127.0.0.1:15101' }]]))
  })

  const invalidOf = (...documents: string[]) => {
    const result = load(together(...documents), 'valid-only')
    return result.ok ? [] : [...(result.partial?.invalid.keys() ?? [])].sort()
  }

  it('does not use an upstream whose Policy is invalid', () => {
    expect(invalidOf(upstream('policyRef: careful', 'a'), good, policy('retry: { maxAttempts: 0 }'))).toEqual(['a'])
    expect(invalidOf(upstream('', 'a'), good, policy('retry: { maxAttempts: 0 }', 'default'))).toEqual(['a', 'good'])
    expect(invalidOf(upstream('policyRef: carful', 'a'), good)).toEqual(['a'])
  })

  it('does not use either side of a conflict', () => {
    const claims = 'match: { hosts: [x.internal] }'
    expect(invalidOf(upstream(claims, 'a'), upstream(claims, 'b'), good)).toEqual(['a', 'b'])
    expect(invalidOf(upstream('', 'a'), upstream('', 'a'), good)).toEqual(['a'])
  })

  it('knows the name of an upstream whose YAML is broken', () => {
    expect(invalidOf(good, `${upstream('', 'a')}\n  timeouts: { total: 3s`)).toEqual(['a'])
    expect(invalidOf(good, `${upstream('', 'a')}\n  timeouts: *nowhere`)).toEqual(['a'])
  })

  it('has no valid part without a document', () => {
    expect(load('# only comments\n', 'valid-only')).toEqual({
      ok: false,
      all: [expect.objectContaining({ code: 'FB002' })],
      messages: [expect.objectContaining({ code: 'FB002' })],
      left: { errors: 0, warnings: 0 },
    })
  })
})
