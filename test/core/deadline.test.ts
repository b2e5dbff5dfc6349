import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fits, tightened } from '../../src/core/deadline.js'

describe('a limit from the app', () => {
  it('tightens that of the policy', () => {
    expect(tightened(30_000, '1500')).toBe(1500)
    expect(tightened(Infinity, '2147483647')).toBe(2_147_483_647)
  })

  it('takes 0 for a time that has run out, not for no limit', () => {
    expect(tightened(30_000, '0')).toBe(1)
  })

  it('takes more than a timer holds for the most it holds', () => {
    expect(tightened(Infinity, '2147483648')).toBe(2_147_483_647)
    expect(tightened(Infinity, '9'.repeat(400))).toBe(2_147_483_647)
  })

  it.each([undefined, '', '-1', '+1', '1.5', '1e3', '0x10', '1s', '1 2', ' 5'])('%j is ignored', field => {
    expect(tightened(30_000, field)).toBe(30_000)
  })

  it('never loosens it', () => {
    const limits = fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 1e9 }))
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 1e9 }), (limit, asked) => {
        expect(tightened(limit, String(asked))).toBe(Math.min(limit, asked))
      }),
    )
  })
})

describe('fitting into the deadline', () => {
  it('leaves the next attempt the time half of the successes take, at least 50 ms', () => {
    expect(fits(100, 1000, 1150, null)).toBe(true)
    expect(fits(100, 1000, 1149, null)).toBe(false)
    expect(fits(100, 1000, 1150, 20)).toBe(true)
    expect(fits(100, 1000, 1299, 200)).toBe(false)
    expect(fits(100, 1000, 1300, 200)).toBe(true)
  })

  it('always fits without a deadline', () => {
    expect(fits(2 ** 31, 0, Infinity, 1e9)).toBe(true)
  })
})
