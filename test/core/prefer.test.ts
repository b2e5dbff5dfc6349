import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { preferredWaitMs } from '../../src/core/prefer.js'

const waitOf = (...values: string[]) => preferredWaitMs(values.flatMap(value => ['Prefer', value]))

it.each<[string, number | null]>([
  ['wait=10', 10_000],
  ['Wait = 10', 10_000],
  ['respond-async, wait=10', 10_000],
  ['wait="10"', 10_000],
  ['wait=10; foo=bar', 10_000],
  ['wait=0', 0],
  ['wait=3, wait=9', 3000],
  ['handling="a, wait=9", wait=3', 3000],
  ['handling="a\\", wait=9", wait=3', 3000],
  ['wait', null],
  ['wait=', null],
  ['wait=-1', null],
  ['wait=1.5', null],
  ['wait=10s', null],
  ['await=10', null],
  ['waiting=10', null],
  ['respond-async', null],
  ['x="unclosed, wait=9', null],
  ['', null],
])('reads of the preferences %j a wait of %s ms', (value, expected) => {
  expect(waitOf(value)).toBe(expected)
})

it('reads several fields as one list', () => {
  expect(waitOf('respond-async', 'wait=7', 'wait=8')).toBe(7000)
  expect(preferredWaitMs(['Accept', 'wait=7'])).toBe(null)
})

it('makes of any text a whole number of seconds or nothing', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[wait=0-9",;\\ ]*$/), text => {
      const ms = waitOf(text)
      if (ms !== null) expect(ms >= 0 && Number.isFinite(ms)).toBe(true)
    }),
  )
})

it('reads every number of seconds among other preferences', () => {
  fc.assert(
    fc.property(
      fc.nat(100_000),
      fc.array(fc.constantFrom('respond-async', 'return=minimal', 'x="1,2"')),
      (n, others) => {
        expect(waitOf([...others, `wait=${n}`].join(', '))).toBe(n * 1000)
      },
    ),
  )
})
