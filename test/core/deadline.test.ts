import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  effectiveMaxAttempts,
  effectiveTotalMs,
  fits,
  parseMaxAttemptsHeader,
  parseTimeoutHeader,
} from '../../src/core/deadline.js'

describe('limits from the app', () => {
  it('reads whole milliseconds', () => {
    expect(parseTimeoutHeader('1500')).toBe(1500)
    expect(parseTimeoutHeader('2147483647')).toBe(2_147_483_647)
  })

  it('takes 0 for a time that has run out, not for no limit', () => {
    expect(parseTimeoutHeader('0')).toBe(1)
    expect(parseMaxAttemptsHeader('0')).toBe(1)
  })

  it('takes more than a timer holds for the most it holds', () => {
    expect(parseTimeoutHeader('2147483648')).toBe(2_147_483_647)
    expect(parseTimeoutHeader('9'.repeat(400))).toBe(2_147_483_647)
  })

  it.each([undefined, '', '-1', '+1', '1.5', '1e3', '0x10', '1s', '1 2', ' 5'])('ignores %j', value => {
    expect(parseTimeoutHeader(value)).toBeNull()
    expect(parseMaxAttemptsHeader(value)).toBeNull()
  })

  it('only ever tightens', () => {
    const policy = fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 1e9 }))
    fc.assert(
      fc.property(policy, fc.option(fc.integer({ min: 1, max: 1e9 })), (limit, header) => {
        expect(effectiveTotalMs(limit, header)).toBe(Math.min(limit, header ?? Infinity))
        expect(effectiveMaxAttempts(limit, header)).toBe(Math.min(limit, header ?? Infinity))
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
