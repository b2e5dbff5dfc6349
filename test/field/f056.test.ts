import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, hang, reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const TIGHT = { breaker: { minRequests: 2, consecutiveFailures: 2, failureRatio: 0.01 } } as const

/** Nothing of what was refused counted. */
function expectClosed(stage: Stage): void {
  expect(stage.transitions).toEqual([])
  expect(stage.status().breaker.failuresInARow).toBe(0)
}

describe('F056 calls refused for want of capacity count as failures and open the breaker of a healthy upstream (measured on opossum)', () => {
  it('over maxInFlight with no room to wait is 503 overloaded, and no failure', async () => {
    const stage = new Stage({ ...TIGHT, limits: { maxInFlight: 1, maxWaiting: 0 } })
    stage.upstream.plays(reply(200, { afterMs: 50 }))
    for (let round = 0; round < 20; round++) {
      const calls = Array.from({ length: 4 }, (_, n) => stage.get(`/${n}`))
      await stage.run(60)
      expect(calls.map(call => call.summary)).toEqual([
        '200 delivered after 1',
        ...Array(3).fill('503 overloaded after 0'),
      ])
    }
    expectClosed(stage)
  })

  it('over maxInFlight with room waits, and is served in turn', async () => {
    const stage = new Stage({ ...TIGHT, limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(200, { afterMs: 50 }))
    const calls = Array.from({ length: 10 }, (_, n) => stage.get(`/${n}`))
    await stage.finish()
    expect(calls.every(call => call.summary === '200 delivered after 1')).toBe(true)
    expectClosed(stage)
  })

  it('over maxWaitingBytes is 503 overloaded, and no failure', async () => {
    const stage = new Stage({ ...TIGHT, limits: { maxInFlight: 1, maxWaitingBytes: 150 } })
    stage.upstream.plays(reply(200, { afterMs: 50 }))
    const calls = Array.from({ length: 6 }, () => stage.post())
    await stage.finish()
    const refused = calls.filter(call => call.summary === '503 overloaded after 0')
    expect(refused.length).toBe(4)
    expectClosed(stage)
  })

  it('a call whose deadline comes while it queues is 504, and no failure of the upstream', async () => {
    const stage = new Stage({ ...TIGHT, limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(200, { afterMs: 400 }))
    stage.get('/served')
    const late = Array.from({ length: 5 }, (_, n) => stage.get(`/${n}`, { headers: { 'forbear-timeout-ms': '200' } }))
    await stage.finish()
    expect(late.every(call => call.summary === '504 deadline after 0')).toBe(true)
    expectClosed(stage)
  })

  it('an app that leaves the queue, or the wire, is no failure', async () => {
    const stage = new Stage({ ...TIGHT, limits: { maxInFlight: 1 } })
    stage.upstream.plays(hang())
    const calls = Array.from({ length: 5 }, (_, n) => stage.get(`/${n}`))
    await stage.run(1_500)
    for (const call of calls.reverse()) call.hangUp()
    await stage.run(10)
    expectClosed(stage)
  })

  it('a closed gate, a drain and a full room during a back-off are none', async () => {
    const stage = new Stage({
      ...TIGHT,
      limits: { maxInFlight: 1, maxWaiting: 1 },
      retry: { retryAfter: { scope: 'upstream' } },
    })
    stage.upstream.plays(reply(429, { headers: { 'Retry-After': '5' } }))
    for (let n = 0; n < 6; n++) {
      stage.get(`/${n}`, { headers: { 'forbear-max-attempts': '1' } })
      await stage.run(20)
    }
    expect(stage.get('/hurried', { headers: { 'forbear-timeout-ms': '100' } }).outcome).toBe('gate-closed')
    stage.pipeline.drain()
    expect(stage.get('/late').outcome).toBe('draining')
    expectClosed(stage)
  })

  it('what the breaker itself refuses is not counted: one good probe and it takes as many failures as ever', async () => {
    const stage = new Stage({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(fail('reset'))
    await stage.openBreaker()
    for (let n = 0; n < 500; n++) stage.get(`/${n}`)
    await stage.run(1_000)
    stage.upstream.plays(reply(200))
    stage.get('/probe')
    await stage.run(20)
    stage.upstream.plays(fail('reset'))
    const from = stage.upstream.sent.length
    await stage.openBreaker()
    expect(stage.upstream.sent.length - from).toBe(10)
  })
})
