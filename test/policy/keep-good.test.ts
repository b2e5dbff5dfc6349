import { expect, test } from 'vitest'
import type { Snapshot, UpstreamSnapshot } from '../../src/core/snapshot.js'
import { keepGood } from '../../src/policy/keep-good.js'
import { snapshotOf } from './support/watching.js'

/** Only what is looked at. */
const upstream = (name: string, listen: string | null = null): [string, UpstreamSnapshot] => [
  name,
  { name, listen } as UpstreamSnapshot,
]

const invalid = (...names: string[]): Snapshot['invalid'] =>
  new Map(names.map(name => [name, { match: { hosts: [], pathPrefix: `/${name}` } }]))

test('an upstream that an edit broke keeps its last good policy', () => {
  const current = snapshotOf(1, 'a', { upstreams: new Map([upstream('shop')]) })
  const kept = keepGood(snapshotOf(2, 'b', { invalid: invalid('shop', 'bank') }), current)
  expect([...kept.upstreams.keys()]).toEqual(['shop'])
  expect([...kept.invalid.keys()]).toEqual(['bank'])
  expect([kept.generation, kept.hash]).toEqual([2, 'b'])
})

test('what is valid replaces what is in force', () => {
  const current = snapshotOf(1, 'a', { upstreams: new Map([upstream('shop'), upstream('bank')]) })
  const next = upstream('shop', '127.0.0.1:1')
  const kept = keepGood(snapshotOf(2, 'b', { upstreams: new Map([next]) }), current)
  expect(kept.upstreams.get('shop')).toBe(next[1])
  expect(kept.upstreams.has('bank')).toBe(true)
})

test('an address goes to the valid upstream that asks for it', () => {
  const current = snapshotOf(1, 'a', { upstreams: new Map([upstream('old', '127.0.0.1:1')]) })
  const partial = snapshotOf(2, 'b', { upstreams: new Map([upstream('new', '127.0.0.1:1')]), invalid: invalid('old') })
  const kept = keepGood(partial, current)
  expect([...kept.upstreams.keys()]).toEqual(['new'])
  expect([...kept.invalid.keys()]).toEqual(['old'])
})
