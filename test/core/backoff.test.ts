import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BackoffSettings, backoffDelayMs, backoffRangeMs, type Jitter } from '../../src/core/backoff.js'

const MAX = 2 ** 31 - 1

function settings(over: Partial<BackoffSettings> = {}): BackoffSettings {
  return { kind: 'exponential', baseMs: 200, factor: 2, capMs: 30_000, jitter: { kind: 'none' }, ...over }
}

function delay(s: BackoffSettings, retry: number, u = 0, previousMs: number | null = null): number {
  return backoffDelayMs(s, retry, previousMs, () => u)
}

const kinds = fc.constantFrom('exponential', 'linear', 'fixed' as const)
const jitters: fc.Arbitrary<Jitter> = fc.oneof(
  fc.constantFrom<Jitter>({ kind: 'none' }, { kind: 'full' }, { kind: 'equal' }, { kind: 'decorrelated' }),
  fc
    .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 3, noNaN: true }))
    .map(([low, more]): Jitter => ({ kind: 'range', low, high: low + more })),
)
const anySettings = fc.record({
  kind: kinds,
  baseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1e9 })),
  factor: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e6, noNaN: true })),
  capMs: fc.oneof(fc.constant(Infinity), fc.integer({ min: 0, max: 1e12 })),
  jitter: jitters,
}) as fc.Arbitrary<BackoffSettings>
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const anyRetry = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 1e9 }))

describe('back-off', () => {
  it('doubles from the base to the cap', () => {
    expect([1, 2, 3, 4, 8, 9].map(n => delay(settings(), n))).toEqual([200, 400, 800, 1600, 25_600, 30_000])
  })

  it('grows by the base when linear and stays when fixed', () => {
    expect([1, 2, 3].map(n => delay(settings({ kind: 'linear', capMs: 500 }), n))).toEqual([200, 400, 500])
    expect([1, 2, 9].map(n => delay(settings({ kind: 'fixed' }), n))).toEqual([200, 200, 200])
  })

  it('spreads a full jitter from 0 to the plain delay and an equal one from its half', () => {
    expect([0, 0.5].map(u => delay(settings({ jitter: { kind: 'full' } }), 2, u))).toEqual([0, 200])
    expect([0, 0.5].map(u => delay(settings({ jitter: { kind: 'equal' } }), 2, u))).toEqual([200, 300])
  })

  it('applies the cap before the jitter', () => {
    expect(delay(settings({ jitter: { kind: 'full' } }), 20, 0.5)).toBe(15_000)
    expect(delay(settings({ jitter: { kind: 'range', low: 0.8, high: 1.2 } }), 20, 0.75)).toBeCloseTo(33_000)
  })

  it('draws a decorrelated wait between the base and three times the previous one', () => {
    const s = settings({ jitter: { kind: 'decorrelated' } })
    expect(delay(s, 1, 0.5)).toBe(400)
    expect(delay(s, 2, 0, 1000)).toBe(200)
    expect(delay(s, 2, 0.5, 1000)).toBe(1600)
    expect(delay(s, 2, 0.99, 20_000)).toBe(30_000)
    expect(delay(s, 2, 0.5, 10)).toBe(200)
  })

  it('survives an overflowing power, also with a base of 0', () => {
    expect(delay(settings({ baseMs: 1000, factor: 10, capMs: Infinity }), 1e9)).toBe(MAX)
    expect(delay(settings({ baseMs: 0, factor: 10, capMs: Infinity }), 1e9)).toBe(0)
    expect(delay(settings({ factor: 0 }), 5)).toBe(0)
  })

  it('is never negative, never NaN and never beyond what a timer holds', () => {
    const previous = fc.option(fc.double({ min: 0, max: MAX, noNaN: true }))
    fc.assert(
      fc.property(anySettings, anyRetry, previous, unit, (s, retry, previousMs, u) => {
        const ms = delay(s, retry, u, previousMs)
        expect(ms).toBeGreaterThanOrEqual(0)
        expect(ms).toBeLessThanOrEqual(MAX)
      }),
    )
  })

  it('never passes the cap but for a range', () => {
    fc.assert(
      fc.property(anySettings, anyRetry, unit, (s, retry, u) => {
        const factor = s.jitter.kind === 'range' ? s.jitter.high : 1
        expect(delay(s, retry, u)).toBeLessThanOrEqual(s.capMs === Infinity ? MAX : s.capMs * factor * (1 + 1e-12))
      }),
    )
  })

  it('stays in the range that is shown for it, through a whole run of retries', () => {
    fc.assert(
      fc.property(anySettings, fc.array(unit, { minLength: 1, maxLength: 12 }), (s, draws) => {
        let previousMs: number | null = null
        draws.forEach((u, i) => {
          const { minMs, maxMs } = backoffRangeMs(s, i + 1)
          const ms = delay(s, i + 1, u, previousMs)
          expect(ms).toBeGreaterThanOrEqual(minMs * (1 - 1e-12))
          expect(ms).toBeLessThanOrEqual(maxMs * (1 + 1e-12))
          previousMs = ms
        })
      }),
    )
  })

  it('reaches both ends of the range that is shown for it', () => {
    const s = settings({ jitter: { kind: 'range', low: 0.5, high: 2 } })
    expect(backoffRangeMs(s, 3)).toEqual({ minMs: 400, maxMs: 1600 })
    expect(backoffRangeMs(settings({ jitter: { kind: 'decorrelated' } }), 2)).toEqual({ minMs: 200, maxMs: 1800 })
  })

  it('uses the spread: the middle draw of a full jitter is half of the plain delay', () => {
    fc.assert(
      fc.property(kinds, fc.integer({ min: 1, max: 40 }), unit, (kind, retry, u) => {
        const plain = delay(settings({ kind }), retry)
        expect(delay(settings({ kind, jitter: { kind: 'full' } }), retry, u)).toBeCloseTo(plain * u, 6)
        expect(delay(settings({ kind, jitter: { kind: 'equal' } }), retry, u)).toBeCloseTo(plain * (0.5 + u / 2), 6)
      }),
    )
  })
})
