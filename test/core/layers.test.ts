import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { incomingMark, isLoop, outgoingBaggage, viaEntry } from '../../src/core/layers.js'

const NOW = 1_800_000_000_000
const T = NOW / 1000

const baggage = (value: string) => incomingMark(['baggage', value], NOW)

describe('a mark on an incoming request', () => {
  it('is absent on an ordinary request', () => {
    expect(incomingMark(['Accept', '*/*'], NOW)).toEqual({ marked: false, attempt: null, resend: null })
    expect(baggage('user=7,tenant=x;p=1').marked).toBe(false)
  })

  it('is an attempt number above 1', () => {
    expect(incomingMark(['Forbear-Attempt', '2'], NOW)).toEqual({ marked: true, attempt: 2, resend: null })
    for (const value of ['1', '0', '-2', '2.5', 'two', '', '9999999999']) {
      expect(incomingMark(['forbear-attempt', value], NOW).marked).toBe(false)
    }
  })

  it('is the highest of several attempt numbers, in fields or in a list', () => {
    expect(incomingMark(['forbear-attempt', '1', 'Forbear-Attempt', '2'], NOW).attempt).toBe(2)
    expect(incomingMark(['forbear-attempt', '3', 'forbear-attempt', '1'], NOW).attempt).toBe(3)
    expect(incomingMark(['forbear-attempt', '1, 4 ,two'], NOW).attempt).toBe(4)
    expect(incomingMark(['forbear-attempt', '1', 'forbear-attempt', '1'], NOW).marked).toBe(false)
  })

  it('is a live member of the baggage, in any of its fields', () => {
    expect(baggage(`forbear.resend=3;t=${T}`)).toEqual({ marked: true, attempt: null, resend: 3 })
    const split = ['Baggage', 'a=1', 'baggage', ` b=2 , forbear.resend = 2 ; x ; t=${T - 60} `]
    expect(incomingMark(split, NOW).resend).toBe(2)
  })

  it('lapses after 60 s and is not believed from further ahead', () => {
    expect(baggage(`forbear.resend=3;t=${T - 61}`).marked).toBe(false)
    expect(baggage(`forbear.resend=3;t=${T + 60}`).marked).toBe(true)
    expect(baggage(`forbear.resend=3;t=${T + 61}`).marked).toBe(false)
  })

  it('needs a count above 1 and a time', () => {
    for (const member of [
      `forbear.resend=1;t=${T}`,
      `forbear.resend=x;t=${T}`,
      'forbear.resend=3',
      'forbear.resend=3;t=',
    ]) {
      expect(baggage(member).marked).toBe(false)
    }
  })

  it('is the highest of several', () => {
    expect(baggage(`forbear.resend=2;t=${T},forbear.resend=4;t=${T},forbear.resend=9;t=1`).resend).toBe(4)
  })

  it('is not found in another member', () => {
    expect(baggage(`a=forbear.resend=3;t=${T}`).marked).toBe(false)
    expect(baggage(`xforbear.resend=3;t=${T}`).marked).toBe(false)
  })

  it('never throws, whatever the baggage is', () => {
    fc.assert(fc.property(fc.string(), value => typeof baggage(value).marked === 'boolean'))
    fc.assert(fc.property(fc.string(), value => typeof baggage(`forbear.resend${value}`).marked === 'boolean'))
  })
})

describe('the baggage of a re-send', () => {
  it('is our member alone when there was none', () => {
    expect(outgoingBaggage(undefined, 2, NOW)).toBe(`forbear.resend=2;t=${T}`)
    expect(outgoingBaggage(' ', 2, NOW)).toBe(`forbear.resend=2;t=${T}`)
  })

  it('keeps the other members byte for byte and replaces ours', () => {
    expect(outgoingBaggage(`a = 1;p ,forbear.resend=2;t=${T - 5}, b=%20`, 3, NOW + 900)).toBe(
      `a = 1;p , b=%20,forbear.resend=3;t=${T}`,
    )
  })

  it('never lowers a live count, and forgets a lapsed one', () => {
    expect(outgoingBaggage(`forbear.resend=5;t=${T - 60}`, 2, NOW)).toBe(`forbear.resend=5;t=${T}`)
    expect(outgoingBaggage(`forbear.resend=5;t=${T - 61}`, 2, NOW)).toBe(`forbear.resend=2;t=${T}`)
  })

  it('is written whatever there was, and keeps what was not ours', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 2 ** 31 }), (existing, n) => {
        const out = outgoingBaggage(existing, n, NOW)
        expect(out.endsWith(`;t=${T}`)).toBe(true)
        if (existing.trim() !== '' && !existing.includes('forbear') && !/^[\s,]*$/.test(existing)) {
          expect(out.startsWith(`${existing},`)).toBe(true)
        }
      }),
    )
  })

  it('is read by the next layer as it was written, among any other members', () => {
    const member = fc.stringMatching(/^ ?[a-z]{1,5} ?= ?[!-+\--:<-~]{0,9}(;[a-z]+(=[0-9]+)?)? ?$/)
    fc.assert(
      fc.property(fc.array(member), fc.integer({ min: 2, max: 99 }), fc.nat(59_000), (members, n, laterMs) => {
        const out = outgoingBaggage(members.join(','), n, NOW)
        expect(out.startsWith(members.join(','))).toBe(true)
        expect(incomingMark(['baggage', out], NOW + laterMs).resend).toBe(n)
      }),
    )
  })
})

describe('loop detection', () => {
  it('counts our own entries in all Via fields', () => {
    expect(isLoop(['Via', '1.1 me, 1.0 other', 'host', 'x', 'via', '1.1 me (a comment)'], 'me')).toBe(true)
    expect(isLoop(['via', '1.1 mee, HTTP/1.1 me', 'via', 'me'], 'me')).toBe(false)
    expect(isLoop([], 'me')).toBe(false)
  })

  it('lets a request pass twice and not three times', () => {
    const headers: string[] = []
    const seen = [1, 2, 3].map(() => {
      const loop = isLoop(headers, 'me')
      headers.push('Via', viaEntry('1.1', 'me'))
      return loop
    })
    expect(seen).toEqual([false, false, true])
  })
})
