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
    invalid: new Map([['bank', { match: { hosts: [], pathPrefix: '/bank' } }]]),
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
