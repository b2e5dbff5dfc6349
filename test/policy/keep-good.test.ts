import { expect, test } from 'vitest'
import type { Snapshot, UpstreamSnapshot } from '../../src/core/snapshot.js'
import { keepGood } from '../../src/policy/keep-good.js'
import { snapshotOf } from './support/watching.js'

/** Only what is looked at. */
const upstream = (name: string, listen: string | null = null, pathPrefix = `/${name}`): [string, UpstreamSnapshot] => [
  name,
  { name, listen, match: { hosts: [`${name}.internal`], pathPrefix } } as unknown as UpstreamSnapshot,
]

const invalid = (...names: string[]): Snapshot['invalid'] =>
  new Map(names.map(name => [name, { match: { hosts: [], pathPrefix: `/${name}` }, listen: null }]))

test('an upstream that an edit broke keeps its last good policy', () => {
  const current = snapshotOf(1, 'a', { upstreams: new Map([upstream('shop')]) })
  const kept = keepGood(snapshotOf(2, 'b', { invalid: invalid('shop', 'bank') }), current)
  expect([...kept.upstreams.keys()]).toEqual(['shop'])
  expect([...kept.invalid.keys()]).toEqual(['bank'])
  expect([kept.generation, kept.hash]).toEqual([2, 'b'])
  expect([...(kept.kept ?? [])]).toEqual(['shop'])
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

test('an upstream that never had a good policy stays known when its document cannot be read any more', () => {
  const current = snapshotOf(1, 'a', { invalid: invalid('shop', 'bank') })
  const next = snapshotOf(2, 'b', { upstreams: new Map([upstream('bank')]) })
  const kept = keepGood(next, current)
  expect([[...kept.upstreams.keys()], [...kept.invalid.keys()]]).toEqual([['bank'], ['shop']])
})

test('a prefix or a host goes to the valid upstream that asks for it', () => {
  const [good, bad] = [new Map([upstream('old')]), invalid('broken')]
  const current = snapshotOf(1, 'a', { upstreams: good, invalid: bad })
  const renamed = new Map([upstream('new', null, '/old'), upstream('mended', null, '/broken')])
  const kept = keepGood(snapshotOf(2, 'b', { upstreams: renamed }), current)
  expect([[...kept.upstreams.keys()], [...kept.invalid.keys()]]).toEqual([['new', 'mended'], []])
})
