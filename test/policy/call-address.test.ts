import { describe, expect, test } from 'vitest'
import { ownPortOf, parseCallAddress } from '../../src/policy/call-address.js'
import { upstreamSnapshot } from './support/upstream-snapshot.js'
import { snapshotOf } from './support/watching.js'

const snapshot = snapshotOf(1, 'a', {
  upstreams: new Map([
    ['shop', upstreamSnapshot('shop', { listen: '127.0.0.1:15101' })],
    ['bank', upstreamSnapshot('bank', { match: { hosts: ['bank.internal'], pathPrefix: '/v1/bank' } })],
  ]),
})

describe('an address', () => {
  test.for([
    ['/orders/1?page=2#top', null, '/orders/1?page=2'],
    ['//odd/%2e%2e/path', null, '//odd/%2e%2e/path'],
    ['http://Shop.example.com/a/../b?x', 'shop.example.com:80', '/a/../b?x'],
    ['https://shop.example.com', 'shop.example.com:443', '/'],
    ['http://localhost:15101?x', 'localhost:15101', '/?x'],
    ['http://[::1]:8080/a', '[::1]:8080', '/a'],
    ['http://[::1]/a', '[::1]:80', '/a'],
  ] as const)('%s is read as it goes on the wire', ([url, authority, path]) => {
    expect(parseCallAddress(url)).toEqual({ authority, path })
  })

  test.for([
    '',
    'orders/1',
    'ftp://shop/a',
    'http://',
    'http://[::1',
    'http://user@shop/',
    'http://shop:70000/',
    '/a b',
    'http://shop/a b',
    'http:///a',
  ])('%j is none', url => {
    expect(parseCallAddress(url)).toBeNull()
  })
})

test.for([
  ['http://127.0.0.1:15101/a', 'shop'],
  ['http://localhost:15101/a', 'shop'],
  ['http://localhost:15102/a', undefined],
  ['/a', undefined],
] as const)('%s is the own port of %s', ([url, name]) => {
  expect(ownPortOf(snapshot, parseCallAddress(url) ?? { authority: null, path: '' })?.name).toBe(name)
})
