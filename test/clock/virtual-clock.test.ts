import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'

describe('virtual clock', () => {
  it('stands still until told to move, wall time with it', async () => {
    const clock = new VirtualClock(1_700_000_000_000)
    expect([clock.nowMs(), clock.wallMs()]).toEqual([0, 1_700_000_000_000])
    await clock.advance(1234.5)
    expect([clock.nowMs(), clock.wallMs()]).toEqual([1234.5, 1_700_000_001_234.5])
  })

  it('fires each timer at its own time, equal times in the order they were set', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    const note = (name: string) => () => void seen.push(`${name}@${clock.nowMs()}`)
    clock.after(20, note('b'))
    clock.after(10, note('a'))
    clock.after(20, note('c'))
    clock.after(31, note('late'))
    await clock.advance(30)
    expect(seen).toEqual(['a@10', 'b@20', 'c@20'])
    expect(clock.nowMs()).toBe(30)
    expect(clock.pendingTimers).toBe(1)
  })

  it('runs all promise reactions between two timers', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.after(1, () => {
      void (async () => {
        for (let i = 0; i < 50; i++) await null
        seen.push('chain')
      })()
    })
    clock.after(1, () => void seen.push('second timer'))
    await clock.advance(1)
    expect(seen).toEqual(['chain', 'second timer'])
  })

  it('fires timers that were set on the way, within the same advance', async () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    clock.after(10, () => {
      clock.after(5, () => void seen.push(clock.nowMs()))
      clock.after(0, () => void seen.push(clock.nowMs()))
    })
    await clock.advance(15)
    expect(seen).toEqual([10, 15])
  })

  it('fires nothing after a cancel, whenever and however often it comes', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    const victim = clock.after(2, () => void seen.push('victim'))
    const done = clock.after(1, () => {
      seen.push('done')
      victim.cancel()
    })
    await clock.advance(10)
    done.cancel()
    victim.cancel()
    expect(seen).toEqual(['done'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('clips a delay to the longest a timer can have', async () => {
    const clock = new VirtualClock()
    let fired = false
    clock.after(Number.POSITIVE_INFINITY, () => {
      fired = true
    })
    await clock.advance(2 ** 31 - 2)
    expect(fired).toBe(false)
    await clock.advance(1)
    expect(fired).toBe(true)
  })

  it('fires in order of time for any set of delays', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 20 }), async delays => {
        const clock = new VirtualClock()
        const fired: [number, number][] = []
        delays.forEach((delay, index) => {
          clock.after(delay, () => void fired.push([clock.nowMs(), index]))
        })
        await clock.advance(50)
        const expected = delays.map((delay, index): [number, number] => [delay, index])
        expect(fired).toEqual(expected.sort((a, b) => a[0] - b[0] || a[1] - b[1]))
      }),
      { numRuns: 50 },
    )
  })
})
