import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SpanCounter } from '../../src/core/span-counter.js'

test('nothing spans nothing', () => {
  const counter = new SpanCounter(1000)
  expect([counter.total(5), counter.spanMs(5)]).toEqual([0, 0])
})

test('the span reaches from the first event to the last', () => {
  const counter = new SpanCounter(1000)
  for (const atMs of [100, 350, 420]) counter.add(atMs)
  expect([counter.total(500), counter.spanMs(500)]).toEqual([3, 320])
})

test('a pause as long as the window begins a new span', () => {
  const counter = new SpanCounter(1000)
  counter.add(100)
  counter.add(1200)
  counter.add(1210)
  expect([counter.total(1210), counter.spanMs(1210)]).toEqual([2, 10])
})

test('a longer window keeps what was counted, a shorter one what is young enough', () => {
  const counter = new SpanCounter(1000)
  counter.add(100)
  counter.add(900)
  counter.resize(2000, 950)
  expect([counter.total(950), counter.spanMs(950)]).toEqual([2, 800])
  counter.resize(100, 950)
  expect([counter.total(950), counter.spanMs(950)]).toEqual([1, 100])
})

test('whatever comes, the span is never longer than the window or than the time between the events', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 40 }), gaps => {
      const counter = new SpanCounter(1000)
      let nowMs = 0
      for (const gap of gaps) {
        nowMs += gap
        counter.add(nowMs)
        const spanMs = counter.spanMs(nowMs)
        expect(spanMs).toBeGreaterThanOrEqual(0)
        expect(spanMs).toBeLessThanOrEqual(Math.min(1000, nowMs))
        if (counter.total(nowMs) === 1) expect(spanMs).toBe(0)
      }
    }),
  )
})
