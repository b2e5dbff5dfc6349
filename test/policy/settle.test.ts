import { expect, test } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { SETTLE_AT_MOST_MS, SETTLE_MS, Settle } from '../../src/policy/settle.js'

function settling() {
  const clock = new VirtualClock()
  const fired: { why: string; atMs: number }[] = []
  const settle = new Settle<string>(clock, why => fired.push({ why, atMs: clock.nowMs() }))
  return { clock, settle, fired }
}

test('many hints are one call when they have come to rest, with the reason of the first', async () => {
  const { clock, settle, fired } = settling()
  settle.hint('watch')
  await clock.advance(100)
  settle.hint('poll')
  await clock.advance(10_000)
  expect(fired).toEqual([{ why: 'watch', atMs: 100 + SETTLE_MS }])
})

test('hints without end do not put it off for ever', async () => {
  const { clock, settle, fired } = settling()
  for (let n = 0; n < 29; n++) {
    settle.hint('watch')
    await clock.advance(100)
  }
  expect(fired.map(({ atMs }) => atMs)).toEqual([SETTLE_AT_MOST_MS, 2 * SETTLE_AT_MOST_MS])
})

test('nothing follows a cancel', async () => {
  const { clock, settle, fired } = settling()
  settle.hint('watch')
  settle.cancel()
  await clock.advance(10_000)
  expect(fired).toEqual([])
})
