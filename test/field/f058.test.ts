import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, hang, type Play, reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const AMPLE = { ratio: 1, minPerSecond: 1_000 }

describe('F058 a breaker is told once per exhausted retry loop, so that a threshold of 5 takes 15 calls (jac#7909)', () => {
  it.each([
    ['503', reply(503)],
    ['a reset', fail('reset')],
    ['a refused connection', fail('connect')],
    ['a body that is not HTTP', fail('bad-response')],
    ['no answer', hang()],
  ] as readonly [string, Play][])(
    'each attempt counts: %s opens it after 5 attempts, three of them one request',
    async (_name, play) => {
      const stage = new Stage({
        retry: { maxAttempts: 3 },
        timeouts: { attemptMs: 300 },
        budget: AMPLE,
        breaker: { consecutiveFailures: 5, minRequests: 1_000 },
      })
      stage.upstream.plays(play)
      for (let n = 0; stage.status().breaker.state === 'closed' && n < 20; n++) {
        stage.get(`/${n}`)
        await stage.run(2_000)
      }
      expect(stage.transitions[0]).toBe('open: consecutive-failures')
      expect(stage.upstream.sent.length).toBe(5)
    },
  )

  it('attempts already scheduled end as soon as it opens: with their last answer where there is one', async () => {
    const stage = new Stage({
      retry: { maxAttempts: 10 },
      budget: AMPLE,
      breaker: { consecutiveFailures: 5, minRequests: 1_000, openForMs: 60_000, maxOpenForMs: 60_000 },
    })
    stage.upstream.playsByPath({ '/resets': [fail('reset')] }, reply(503))
    const calls = ['/resets', '/1', '/2'].map(path => stage.get(path))
    await stage.run(250)
    expect(stage.status().breaker.state).toBe('open')
    const sent = stage.upstream.sent.length
    await stage.run(1_000)
    expect(stage.upstream.sent.length).toBe(sent)
    expect(calls.map(call => call.outcome)).toEqual(['reset', 'breaker-open', 'breaker-open'])
    expect(calls.map(call => call.status)).toEqual([502, 503, 503])
  })

  it('a retry that succeeds ends the run of failures', async () => {
    const stage = new Stage({
      retry: { maxAttempts: 3 },
      budget: AMPLE,
      breaker: { consecutiveFailures: 5, minRequests: 1_000 },
    })
    stage.upstream.decides(n => reply(n % 3 === 2 ? 200 : 503))
    for (let n = 0; n < 20; n++) {
      stage.get(`/${n}`)
      await stage.run(2_000)
    }
    expect(stage.calls.every(call => call.summary === '200 delivered after 3')).toBe(true)
    expect(stage.transitions).toEqual([])
  })

  it('the ratio takes first attempts alone, so that the retries of one bad route do not open it for all', async () => {
    const stage = new Stage({
      retry: { maxAttempts: 5, backoff: { baseMs: 10, capMs: 10 } },
      budget: AMPLE,
      breaker: { consecutiveFailures: 0, failureRatio: 0.5, minRequests: 20 },
    })
    stage.upstream.playsByPath({ '/bad': [reply(503)] })
    for (let n = 0; n < 300; n++) {
      stage.get(n % 4 === 0 ? '/bad' : '/good')
      await stage.run(50)
    }
    expect(stage.transitions).toEqual([])
  })
})
