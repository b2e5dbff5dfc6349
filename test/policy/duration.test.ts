import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDurationMs } from '../../src/policy/duration.js'

describe('a duration', () => {
  it.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['1h2m3s4ms', 3_723_004],
    ['0s', 0],
    ['90m', 5_400_000],
    ['1h5ms', 3_600_005],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms)
  })

  it.each(['', '30', '1.5s', '-1s', '1s1m', '30 s', ' 30s', '30s ', '1S', '1d', 'ms', 's', '1e3ms', '٣s', '30s\n'])(
    'refuses %j',
    text => {
      expect(parseDurationMs(text)).toBeNull()
    },
  )

  it('refuses more milliseconds than a number can count', () => {
    expect(parseDurationMs('999999999999h')).toBeNull()
  })

  it('is the sum of its parts', () => {
    const part = fc.integer({ min: 0, max: 100_000 })
    fc.assert(
      fc.property(part, part, part, part, (h, m, s, ms) => {
        expect(parseDurationMs(`${h}h${m}m${s}s${ms}ms`)).toBe(h * 3_600_000 + m * 60_000 + s * 1000 + ms)
      }),
    )
  })

  it('never reads garbage', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789hms.- \n') }), text => {
        const wellFormed = text !== '' && !/[^\dhms]/.test(text) && /^(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$/.test(text)
        if (!wellFormed) expect(parseDurationMs(text)).toBeNull()
      }),
    )
  })
})
