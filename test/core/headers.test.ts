import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headerValue, headerValues } from '../../src/core/headers.js'

describe('headers', () => {
  it('finds a field whatever the case of its name', () => {
    expect(headerValue(['Content-Type', 'text/plain', 'RETRY-After', '3'], 'retry-after')).toBe('3')
  })

  it('takes the first of several fields and drops the blanks around it', () => {
    expect(headerValue(['a', ' \t1 ', 'A', '2'], 'a')).toBe('1')
  })

  it('keeps white space that is no blank of the grammar', () => {
    expect(headerValue(['a', ' \u00a01'], 'a')).toBe('\u00a01')
  })

  it('tells a missing field from an empty one', () => {
    expect(headerValue(['a', ''], 'a')).toBe('')
    expect(headerValue(['a', ''], 'b')).toBeUndefined()
  })

  it('does not take a value for a name', () => {
    expect(headerValue(['a', 'b', 'c', 'd'], 'b')).toBeUndefined()
  })

  it('does not fold characters that differ from letters by one bit', () => {
    expect(headerValue(['\u0040x', '1', '[x', '2'], '{x')).toBeUndefined()
  })

  it('lists all fields of one name in order', () => {
    expect(headerValues(['Via', '1.1 a', 'x', 'y', 'via', ' 1.1 b'], 'via')).toEqual(['1.1 a', '1.1 b'])
    expect(headerValues(['x', 'y'], 'via')).toEqual([])
  })

  it('agrees with a plain search for any list', () => {
    const name = fc.constantFrom('a', 'A', 'ab', 'aB', 'x-y', 'X-Y', '')
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.stringMatching(/^[!-~]*$/))), name, (fields, asked) => {
        const lower = asked.toLowerCase()
        const expected = fields.filter(([n]) => n.toLowerCase() === lower).map(([, v]) => v)
        expect(headerValues(fields.flat(), lower)).toEqual(expected)
        expect(headerValue(fields.flat(), lower)).toBe(expected[0])
      }),
    )
  })
})
