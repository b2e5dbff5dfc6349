import { describe, expect, it } from 'vitest'
import { messagesOf, policy, together, upstream } from './set.js'

const told = (lines: string) => messagesOf(upstream(lines)).map(line => line.replace(/^a\.yaml:/, ''))

describe('fields that do not fit together', () => {
  it.each([
    [
      'timeouts: { attempt: 5s, total: 2s }',
      '6:24  spec.timeouts.attempt  timeouts.attempt 5s cannot fit into timeouts.total 2s (a.yaml:6): make it shorter or leave it out [FB050]',
    ],
    [
      'timeouts: { attempt: 40s }',
      '6:24  spec.timeouts.attempt  timeouts.attempt 40s cannot fit into timeouts.total 30s (the default): make it shorter or leave it out [FB050]',
    ],
    [
      'timeouts: { attempt: 2s, total: 3s }\nretry: { maxAttempts: 3 }',
      '7:25  spec.retry.maxAttempts  warning: retry.maxAttempts 3 with timeouts.attempt 2s (a.yaml:6) does not fit into timeouts.total 3s (a.yaml:6): once 2 attempts have timed out there is no time for another [FB061]',
    ],
    [
      'retry: { retryOn: [connect, 404, 429] }',
      '6:31  spec.retry.retryOn[1]  warning: 404 is answered the same however often one asks: of 4xx only 408, 425 and 429 are worth a retry [FB051]',
    ],
    [
      'retry: { maxAttempts: 3 }\nbudget: { ratio: 0, minPerSecond: 0 }',
      '6:25  spec.retry.maxAttempts  retry.maxAttempts 3 with budget.ratio 0 (a.yaml:7) and budget.minPerSecond 0 (a.yaml:7): no retry is ever granted; give the budget something or write maxAttempts: 1 [FB052]',
    ],
    [
      'budget: { ratio: 0, minPerSecond: 0 }',
      '6:20  spec.budget.ratio  warning: budget.ratio 0 and budget.minPerSecond 0 (a.yaml:6) over budget.window 10s (the default) are less than one retry: none is ever granted; to turn retries off, write retry.maxAttempts: 1 [FB053]',
    ],
    [
      'budget: { ratio: 0, window: 1s }',
      '6:20  spec.budget.ratio  warning: budget.ratio 0 and budget.minPerSecond 0.5 (the default) over budget.window 1s (a.yaml:6) are less than one retry: none is ever granted; to turn retries off, write retry.maxAttempts: 1 [FB053]',
    ],
    [
      'retry: { retryAfter: { cap: 1m } }',
      '6:31  spec.retry.retryAfter.cap  warning: retry.retryAfter.cap 1m is above timeouts.total 30s (the default): no request lives to wait for such a hint [FB054]',
    ],
    [
      'limits: { maxWaiting: 0 }\nbreaker: { whenOpen: wait }',
      '6:25  spec.limits.maxWaiting  limits.maxWaiting 0 with breaker.whenOpen wait (a.yaml:7): calls shall wait and none may [FB055]',
    ],
    [
      'limits: { maxWaiting: 0 }\nretry: { retryAfter: { scope: upstream } }',
      '6:25  spec.limits.maxWaiting  limits.maxWaiting 0 with retry.retryAfter.scope upstream (a.yaml:7): calls shall wait and none may [FB055]',
    ],
    [
      'retry: { backoff: { base: 1m } }',
      '6:29  spec.retry.backoff.base  warning: retry.backoff.base 1m is above retry.backoff.cap 30s (the default): every wait is as long as the cap [FB056]',
    ],
    [
      'retry: { throttled: { cap: 500ms } }',
      '6:30  spec.retry.throttled.cap  warning: retry.throttled.base 1s (the default) is above retry.throttled.cap 500ms: every wait is as long as the cap [FB056]',
    ],
    [
      'breaker: { openFor: 20s }',
      '6:23  spec.breaker.openFor  warning: breaker.openFor 20s is longer than breaker.maxOpenFor 15s (the default) [FB057]',
    ],
    [
      'retry: { idempotency: { generate: true, keyHeaders: [] } }',
      '6:37  spec.retry.idempotency.generate  retry.idempotency.generate true with retry.idempotency.keyHeaders [] (a.yaml:6): there is no header to put the key into; name one, such as [Idempotency-Key] [FB062]',
    ],
    [
      'breaker: { mode: observe, whenOpen: wait }\nlimits: { maxWaiting: 0 }',
      '6:39  spec.breaker.whenOpen  warning: breaker.whenOpen wait does nothing with breaker.mode observe (a.yaml:6): no call is held back [FB064]',
    ],
    [
      'timeouts: { connect: 5s, total: 2s }',
      '6:24  spec.timeouts.connect  warning: timeouts.connect 5s is above timeouts.total 2s (a.yaml:6): the request ends before this clock does [FB067]',
    ],
    [
      'budget: { ratio: 0.001, minPerSecond: 0 }',
      '6:20  spec.budget.ratio  warning: budget.ratio 0.001 with budget.minPerSecond 0 (a.yaml:6) over budget.window 10s (the default): no retry is granted below 1000 calls a second [FB068]',
    ],
    [
      'routes: [{ name: pay, match: { methods: [POST, PATCH] }, retry: { maxAttempts: 3 } }]',
      '6:82  spec.routes[0].retry.maxAttempts  warning: retry.maxAttempts 3 for POST or PATCH: a call of which something was sent is not repeated unless the app sends Idempotency-Key; for an upstream that honours such keys, write retry.idempotency.generate: true [FB063]',
    ],
    [
      'retry: { idempotency: { keyHeaders: [] } }\nroutes: [{ name: pay, match: { methods: [POST] }, retry: { maxAttempts: 3 } }]',
      '7:75  spec.routes[0].retry.maxAttempts  warning: retry.maxAttempts 3 for POST: a call of which something was sent is not repeated; for an upstream that honours such keys, write retry.idempotency.generate: true [FB063]',
    ],
    [
      'routes: [{ name: a, match: {}, longPoll: true, timeouts: { attempt: 5s } }]',
      '6:71  spec.routes[0].timeouts.attempt  warning: timeouts.attempt 5s does nothing on a route with longPoll: its attempts have no clock but timeouts.total [FB066]',
    ],
    [
      'routes: [{ name: a, match: {}, budget: { ratio: 0.5 } }]',
      "6:51  spec.routes[0].budget.ratio  budget.ratio 0.5 is above the upstream's own budget.ratio 0.2 (the default): a route may only tighten it [FB058]",
    ],
    [
      'timeouts: { attempt: 5s }\nroutes: [{ name: a, match: {}, timeouts: { total: 2s } }]',
      '7:53  spec.routes[0].timeouts.total  timeouts.attempt 5s (a.yaml:6) cannot fit into timeouts.total 2s: make it shorter or leave it out [FB050]',
    ],
  ])('%s', (lines, text) => {
    expect(told(lines)).toEqual([text])
  })

  it.each([
    '',
    'timeouts: { total: 2s }',
    'timeouts: { attempt: none, total: 2s }',
    'timeouts: { attempt: 2s, total: 2s }',
    'timeouts: { attempt: 10s, total: none }',
    'timeouts: { attempt: 10s }',
    'timeouts: { attempt: 2s, total: 4s500ms }\nretry: { maxAttempts: 3 }',
    'retry: { maxAttempts: 1 }\nbudget: { ratio: 0, minPerSecond: 0 }',
    'budget: { ratio: 0, minPerSecond: 0.1 }',
    'budget: { ratio: 0.1, minPerSecond: 0 }',
    'limits: { maxWaiting: 0 }',
    'breaker: { mode: disabled }\nlimits: { maxWaiting: 0 }',
    'timeouts: { total: 2s }\nretry: { maxAttempts: 2 }',
    'timeouts: { connect: none, total: 2s }',
    'budget: { ratio: 0.01, minPerSecond: 0 }',
    'budget: { ratio: 0.001 }',
    'retry: { maxAttempts: 3, idempotency: { keyHeaders: [] } }\nroutes: [{ name: pay, match: { methods: [POST] } }]',
    'routes: [{ name: pay, match: { methods: [POST] }, retry: { maxAttempts: 3, idempotency: { generate: true } } }]',
    'routes: [{ name: pay, match: { methods: [POST] }, retry: { maxAttempts: 3, idempotency: { keyHeaders: [X-Key] } } }]',
    'routes: [{ name: pay, match: { methods: [POST] }, retry: { maxAttempts: 3, retryOn: [connect] } }]',
    'routes: [{ name: pay, match: { methods: [POST] }, retry: { maxAttempts: 1 } }]',
    'routes: [{ name: pay, match: { methods: [POST, PUT] }, retry: { maxAttempts: 3 } }]',
    'timeouts: { attempt: 5s }\nroutes: [{ name: a, match: {}, longPoll: true }]',
    'routes: [{ name: a, match: {}, longPoll: true, timeouts: { attempt: none } }]',
    'breaker: { openFor: 15s }',
    'retry: { retryOn: [408, 425, 429, 500, 599] }',
    'routes: [{ name: a, match: {}, budget: { ratio: 0.1, window: 5s } }]',
  ])('are not found in: %s', lines => {
    expect(told(lines)).toEqual([])
  })

  it('are told once where a Policy brings them to many upstreams', () => {
    const bad = policy('breaker: { openFor: 1m }\ntimeouts: { attempt: 5s, total: 2s }')
    const uses = ['a', 'b', 'c'].map(name => upstream('policyRef: careful\nroutes: [{ name: r, match: {} }]', name))
    expect(messagesOf(together(bad, ...uses)).map(line => line.slice(-7))).toEqual(['[FB057]', '[FB050]'])
  })

  it('are told for a Policy that nobody uses', () => {
    expect(messagesOf(together(policy('breaker: { openFor: 1m }'), upstream()))).toHaveLength(1)
  })

  it('are not told for a Policy that fits everywhere it is used', () => {
    const long = policy('timeouts: { attempt: 40s }')
    expect(messagesOf(together(long, upstream('policyRef: careful\ntimeouts: { total: 1m }')))).toEqual([])
  })

  it('are not judged by a value that is wrong itself', () => {
    expect(told('timeouts: { attempt: 40s, total: 5 }')).toEqual([expect.stringContaining('[FB034]')])
    expect(told('timeouts: { attempt: 40s, totl: 1m }\nbreaker: { openFor: 1m, mode: x }')).toHaveLength(4)
  })
})

describe('claims of two upstreams', () => {
  const pair = (a: string, b: string) => messagesOf({ 'a.yaml': upstream(a, 'a'), 'b.yaml': upstream(b, 'b') })

  it.each([
    [
      'listen: 127.0.0.1:1',
      'listen: localhost:1',
      'b.yaml:6:11  spec.listen  the port 1 is also claimed by the Upstream "a" at a.yaml:6 [FB041]',
    ],
    [
      'match: { hosts: [x.internal] }',
      'match: { hosts: [y, X.internal] }',
      'b.yaml:6:23  spec.match.hosts[1]  the host x.internal is also claimed by the Upstream "a" at a.yaml:6 [FB042]',
    ],
    [
      'match: { pathPrefix: /x }',
      'match: { pathPrefix: /x/ }',
      'b.yaml:6:24  spec.match.pathPrefix  the path prefix /x is also claimed by the Upstream "a" at a.yaml:6 [FB043]',
    ],
    [
      'match: { pathPrefix: /b }',
      '',
      'b.yaml:3:19  metadata.name  the path prefix /b, the default, is also claimed by the Upstream "a" at a.yaml:6 [FB043]',
    ],
  ])('%s and %s', (a, b, text) => {
    expect(pair(a, b)).toEqual([text])
  })

  it('on a wildcard address meet every other on that port', () => {
    expect(pair('listen: 127.0.0.1:1', 'listen: 0.0.0.0:1').map(line => line.slice(-7))).toEqual(['[FB041]', '[FB060]'])
  })

  it.each([
    ['listen: 127.0.0.1:1', 'listen: 127.0.0.1:2'],
    ['listen: 127.0.0.1:1', 'listen: 127.0.0.2:1'],
    ['listen: 127.0.0.1:0', 'listen: 127.0.0.1:0'],
    ['match: { hosts: [x, x] }', 'match: { hosts: [y] }'],
    ['match: { pathPrefix: /x }', 'match: { pathPrefix: /x/y }'],
  ])('do not meet: %s and %s', (a, b) => {
    expect(pair(a, b)).toEqual([])
  })

  it('of one name are one message', () => {
    expect(messagesOf({ 'a.yaml': upstream('', 'a'), 'b.yaml': upstream('', 'a') })).toEqual([
      'b.yaml:3:19  metadata.name  the Upstream "a" is also at a.yaml:3: names are unique [FB040]',
    ])
  })

  it('do not meet those of a Policy', () => {
    expect(messagesOf(together(policy('propagate: true', 'a'), upstream('', 'a')))).toEqual([])
  })
})

describe('a policyRef', () => {
  it('that leads nowhere names the nearest Policy', () => {
    expect(messagesOf(together(upstream('policyRef: carefull'), policy('propagate: true')))).toEqual([
      'a.yaml:6:14  spec.policyRef  no Policy is called "carefull"; did you mean careful? [FB044]',
    ])
    expect(messagesOf(upstream('policyRef: fast'))).toEqual([
      'a.yaml:6:14  spec.policyRef  no Policy is called "fast"; there is none in this set [FB044]',
    ])
  })
})

describe('a route', () => {
  const second = (first: string, next: string) =>
    told(`routes:\n  - { name: a, match: ${first} }\n  - { name: b, match: ${next} }`)

  it.each([
    ['{}', '{ path: /x }'],
    ['{}', '{}'],
    ['{ pathPrefix: / }', '{ methods: [POST] }'],
    ['{ pathPrefix: /v1 }', '{ pathPrefix: /v1/ }'],
    ['{ pathPrefix: /v1 }', '{ path: /v1 }'],
    ['{ pathPrefix: /v1 }', '{ path: "/v1/{id}", methods: [GET] }'],
    ['{ path: "/v1/{id}" }', '{ path: /v1/me }'],
    ['{ path: "/v1/{id}" }', '{ path: "/v1/{name}" }'],
    ['{ methods: [GET, POST] }', '{ methods: [POST], pathPrefix: /x }'],
    ['{ headers: { X-Tenant: gold } }', '{ headers: { x-tenant: gold, x-b: c } }'],
  ])('with all that %s matches before it is never reached: %s', (first, next) => {
    expect(second(first, next)).toEqual([
      '8:18  spec.routes[1].match  warning: no call reaches this route: the route "a" at a.yaml:7 comes first and matches all of them [FB065]',
    ])
  })

  it.each([
    ['{ path: /x }', '{}'],
    ['{ pathPrefix: /v1 }', '{ pathPrefix: /v }'],
    ['{ pathPrefix: /v1 }', '{ pathPrefix: /v10 }'],
    ['{ pathPrefix: /v1 }', '{ path: "/{a}/b" }'],
    ['{ path: /v1/me }', '{ path: "/v1/{id}" }'],
    ['{ path: "/v1/{id}" }', '{ pathPrefix: /v1/me }'],
    ['{ path: "/{a}" }', '{ path: "/{a}/{b}" }'],
    ['{ methods: [GET] }', '{}'],
    ['{ methods: [GET] }', '{ methods: [GET, POST] }'],
    ['{ headers: { x-tenant: gold } }', '{ headers: { x-tenant: Gold } }'],
    ['{ headers: { x-tenant: gold } }', '{}'],
  ])('after %s is reached: %s', (first, next) => {
    expect(second(first, next)).toEqual([])
  })

  it('that is wrong itself is not compared', () => {
    expect(
      told('routes: [{ name: a, match: {} }, { name: b, match: { path: 5 } }, { name: c, match: { methods: 5 } }]'),
    ).toEqual([
      expect.stringContaining('spec.routes[1].match.path'),
      expect.stringContaining('spec.routes[2].match.methods'),
    ])
  })
})
