import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, type Play, reply } from '../pipeline/support/upstream.js'
import { BUILT_IN_POLICY } from '../support/built-in.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }
const PLAYS: readonly [string, Play][] = [
  ['503', reply(503)],
  ['500', reply(500)],
  ['a reset', fail('reset')],
  ['a refused connection', fail('connect')],
  ['a cut body', reply(200, { cut: true })],
]

describe('F053 one failure after a quiet time is a failure rate of 100 %, and opens the breaker (opossum#217)', () => {
  it('the default asks for 20 first attempts in 10 s before a ratio counts', () => {
    const { minRequests, windowMs } = BUILT_IN_POLICY.breaker
    expect([minRequests, windowMs]).toEqual([20, 10_000])
  })

  it.each(PLAYS)('a single first call that ends in %s leaves it closed', async (_name, play) => {
    const stage = new Stage()
    stage.upstream.plays(play)
    stage.get('/x', once)
    await stage.run(1_000)
    expect([stage.status().breaker.state, stage.transitions]).toEqual(['closed', []])
  })

  it.each(PLAYS)(
    'one call a minute that ends in %s never opens it while others, too few for a ratio, succeed',
    async (_name, play) => {
      const stage = new Stage()
      for (let minute = 0; minute < 30; minute++) {
        stage.upstream.plays(play)
        stage.get('/x', once)
        await stage.run(30_000)
        stage.upstream.plays(reply(200))
        stage.get('/y', once)
        await stage.run(30_000)
      }
      expect(stage.transitions).toEqual([])
    },
  )

  it('a request with all its retries failing is not enough either', async () => {
    const stage = new Stage({ retry: { maxAttempts: 5 } })
    stage.upstream.plays(reply(503))
    stage.get()
    await stage.finish()
    expect(stage.transitions).toEqual([])
  })

  it('19 calls of which all fail are too few for the ratio, 20 are enough', async () => {
    for (const [calls, state] of [
      [19, 'closed'],
      [20, 'open'],
    ] as const) {
      const stage = new Stage({ breaker: { consecutiveFailures: 0 } })
      stage.upstream.plays(reply(503))
      for (let n = 0; n < calls; n++) {
        stage.get(`/${n}`, once)
        await stage.run(20)
      }
      expect(stage.status().breaker.state).toBe(state)
    }
  })

  it('the requests of before the window do not count towards the minimum', async () => {
    const stage = new Stage({ breaker: { consecutiveFailures: 0 } })
    stage.upstream.plays(reply(200))
    for (let n = 0; n < 30; n++) stage.get(`/${n}`, once)
    await stage.run(20_000)
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 10; n++) {
      stage.get(`/f${n}`, once)
      await stage.run(100)
    }
    expect(stage.transitions).toEqual([])
  })

  it('after a closing the window begins empty: one more failure does not open it again', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    await stage.run(1_000)
    stage.upstream.plays(reply(200), reply(503))
    stage.get('/probe')
    await stage.run(20)
    stage.get('/fails', once)
    await stage.run(200)
    expect(stage.status().breaker.state).toBe('closed')
  })
})
