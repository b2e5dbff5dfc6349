import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { ModeSwitch } from '../../src/demo/mode-switch.js'
import { isMode, MODE_MEANINGS, MODES, type Mode, react } from '../../src/demo/modes.js'

const unit = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

describe('a mode', () => {
  it('answers 200 at once while healthy, whatever the chance', () => {
    fc.assert(
      fc.property(unit, fc.nat(), (random, served) => {
        expect(react('healthy', random, served)).toEqual({ kind: 'answer', status: 200, delayMs: 0, retryAfterS: null })
      }),
    )
  })

  it('answers between 0.5 and 2.5 s while slow', () => {
    fc.assert(
      fc.property(unit, random => {
        const reaction = react('slow', random, 0)
        if (reaction.kind !== 'answer') throw new Error('reset')
        expect(reaction.status).toBe(200)
        expect(reaction.delayMs).toBeGreaterThanOrEqual(500)
        expect(reaction.delayMs).toBeLessThanOrEqual(2500)
      }),
    )
  })

  it('fails three of ten', () => {
    const statuses = Array.from({ length: 10 }, (_, i) => react('failing', i / 10, 0))
    expect(statuses.filter(reaction => reaction.kind === 'answer' && reaction.status === 503)).toHaveLength(3)
  })

  it('serves two a second while limiting and tells the others when to come back', () => {
    expect(react('limiting', 0, 1)).toMatchObject({ status: 200, retryAfterS: null })
    expect(react('limiting', 0, 2)).toMatchObject({ status: 429, retryAfterS: 1 })
  })

  it('resets while down', () => {
    expect(react('down', 0, 0)).toEqual({ kind: 'reset' })
  })

  it('has a meaning in words and is known by its name only', () => {
    expect(Object.keys(MODE_MEANINGS)).toEqual([...MODES])
    expect(isMode('slow')).toBe(true)
    expect(isMode('toString')).toBe(false)
  })
})

describe('the switch', () => {
  function watched(rotation: { healthyMs: number; troubleMs: number } | null) {
    const clock = new VirtualClock()
    const heard: [number, Mode][] = []
    const modes = new ModeSwitch(clock, rotation, mode => heard.push([clock.nowMs(), mode]))
    return { clock, heard, modes }
  }

  it('goes through every trouble in turn, well in between', async () => {
    const { clock, heard, modes } = watched({ healthyMs: 20, troubleMs: 10 })
    await clock.advance(130)
    expect(heard).toEqual([
      [20, 'slow'],
      [30, 'healthy'],
      [50, 'failing'],
      [60, 'healthy'],
      [80, 'limiting'],
      [90, 'healthy'],
      [110, 'down'],
      [120, 'healthy'],
    ])
    expect(modes.automatic).toBe(true)
  })

  it('stays in a mode that was set, until it is told to go round again', async () => {
    const { clock, heard, modes } = watched({ healthyMs: 20, troubleMs: 10 })
    modes.set('down')
    await clock.advance(1000)
    expect(modes.mode).toBe('down')
    expect(modes.automatic).toBe(false)
    modes.resume()
    await clock.advance(10)
    expect(heard).toEqual([
      [0, 'down'],
      [1010, 'healthy'],
    ])
  })

  it('never moves without a rotation, and leaves no timer when stopped', async () => {
    const still = watched(null)
    await still.clock.advance(100_000)
    expect(still.heard).toEqual([])
    const moving = watched({ healthyMs: 20, troubleMs: 10 })
    moving.modes.stop()
    expect(moving.clock.pendingTimers).toBe(0)
  })

  it('says nothing when set to the mode it is in', () => {
    const { heard, modes } = watched(null)
    modes.set('healthy')
    expect(heard).toEqual([])
  })
})
