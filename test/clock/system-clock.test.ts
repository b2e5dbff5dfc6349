import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SystemClock } from '../../src/clock/system-clock.js'

describe('system clock', () => {
  it('reads monotonic and wall time', () => {
    const clock = new SystemClock()
    const before = Date.now()
    const first = clock.nowMs()
    expect(clock.nowMs()).toBeGreaterThanOrEqual(first)
    expect(clock.wallMs()).toBeGreaterThanOrEqual(before)
  })

  it('does not keep the process alive by a pending timer', () => {
    const timeout = vi.spyOn(globalThis, 'setTimeout')
    const timer = new SystemClock().after(60_000, () => {})
    const handle = timeout.mock.results[0]?.value as NodeJS.Timeout
    expect(handle.hasRef()).toBe(false)
    timer.cancel()
    timeout.mockRestore()
  })

  describe('timers', () => {
    beforeEach(() => void vi.useFakeTimers())
    afterEach(() => void vi.useRealTimers())

    it('fires once, after the delay', () => {
      const fn = vi.fn()
      new SystemClock().after(100, fn)
      vi.advanceTimersByTime(99)
      expect(fn).not.toHaveBeenCalled()
      vi.advanceTimersByTime(1000)
      expect(fn).toHaveBeenCalledTimes(1)
    })

    it('fires nothing after a cancel', () => {
      const fn = vi.fn()
      const timer = new SystemClock().after(100, fn)
      timer.cancel()
      timer.cancel()
      vi.advanceTimersByTime(1000)
      expect(fn).not.toHaveBeenCalled()
    })

    it('clips a delay that would overflow instead of firing at once', () => {
      const fn = vi.fn()
      new SystemClock().after(Number.POSITIVE_INFINITY, fn)
      vi.advanceTimersByTime(2 ** 31 - 2)
      expect(fn).not.toHaveBeenCalled()
      vi.advanceTimersByTime(1)
      expect(fn).toHaveBeenCalledTimes(1)
    })
  })
})
