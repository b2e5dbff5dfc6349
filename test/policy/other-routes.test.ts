import { expect, test } from 'vitest'
import { matchRoute } from '../../src/core/route-match.js'
import { otherRoutes } from '../../src/policy/other-routes.js'
import { snapshotOf, upstream } from './set.js'

const shop = snapshotOf(
  upstream(
    `routes:
  - { name: place-order, match: { methods: [POST], path: /v1/orders } }
  - { name: gold, match: { path: /v1/orders, headers: { x-tenant: gold } } }
  - { name: one-order, match: { path: "/v1/orders/{id}" } }
  - { name: reports, match: { path: /reports/daily } }
  - { name: write-reports, match: { methods: [POST], path: /reports/daily } }
  - { name: reads, match: { methods: [GET, HEAD] } }
  - { name: v1, match: { pathPrefix: /v1 } }
  - { name: v2, match: { pathPrefix: /v2/orders } }`,
    'shop',
  ),
).upstreams.get('shop')

function others(method: string, path: string, headers: readonly string[] = []): string[] {
  if (shop === undefined) throw new Error('no upstream')
  const taken = matchRoute(shop, method, path, headers)
  return otherRoutes(shop, taken, method, path, headers).map(({ name, missed, text }) => `${name} ${missed}: ${text}`)
}

test('the other routes are those that one criterion keeps away, and those that come too late', () => {
  expect(others('GET', '/v1/orders?page=2')).toEqual([
    'place-order methods: its methods are POST',
    'gold headers: it wants the header x-tenant: gold',
    'one-order path: its path is /v1/orders/{…}',
    'v1 null: matches, too, but comes after reads',
    'v2 path: its pathPrefix is /v2/orders',
  ])
})

test('a header that is there counts as met, whatever its case', () => {
  expect(others('PUT', '/v1/orders', ['X-Tenant', 'gold'])).toEqual([
    'place-order methods: its methods are POST',
    'one-order path: its path is /v1/orders/{…}',
    'reads methods: its methods are GET, HEAD',
    'v1 null: matches, too, but comes after gold',
    'v2 path: its pathPrefix is /v2/orders',
  ])
})

test('a slash at the end, a segment more and a slip of the pen keep a path near; another path does not count', () => {
  const near = (path: string) => others('DELETE', path).map(text => text.split(' ')[0])
  expect(near('/reports/daily/')).toEqual(['reports', 'reads'])
  expect(near('/reprots/daily')).toEqual(['reports', 'reads'])
  expect(near('/completely/else/where')).toEqual(['reads'])
})
