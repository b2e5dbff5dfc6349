import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHttpDate } from '../../src/core/http-date.js'

const NOW = Date.UTC(2026, 10, 30, 12, 0, 0)
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

function rfc850(atMs: number): string {
  const [, day, month, year, time] = new Date(atMs).toUTCString().split(' ')
  return `${WEEKDAYS[new Date(atMs).getUTCDay()]}, ${day}-${month}-${year!.slice(2)} ${time} GMT`
}

function asctime(atMs: number): string {
  const [weekday, day, month, year, time] = new Date(atMs).toUTCString().split(' ')
  return `${weekday!.slice(0, 3)} ${month} ${day!.replace(/^0/, ' ')} ${time} ${year}`
}

const seconds = (from: string, to: string) =>
  fc.integer({ min: Date.parse(from) / 1000, max: Date.parse(to) / 1000 }).map(s => s * 1000)

describe('HTTP-date', () => {
  it('reads the example of the RFC in all three forms', () => {
    const at = Date.UTC(1994, 10, 6, 8, 49, 37)
    expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT', NOW)).toBe(at)
    expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', NOW)).toBe(at)
    expect(parseHttpDate('Sun Nov  6 08:49:37 1994', NOW)).toBe(at)
  })

  it('agrees with the calendar of the platform', () => {
    fc.assert(
      fc.property(seconds('0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'), at => {
        expect(parseHttpDate(new Date(at).toUTCString(), NOW)).toBe(at)
        expect(parseHttpDate(asctime(at), NOW)).toBe(at)
      }),
    )
  })

  it('takes a two-digit year to be at most 50 years ahead', () => {
    fc.assert(
      fc.property(seconds('1976-12-01T00:00:00Z', '2076-11-30T12:00:00Z'), at => {
        expect(parseHttpDate(rfc850(at), NOW)).toBe(at)
      }),
    )
  })

  it('takes a two-digit year just over 50 years ahead to be in the past', () => {
    expect(parseHttpDate(rfc850(Date.UTC(2076, 10, 30, 12, 0, 0)), NOW)).toBe(Date.UTC(2076, 10, 30, 12, 0, 0))
    expect(parseHttpDate(rfc850(Date.UTC(2076, 10, 30, 12, 0, 1)), NOW)).toBe(Date.UTC(1976, 10, 30, 12, 0, 1))
    expect(parseHttpDate(rfc850(Date.UTC(2077, 0, 1)), NOW)).toBe(Date.UTC(1977, 0, 1))
  })

  it.each([
    '',
    'soon',
    '30 Nov 2026',
    '2026-11-30T12:00:00Z',
    'Mon, 30 Nov 2026 12:00:00',
    'Mon, 30 Nov 2026 12:00:00 +0000',
    'Mon, 30 Nov 2026 12:00:00 UTC',
    'mon, 30 nov 2026 12:00:00 gmt',
    'Mon, 1 Nov 2026 12:00:00 GMT',
    'Mon, 00 Nov 2026 12:00:00 GMT',
    'Mon, 31 Nov 2026 12:00:00 GMT',
    'Mon, 29 Feb 2026 12:00:00 GMT',
    'Monday, 29-Feb-26 12:00:00 GMT',
    'Mon, 30 Nov 2026 24:00:00 GMT',
    'Mon, 30 Nov 2026 12:60:00 GMT',
    'Mon, 30 Nov 2026 12:00:61 GMT',
    'Mon Nov 30 12:00:00 2026 GMT',
    'Mon, 30 Nov 2026 12:00:00 GMT ',
  ])('refuses %j', value => {
    expect(parseHttpDate(value, NOW)).toBeNull()
  })

  it('gives a finite time or nothing for any text', () => {
    const part = fc.constantFrom(
      'Mon',
      'Monday',
      ', ',
      ' ',
      '-',
      '30',
      '00',
      '99',
      'Nov',
      '2026',
      '26',
      '12:00:00',
      ' GMT',
      '  7',
      '\0',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(part, { maxLength: 12 }).map(parts => parts.join('')),
    )
    fc.assert(
      fc.property(text, value => {
        const atMs = parseHttpDate(value, NOW)
        expect(atMs === null || Number.isSafeInteger(atMs)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('knows leap days and leap seconds', () => {
    expect(parseHttpDate('Thu, 29 Feb 2024 00:00:00 GMT', NOW)).toBe(Date.UTC(2024, 1, 29))
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT', NOW)).toBe(Date.UTC(2017, 0, 1))
  })
})
