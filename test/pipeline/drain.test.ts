import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { drained } from '../../src/pipeline/drain.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { hang, reply } from './support/upstream.js'

checkEveryEnding()

describe('the end of the drain period', () => {
  it('ends waits and silent attempts, with the last answer where there is one', async () => {
    const stage = new Stage({ limits: { maxInFlight: 2 } })
    const plays = { '/held': [reply(503, { body: 'held' })], '/silent': [hang()], '/hog': [hang()] } as const
    stage.upstream.playsByPath(plays)
    const before = stage.balance
    const held = stage.get('/held')
    const silent = stage.get('/silent')
    await stage.run(20)
    stage.get('/hog')
    const queued = stage.get('/queued')
    await stage.run(20)
    stage.pipeline.drain()
    expect(held.summary).toBe('503 draining after 1')
    expect(held.text).toBe('held')
    expect(silent.summary).toBe('503 draining after 1')
    expect(queued.summary).toBe('503 draining after 0')
    expect(stage.balance).toBe(before)
    expect(stage.status().breaker.failuresInARow).toBe(1)
    await stage.run(0)
    stage.expectIdle()
  })

  it('lets an answer that has begun go on', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { bodyMs: 1000 }))
    const call = stage.get()
    await stage.run(100)
    stage.pipeline.drain()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
  })

  it('refuses new calls', async () => {
    const stage = new Stage()
    stage.pipeline.drain()
    expect(stage.get().summary).toBe('503 draining after 0')
  })
})

describe('draining', () => {
  const watch = (subject: { active: number; lastCallMs: number }, periodMs = 25_000, quietMs = 2000) => {
    const clock = new VirtualClock()
    const state = { done: false, drained: false, clock }
    const draining = { ...subject, drain: () => void (state.drained = true) }
    void drained(draining, clock, periodMs, quietMs).then(() => {
      state.done = true
    })
    return { state, draining, clock }
  }

  it('ends two seconds after the last call', async () => {
    const { state, draining, clock } = watch({ active: 1, lastCallMs: 0 })
    await clock.advance(5000)
    draining.active = 0
    draining.lastCallMs = 5000
    await clock.advance(1990)
    expect(state.done).toBe(false)
    await clock.advance(100)
    expect(state).toMatchObject({ done: true, drained: false })
  })

  it('waits for the quiet even if the last call was long ago, since the app may just be about to call', async () => {
    const { state, clock } = watch({ active: 0, lastCallMs: -60_000 })
    await clock.advance(1900)
    expect(state.done).toBe(false)
    await clock.advance(150)
    expect(state.done).toBe(true)
  })

  it('ends at once without a call when no quiet is asked for', async () => {
    const { state, clock } = watch({ active: 0, lastCallMs: 0 }, 25_000, 0)
    await clock.advance(0)
    expect(state.done).toBe(true)
  })

  it('ends at the latest with its period, and gives the last answers a moment to leave', async () => {
    const { state, clock } = watch({ active: 1, lastCallMs: 0 })
    await clock.advance(24_990)
    expect(state.drained).toBe(false)
    await clock.advance(60)
    expect(state).toMatchObject({ drained: true, done: false })
    await clock.advance(300)
    expect(state.done).toBe(true)
  })

  it('counts a call until its answer has left', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { bodyMs: 500 }))
    stage.get()
    await stage.run(100)
    expect(stage.pipeline.active).toBe(1)
    await stage.run(410)
    expect(stage.pipeline.active).toBe(0)
    expect(stage.pipeline.lastCallMs).toBe(510)
  })
})
