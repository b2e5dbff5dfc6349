import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, type Play, reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }

describe('F050 failures that land together cancel the reset timer, and the breaker stays open for ever (opossum#385)', () => {
  it.each([
    ['answers of 503', reply(503, { afterMs: 150 })],
    ['resets', fail('reset', { afterMs: 150 })],
    ['refused connections', fail('connect', { afterMs: 150 })],
  ] as readonly [string, Play][])(
    '%s, many in one millisecond and more while open: a probe follows and closes',
    async (_name, play) => {
      const stage = new Stage({ breaker: { minRequests: 5, consecutiveFailures: 5 } })
      stage.upstream.plays(fail('reset', { afterMs: 1 }), play)
      stage.get('/first', once)
      // They all end within a millisecond, 150 ms after the first failure.
      for (let n = 0; n < 12; n++) stage.get(`/${n}`, once)
      await stage.run(160)
      expect(stage.status().breaker.state).toBe('open')
      await stage.run(2_000)
      expect(stage.status().breaker.state).toBe('half-open')
      stage.upstream.plays(reply(200))
      expect(stage.get('/probe').summary).toBe('waiting')
      await stage.run(20)
      expect(stage.status().breaker.state).toBe('closed')
      expect(stage.transitions.map(change => change.split(':')[0])).toEqual(['open', 'half-open', 'closed'])
    },
  )

  it('failures that come in after the opening do not prolong it', async () => {
    const stage = new Stage({ breaker: { minRequests: 5, consecutiveFailures: 5 } })
    stage.upstream.playsByPath({ '/late': [fail('reset', { afterMs: 700 })] }, reply(503))
    for (let n = 0; n < 10; n++) stage.get('/late', once)
    await stage.openBreaker()
    await stage.run(760)
    expect(stage.status().breaker.state).toBe('half-open')
  })

  it('failures that come in while half-open neither reopen it nor take the probe away', async () => {
    const stage = new Stage({ breaker: { minRequests: 5, consecutiveFailures: 5 } })
    stage.upstream.playsByPath({ '/late': [fail('reset', { afterMs: 1_000 })] }, reply(503))
    for (let n = 0; n < 10; n++) stage.get('/late', once)
    await stage.openBreaker()
    await stage.run(1_500)
    expect(stage.status().breaker.state).toBe('half-open')
    stage.upstream.plays(reply(200))
    stage.get('/probe')
    await stage.run(20)
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('a hundred outages in a row each end with a probe', async () => {
    const stage = new Stage({ breaker: { minRequests: 5, consecutiveFailures: 5 } })
    for (let n = 0; n < 100; n++) {
      stage.upstream.plays(reply(503))
      for (let k = 0; stage.status().breaker.state === 'closed' && k < 20; k++) {
        for (let m = 0; m < 5; m++) stage.get('/x', once)
        await stage.run(60)
      }
      expect(stage.status().breaker.state).toBe('open')
      stage.upstream.plays(reply(200))
      await stage.run(15_000)
      stage.get('/probe', once)
      await stage.run(20)
      expect(stage.status().breaker.state).toBe('closed')
    }
  })
})
