import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SlidingCounter } from '../../src/core/sliding-counter.js'

describe('sliding counter', () => {
  it('forgets an event when its bin leaves the window', () => {
    const counter = new SlidingCounter(10, 100)
    counter.add(50)
    expect(counter.total(999)).toBe(1)
    expect(counter.total(1000)).toBe(0)
  })

  it('counts what comes after a long silence', () => {
    const counter = new SlidingCounter(10, 100)
    counter.add(0)
    counter.add(1e9)
    expect(counter.total(1e9 + 900)).toBe(1)
  })

  it('counts an event from the past into the running bin', () => {
    const counter = new SlidingCounter(10, 100)
    counter.add(5000)
    counter.add(10)
    expect(counter.total(5900)).toBe(2)
    expect(counter.total(6000)).toBe(0)
  })

  it('agrees with a list of all events', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 })
    fc.assert(
      fc.property(steps, fc.double({ min: 1, max: 250, noNaN: true }), (gaps, binMs) => {
        const counter = new SlidingCounter(10, binMs)
        const bins: number[] = []
        let now = 0
        for (const gap of gaps) {
          now += gap
          bins.push(Math.floor(now / binMs))
          counter.add(now)
          expect(counter.total(now)).toBe(bins.filter(b => b > Math.floor(now / binMs) - 10).length)
        }
      }),
    )
  })

  it('takes an event back from its own bin', () => {
    const counter = new SlidingCounter(10, 100)
    counter.add(0)
    counter.add(500)
    counter.remove(0, 600)
    expect(counter.total(999)).toBe(1)
    expect(counter.total(1000)).toBe(1)
    expect(counter.total(1500)).toBe(0)
  })

  it('takes nothing back for an event that is forgotten', () => {
    const counter = new SlidingCounter(10, 100)
    counter.add(0)
    counter.add(1000)
    counter.remove(0, 1000)
    expect(counter.total(1000)).toBe(1)
  })

  it('keeps in a longer window what it had, and in a shorter one what lies inside', () => {
    const counter = new SlidingCounter(10, 100)
    for (let now = 50; now < 1000; now += 100) counter.add(now)
    expect(counter.rebinned(200, 950).total(950)).toBe(10)
    const half = counter.rebinned(50, 950).total(950)
    expect(half).toBeGreaterThanOrEqual(5)
    expect(half).toBeLessThanOrEqual(6)
  })

  it('still forgets after a change of its window', () => {
    const counter = new SlidingCounter(10, 100)
    counter.add(0)
    const longer = counter.rebinned(200, 500)
    expect(longer.total(1900)).toBe(1)
    expect(longer.total(2200)).toBe(0)
  })
})
