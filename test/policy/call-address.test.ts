import { describe, expect, test } from 'vitest'
import { nearMisses, ownPortOf, parseCallAddress } from '../../src/policy/call-address.js'
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

  test.for(['', 'orders/1', 'ftp://shop/a', 'http://', 'http://user@shop/'])('%j is none', url => {
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

describe('what nearly matched', () => {
  const misses = (url: string): string[] => nearMisses(snapshot, parseCallAddress(url) ?? { authority: null, path: '' })

  test('is told by a prefix that was misspelt', () => {
    expect(misses('/shpo/orders?x=1')).toEqual([
      'shop takes /shop on the shared port, and everything on 127.0.0.1:15101',
    ])
    expect(misses('/v1/bnak/x')).toEqual(['bank takes /v1/bank and bank.internal on the shared port'])
  })

  test('is told by a host that was misspelt', () => {
    expect(misses('http://banc.internal/zzzzzz')).toEqual(['bank takes /v1/bank and bank.internal on the shared port'])
  })

  test('is everything where nothing is near', () => {
    expect(misses('/zzzzzzzz').length).toBe(2)
  })
})
