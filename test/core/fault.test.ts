import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawFault, type FaultSettings } from '../../src/core/fault.js'

const none: FaultSettings = { percent: 0, delayMs: 0, status: null, abort: false }

test('the share of attempts that are hit is the percentage, to the draw', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (percent, draw) => {
        const hit = drawFault({ ...none, percent, status: 503 }, () => draw) !== null
        expect(hit).toBe(draw * 100 < percent)
      },
    ),
  )
})

test('a fault that does nothing hits nobody and draws nothing', () => {
  const draw = () => {
    throw new Error('drawn')
  }
  expect(drawFault({ ...none, percent: 100 }, draw)).toBe(null)
  expect(drawFault({ ...none, status: 503 }, draw)).toBe(null)
})

test('it pauses, and then answers, breaks off or lets the call go on', () => {
  const hit = (over: Partial<FaultSettings>) => drawFault({ ...none, percent: 100, ...over }, () => 0.99)
  expect(hit({ delayMs: 3000 })).toEqual({ delayMs: 3000, then: { kind: 'call' } })
  expect(hit({ delayMs: 3000, status: 503 })).toEqual({ delayMs: 3000, then: { kind: 'status', status: 503 } })
  expect(hit({ abort: true })).toEqual({ delayMs: 0, then: { kind: 'abort' } })
})
