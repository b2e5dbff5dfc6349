import { describe, expect, it } from 'vitest'
import type { AppCall } from './support/app-call.js'
import type { PolicyPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

/** Brings a call into a phase; the app leaves there. */
interface Phase {
  readonly policy?: PolicyPart
  readonly reach: (stage: Stage) => Promise<void>
}

const phases: Record<string, Phase> = {
  'its first attempt': {
    reach: async stage => {
      stage.upstream.plays(hang())
      stage.get('/leaves')
      await stage.run(100)
    },
  },
  'the upload of its body': {
    reach: async stage => {
      stage.upstream.plays(hang())
      stage.call('PUT', '/leaves', { bodyBytes: 10, uploading: true })
      await stage.run(100)
    },
  },
  'a back-off': {
    reach: async stage => {
      stage.upstream.plays(reply(503))
      stage.get('/leaves')
      await stage.run(100)
    },
  },
  'a back-off while the held answer is still coming in': {
    reach: async stage => {
      stage.upstream.plays(reply(503, { bodyMs: 5000 }))
      stage.get('/leaves')
      await stage.run(100)
    },
  },
  'a further attempt': {
    reach: async stage => {
      stage.upstream.plays(fail('reset'), hang())
      stage.get('/leaves')
      await stage.run(1000)
    },
  },
  'the queue for a slot': {
    policy: { limits: { maxInFlight: 1 } },
    reach: async stage => {
      stage.upstream.plays(reply(200, { bodyMs: 200 }))
      stage.get('/hog')
      stage.get('/leaves')
      await stage.run(100)
    },
  },
  'the queue for a slot of a retry': {
    policy: { limits: { maxInFlight: 1 } },
    reach: async stage => {
      stage.upstream.plays(reply(503), reply(200, { bodyMs: 500 }))
      stage.get('/leaves')
      await stage.run(50)
      stage.get('/hog')
      await stage.run(300)
    },
  },
  'the line before an open breaker': {
    policy: { breaker: { whenOpen: 'wait' } },
    reach: async stage => {
      stage.upstream.plays(reply(503))
      await stage.openBreaker()
      stage.get('/leaves')
      await stage.run(100)
    },
  },
  'a streaming answer': {
    reach: async stage => {
      stage.upstream.plays(reply(200, { bodyMs: 60_000 }))
      stage.get('/leaves')
      await stage.run(100)
    },
  },
}

describe('an app that goes away during', () => {
  it.each(Object.keys(phases))('%s stops everything of its call at once and feeds nothing', async name => {
    const { policy = {}, reach } = phases[name] as Phase
    const stage = new Stage(policy)
    await reach(stage)
    const leaving = stage.calls.find(call => call.sentPath === '/leaves') as AppCall
    expect(leaving.over).toBe(false)
    const { settled, sent } = stage.upstream
    const resends = sent.filter(attempt => attempt.fields['forbear-attempt'] !== '1').length
    const unsentTickets = stage.of('retry-scheduled').length - resends
    const before = { balance: stage.balance, settled: settled.length, failures: stage.status().breaker.failuresInARow }
    leaving.hangUp()
    expect(stage.finishedOf(leaving)).toMatchObject({ status: 499, outcome: 'aborted' })
    expect(stage.balance).toBeCloseTo(before.balance + unsentTickets)
    expect(stage.status().breaker.failuresInARow).toBe(before.failures)
    expect(settled).toHaveLength(before.settled)
    expect(sent.filter(attempt => attempt.call === leaving && !attempt.ended)).toEqual([])
    if (stage.calls.every(call => call.over)) stage.expectIdle()
    const sentSoFar = sent.length
    await stage.run(60_000)
    expect(sent.slice(sentSoFar).filter(attempt => attempt.call === leaving)).toEqual([])
  })
})

describe('an app that goes away', () => {
  it('leaves its slot to the next in the queue', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.plays(hang(), reply(200))
    const leaves = stage.get('/leaves')
    const next = stage.get('/next')
    await stage.run(500)
    leaves.hangUp()
    await stage.run(10)
    expect(next.summary).toBe('200 delivered after 1')
    expect(stage.upstream.times).toEqual([0, 500])
  })

  it('from the queue lets those behind it move up', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1, maxWaiting: 2 } })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    const calls = ['/1', '/2', '/3'].map(path => stage.get(path))
    calls[1]?.hangUp()
    const fourth = stage.get('/4')
    await stage.finish()
    expect(stage.upstream.paths).toEqual(['/1', '/3', '/4'])
    expect(fourth.status).toBe(200)
  })

  it('is told in one line with the status 499 and the attempts made', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), hang())
    const call = stage.get('/x?secret=1')
    await stage.run(1000)
    call.hangUp()
    expect(stage.of('request-finished')).toMatchObject([
      { path: '/x', status: 499, outcome: 'aborted', attempts: 2, waitedMs: 200, durationMs: 1000 },
    ])
    expect(stage.of('attempt-finished').map(event => event.result)).toEqual(['response', 'aborted'])
  })
})
