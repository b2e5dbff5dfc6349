import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { retryAfterMs } from '../../src/core/retry-after.js'

const NOW = Date.UTC(2026, 10, 30, 12, 0, 0)
const http = (atMs: number) => new Date(atMs).toUTCString()

function hint(value: string, ...more: string[]): number | null {
  return retryAfterMs(['Content-Type', 'text/plain', 'Retry-After', value, ...more], NOW)
}

describe('Retry-After', () => {
  it('is null without the field', () => {
    expect(retryAfterMs(['Date', http(NOW)], NOW)).toBeNull()
  })

  it.each([
    '',
    'soon',
    '1.5',
    '+3',
    '-1',
    '0x10',
    '120, 60',
    '1e3',
    '30 Nov 2026',
    'Infinity',
    'NaN',
    '1 2',
    '\u00a02',
  ])('ignores %j', value => {
    expect(hint(value)).toBeNull()
  })

  it('reads digits as seconds, blanks around them allowed', () => {
    expect(hint('  2 ')).toBe(2000)
    expect(hint('0')).toBe(0)
    expect(hint('86400')).toBe(86_400_000)
    expect(hint('99999999999')).toBe(99_999_999_999_000)
  })

  it('stays a finite number for any run of digits', () => {
    expect(hint('9'.repeat(400))).toBe(Number.MAX_SAFE_INTEGER)
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,400}$/), fc.stringMatching(/^\d{0,400}$/), (value, age) => {
        const ms = hint(value, 'Age', age)
        expect(ms).toBeGreaterThanOrEqual(0)
        expect(ms).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
      }),
    )
  })

  it('reads a date ahead of our clock', () => {
    expect(hint(http(NOW + 2000))).toBe(2000)
    expect(hint('Monday, 30-Nov-26 12:00:05 GMT')).toBe(5000)
    expect(hint('Mon Nov 30 12:00:07 2026')).toBe(7000)
  })

  it('gives 0 for a date in the past', () => {
    expect(hint(http(NOW - 3_600_000))).toBe(0)
    expect(hint(http(NOW - 3_600_000), 'Date', http(NOW))).toBe(0)
  })

  it('measures a date against the Date of the response, so that a skewed clock does not matter', () => {
    const theirNow = NOW - 600_000
    expect(hint(http(theirNow + 30_000), 'Date', http(theirNow))).toBe(30_000)
    expect(hint(http(NOW + 30_000), 'Date', 'yesterday')).toBe(30_000)
  })

  it('subtracts the time spent in a cache', () => {
    expect(hint('30', 'Age', '10')).toBe(20_000)
    expect(hint('30', 'Age', '31')).toBe(0)
    expect(hint(http(NOW + 30_000), 'Date', http(NOW), 'Age', '10')).toBe(20_000)
    expect(hint('30', 'Age', '-10')).toBe(30_000)
  })

  it('does not subtract the age twice when the date is measured against our clock', () => {
    expect(hint(http(NOW + 30_000), 'Age', '10')).toBe(30_000)
  })

  it('takes the first of several fields', () => {
    expect(hint('3', 'Retry-After', '9')).toBe(3000)
  })

  it('never throws and never gives NaN for any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (value, date, age) => {
        const ms = hint(value, 'Date', date, 'Age', age)
        expect(ms === null || (Number.isFinite(ms) && ms >= 0)).toBe(true)
      }),
    )
  })

  it('nor for anything that looks like digits or a date, with an Age and a Date of that kind', () => {
    const near = fc.oneof(
      fc.stringMatching(/^[ \t+-]?\d{1,400}[.,eE ]?\d{0,3}$/),
      fc.date({ noInvalidDate: true }).map(date => date.toUTCString()),
      fc.stringMatching(/^(Mon|Sun|Sunday)?,? ?\d{1,3}[- ](Jan|Feb|Foo)[- ]\d{1,5} \d\d:\d\d:\d\d( GMT)?$/),
    )
    fc.assert(
      fc.property(near, near, near, (value, date, age) => {
        const ms = hint(value, 'Date', date, 'Age', age)
        expect(ms === null || (Number.isFinite(ms) && ms >= 0)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})
