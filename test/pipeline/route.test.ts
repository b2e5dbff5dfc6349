import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EffectivePolicy, PathMatch, RouteSnapshot, Snapshot, UpstreamSnapshot } from '../../src/core/snapshot.js'
import { compileRouter, matchRoute, type SharedRequest } from '../../src/pipeline/route.js'

const policy = {} as EffectivePolicy

function route(
  name: string,
  path: PathMatch,
  methods: string[] | null = null,
  headers: RouteSnapshot['match']['headers'] = [],
): RouteSnapshot {
  return {
    name,
    match: { methods: methods === null ? null : new Set(methods), path, headers },
    policy,
    own: { breaker: false, limits: false, budget: false, throttle: false, pace: false, hedge: false },
  }
}

function upstream(
  name: string,
  over: {
    hosts?: string[]
    pathPrefix?: string
    base?: string
    port?: number
    host?: string
    routes?: RouteSnapshot[]
  } = {},
): UpstreamSnapshot {
  const hostname = over.host ?? `${name}.example.com`
  const port = over.port ?? 80
  return {
    name,
    target: { protocol: 'http:', hostname, port, authority: hostname, basePath: over.base ?? '' },
    listen: null,
    match: { hosts: over.hosts ?? [], pathPrefix: over.pathPrefix ?? `/${name}` },
    hostHeader: 'target',
    tls: {},
    pool: { maxConnections: 1, maxAgeMs: 1 },
    policy,
    routes: over.routes ?? [],
  }
}

function router(upstreams: UpstreamSnapshot[], invalid: Snapshot['invalid'] = new Map()) {
  return compileRouter({ generation: 1, hash: '', upstreams: new Map(upstreams.map(u => [u.name, u])), invalid })
}

const call = (over: Partial<SharedRequest>): SharedRequest => ({
  authority: null,
  forbearUpstream: null,
  host: null,
  path: '/',
  ...over,
})

function where(found: ReturnType<ReturnType<typeof router>['matchShared']>): string {
  if (found === null) return 'none'
  return 'invalid' in found ? `invalid ${found.invalid}` : `${found.upstream.name} ${found.path} ${found.via}`
}

describe('the shared port', () => {
  const payments = upstream('payments', { hosts: ['payments.internal'] })
  const shop = upstream('shop', { base: '/base', port: 8080 })
  const cart = upstream('cart', { pathPrefix: '/shop/cart' })
  const r = router([payments, shop, cart])

  it('strips the matched prefix and keeps the query bytes', () => {
    expect(where(r.matchShared(call({ path: '/payments/a//b/../c?x=%zz&y=%2F' })))).toBe(
      'payments /a//b/../c?x=%zz&y=%2F prefix',
    )
    expect(where(r.matchShared(call({ path: '/payments' })))).toBe('payments / prefix')
    expect(where(r.matchShared(call({ path: '/payments?a=/payments' })))).toBe('payments /?a=/payments prefix')
    expect(where(r.matchShared(call({ path: '/payments/' })))).toBe('payments / prefix')
  })

  it('matches a prefix only at a segment boundary', () => {
    expect(where(r.matchShared(call({ path: '/paymentsx/a' })))).toBe('none')
    expect(where(r.matchShared(call({ path: '/payments%2Fa' })))).toBe('none')
    expect(where(r.matchShared(call({ path: '/other?/payments' })))).toBe('none')
  })

  it('takes the longest prefix', () => {
    expect(where(r.matchShared(call({ path: '/shop/cart/1' })))).toBe('cart /1 prefix')
    expect(where(r.matchShared(call({ path: '/shop/cartoon' })))).toBe('shop /cartoon prefix')
  })

  it('asks the authority first, then the header, then Host, then the prefix', () => {
    const all = call({
      authority: 'payments.internal',
      forbearUpstream: 'shop',
      host: 'payments.internal',
      path: '/shop/cart',
    })
    expect(where(r.matchShared(all))).toBe('payments /shop/cart authority')
    expect(where(r.matchShared({ ...all, authority: null }))).toBe('shop /shop/cart header')
    expect(where(r.matchShared({ ...all, authority: null, forbearUpstream: null }))).toBe('payments /shop/cart host')
    expect(where(r.matchShared(call({ host: 'localhost:15080', path: '/shop/cart' })))).toBe('cart / prefix')
  })

  it('lets a later kind of match suffice when an earlier one finds nothing', () => {
    const request = call({ authority: '127.0.0.1:15080', forbearUpstream: 'nobody', host: 'x', path: '/shop/1' })
    expect(where(r.matchShared(request))).toBe('shop /1 prefix')
  })

  it('ignores case and port of a Host', () => {
    expect(where(r.matchShared(call({ host: 'PAYMENTS.internal:9999', path: '/x' })))).toBe('payments /x host')
  })

  it('takes a host with the dot of the root for the host without it, on either side', () => {
    const dotted = router([upstream('raw', { host: 'raw.example.', port: 8080, hosts: ['raw.internal.'] })])
    expect(where(r.matchShared(call({ host: 'payments.internal.', path: '/x' })))).toBe('payments /x host')
    expect(where(r.matchShared(call({ host: 'payments.internal.:80', path: '/x' })))).toBe('payments /x host')
    expect(where(r.matchShared(call({ host: 'payments.internal..', path: '/x' })))).toBe('none')
    expect(where(r.matchShared(call({ authority: 'cart.example.com.', path: '/v1' })))).toBe('cart /v1 authority')
    expect(where(dotted.matchShared(call({ host: 'raw.internal', path: '/x' })))).toBe('raw /x host')
    expect(where(dotted.matchShared(call({ authority: 'raw.example:8080', path: '/x' })))).toBe('raw /x authority')
    expect(where(dotted.matchShared(call({ authority: 'raw.example.:8080', path: '/x' })))).toBe('raw /x authority')
  })

  it("knows a target's own address in absolute-form, and shows the upstream the URL that the app wrote", () => {
    expect(where(r.matchShared(call({ authority: 'shop.example.com:8080', path: '/base/v1?q' })))).toBe(
      'shop /v1?q authority',
    )
    expect(where(r.matchShared(call({ authority: 'Shop.Example.com:8080', path: '/v1' })))).toBe('shop /v1 authority')
    expect(where(r.matchShared(call({ authority: 'shop.example.com', path: '/v1' })))).toBe('none')
    expect(where(r.matchShared(call({ authority: 'cart.example.com', path: '/v1' })))).toBe('cart /v1 authority')
    expect(where(r.matchShared(call({ authority: 'cart.example.com:80', path: '/v1' })))).toBe('cart /v1 authority')
  })

  it('tells upstreams with one target apart by base path', () => {
    const two = router([upstream('a', { host: 'h', base: '/a' }), upstream('ab', { host: 'h', base: '/a/b' })])
    expect(where(two.matchShared(call({ authority: 'h', path: '/a/b/1' })))).toBe('ab /1 authority')
    expect(where(two.matchShared(call({ authority: 'h', path: '/a/c' })))).toBe('a /c authority')
  })

  it('knows IPv6 addresses with their brackets', () => {
    const six = router([upstream('six', { host: '::1', port: 8080, hosts: ['[::2]'] })])
    expect(where(six.matchShared(call({ authority: '[::1]:8080', path: '/v1' })))).toBe('six /v1 authority')
    expect(where(six.matchShared(call({ host: '[::2]:99', path: '/v1' })))).toBe('six /v1 host')
  })

  it('never serves an undeclared address', () => {
    expect(where(r.matchShared(call({ authority: 'evil.example', host: 'evil.example', path: '/' })))).toBe('none')
    expect(where(r.matchShared(call({ path: '*' })))).toBe('none')
  })

  it('serves a catch-all prefix last and strips nothing', () => {
    const all = router([payments, upstream('rest', { pathPrefix: '/' })])
    expect(where(all.matchShared(call({ path: '/payments/1' })))).toBe('payments /1 prefix')
    expect(where(all.matchShared(call({ path: '/x?y' })))).toBe('rest /x?y prefix')
    expect(where(all.matchShared(call({ path: '/' })))).toBe('rest / prefix')
  })

  it('says that a declared upstream is invalid', () => {
    const match = { hosts: ['b.internal'], pathPrefix: '/broken' }
    const bad = router([payments], new Map([['broken', { match, listen: null }]]))
    expect(where(bad.matchShared(call({ path: '/broken/1' })))).toBe('invalid broken')
    expect(where(bad.matchShared(call({ host: 'b.internal' })))).toBe('invalid broken')
    expect(where(bad.matchShared(call({ forbearUpstream: 'broken' })))).toBe('invalid broken')
  })

  it('gives back prefix plus rest for every path under a prefix', () => {
    const tail = fc.stringMatching(/^(\/[a-z/.%]*)?(\?[a-z/?=]*)?$/)
    fc.assert(
      fc.property(tail, rest => {
        const found = r.matchShared(call({ path: `/payments${rest}` }))
        if (found === null || 'invalid' in found) throw new Error('not found')
        expect(found.path).toBe(rest.startsWith('/') ? rest : `/${rest}`)
      }),
    )
  })
})

describe('routes', () => {
  const exact = (text: string): PathMatch => ({
    kind: 'exact',
    segments: text
      .slice(1)
      .split('/')
      .map(s => (s.startsWith('{') ? null : s)),
  })
  const u = upstream('u', {
    routes: [
      route('place', exact('/v1/orders'), ['POST']),
      route('one', exact('/v1/orders/{id}')),
      route('tenant', { kind: 'prefix', prefix: '/v1' }, null, [{ name: 'x-tenant', value: 'Gold' }]),
      route('v1', { kind: 'prefix', prefix: '/v1' }),
      route('root', exact('/')),
      route('put', { kind: 'any' }, ['PUT']),
    ],
  })
  const name = (method: string, path: string, headers: string[] = []) =>
    matchRoute(u, method, path, headers)?.name ?? 'none'

  it('takes the first that matches', () => {
    expect(name('POST', '/v1/orders')).toBe('place')
    expect(name('GET', '/v1/orders')).toBe('v1')
    expect(name('GET', '/v1/orders/7')).toBe('one')
  })

  it('does not count the query', () => {
    expect(name('POST', '/v1/orders?a=/b')).toBe('place')
    expect(name('GET', '/v1/orders/7?x=/y/z')).toBe('one')
    expect(name('GET', '/v1?x')).toBe('v1')
    expect(name('GET', '/?x')).toBe('root')
  })

  it('lets {name} stand for one segment that is not empty', () => {
    expect(name('GET', '/v1/orders/')).toBe('v1')
    expect(name('GET', '/v1/orders/7/lines')).toBe('v1')
  })

  it('ends a prefix at a segment boundary', () => {
    expect(name('GET', '/v10')).toBe('none')
    expect(name('GET', '/v1/')).toBe('v1')
  })

  it('compares header names without case and values with it', () => {
    expect(name('GET', '/v1/x', ['X-Tenant', 'Gold'])).toBe('tenant')
    expect(name('GET', '/v1/x', ['X-Tenant', 'gold'])).toBe('v1')
    expect(name('GET', '/v1/x', ['A', 'b', 'x-tenant', 'no', 'x-tenant', 'Gold'])).toBe('tenant')
  })

  it('needs method and path both', () => {
    expect(name('PUT', '/other')).toBe('put')
    expect(name('GET', '/other')).toBe('none')
    expect(name('GET', '*')).toBe('none')
  })
})
