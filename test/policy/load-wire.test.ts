import { expect, test } from 'vitest'
import type { LoadAnswer } from '../../src/policy/load-request.js'
import { type HeldUpstreams, packAnswer, unpackAnswer } from '../../src/policy/load-wire.js'
import { upstreamSnapshot } from './support/upstream-snapshot.js'
import { snapshotOf } from './support/watching.js'

const answer = (count: number): LoadAnswer => ({
  kind: 'partial',
  messages: ['shop.yaml:1:1  what is wrong'],
  snapshot: snapshotOf(3, 'abc', {
    upstreams: new Map(Array.from({ length: count }, (_, n) => [`u${n}`, upstreamSnapshot(`u${n}`)])),
    invalid: new Map([['bank', { match: { hosts: [], pathPrefix: '/bank' }, listen: null }]]),
  }),
})

const NOTHING: HeldUpstreams = new Map()

async function carried(from: LoadAnswer): Promise<LoadAnswer> {
  return (await unpackAnswer(structuredClone(packAnswer(from, new Set())), NOTHING)).answer
}

test('an answer arrives as it was sent, in the same order', async () => {
  const arrived = await carried(answer(25))
  expect(arrived).toEqual(answer(25))
  expect('snapshot' in arrived && [...arrived.snapshot.upstreams.keys()]).toEqual(
    Array.from({ length: 25 }, (_, n) => `u${n}`),
  )
})

test.for<LoadAnswer>([{ kind: 'same' }, { kind: 'unusable', hash: 'abc', messages: ['bad'] }])(
  'an answer without a snapshot arrives too: $kind',
  async sent => {
    expect(await carried(sent)).toEqual(sent)
  },
)

test('everything in it is frozen', async () => {
  const arrived = await carried(answer(1))
  if (!('snapshot' in arrived)) throw new Error('a snapshot was sent')
  const { snapshot } = arrived
  const upstream = snapshot.upstreams.get('u0')
  const parts = [snapshot, snapshot.invalid.get('bank')?.match, upstream, upstream?.policy.retry.backoff.jitter]
  expect(parts.every(part => part !== undefined && Object.isFrozen(part))).toBe(true)
})

test('other work gets its turn while many upstreams are unpacked', async () => {
  let turns = 0
  const count = (): void => {
    turns++
    other = setImmediate(count)
  }
  let other = setImmediate(count)
  await carried(answer(100))
  clearImmediate(other)
  expect(turns).toBeGreaterThanOrEqual(9)
})

test('what the receiver holds is not sent, and stays the same object in its place', async () => {
  const { answer: before, held } = await unpackAnswer(packAnswer(answer(3), new Set()), NOTHING)
  if (!('snapshot' in before)) throw new Error('a snapshot was sent')
  const edited = answer(3)
  if (!('snapshot' in edited)) throw new Error('there is a snapshot')
  const upstreams = new Map(edited.snapshot.upstreams).set('u1', upstreamSnapshot('u1', { listen: '127.0.0.1:1' }))
  const packed = packAnswer({ ...edited, snapshot: { ...edited.snapshot, upstreams } }, new Set(held.keys()))
  const { answer: after, held: next } = await unpackAnswer(packed, held)
  if (!('snapshot' in after)) throw new Error('a snapshot was sent')
  expect([...after.snapshot.upstreams]).toEqual([...upstreams])
  const same = [...upstreams.keys()].filter(
    name => after.snapshot.upstreams.get(name) === before.snapshot.upstreams.get(name),
  )
  expect(same).toEqual(['u0', 'u2'])
  expect(next.size).toBe(3)
})

test('what is no longer held is an error, not a gap', async () => {
  const { held } = await unpackAnswer(packAnswer(answer(1), new Set()), NOTHING)
  const packed = packAnswer(answer(1), new Set(held.keys()))
  await expect(unpackAnswer(packed, NOTHING)).rejects.toThrow('left out')
})
