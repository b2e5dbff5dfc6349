import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

describe('a connection that died of old age', () => {
  const stale = fail('reset', { idleMs: 100 })

  it('is replaced by a fresh one at once: no retry, no budget, no failure', async () => {
    const stage = new Stage()
    stage.upstream.plays(stale, reply(200))
    const before = stage.balance
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    expect(stage.upstream.times).toEqual([0, 5])
    expect(stage.upstream.sent.map(sent => sent.request.fresh)).toEqual([false, true])
    expect(stage.upstream.sent.map(sent => sent.fields['forbear-attempt'])).toEqual(['1', '1'])
    expect(stage.balance).toBeGreaterThanOrEqual(before)
    expect(stage.of('attempt-finished')).toHaveLength(1)
    expect(stage.status().breaker.failuresInARow).toBe(0)
  })

  it('leaves no clock behind: that of the attempt starts anew on the fresh one', async () => {
    const stage = new Stage({ timeouts: { attemptMs: 1000 }, retry: { maxAttempts: 1 } })
    stage.upstream.plays(fail('reset', { idleMs: 100, afterMs: 500 }), reply(200, { afterMs: 900 }), hang())
    const call = stage.get('/stale')
    await stage.run(1400)
    expect(call.summary).toBe('200 delivered after 1')
    stage.expectIdle()
    await stage.run(1000)
    expect(stage.of('attempt-finished')).toHaveLength(1)
  })

  it.each([
    ['had been idle for less than 100 ms', fail('reset', { idleMs: 99 }), 'GET'],
    ['was fresh', fail('reset'), 'GET'],
    ['carried what may not be repeated', stale, 'POST'],
  ] as const)('is an ordinary reset when it %s', async (_name, play, method) => {
    const stage = new Stage({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(play, reply(200))
    const call = stage.call(method, '/', { bodyBytes: 10 })
    await stage.finish()
    expect(call.summary).toBe('502 reset after 1')
    expect(stage.status().breaker.failuresInARow).toBe(1)
  })

  it('is an ordinary reset when the body cannot be sent again', async () => {
    const stage = new Stage()
    stage.upstream.plays(stale, reply(200))
    const call = stage.call('PUT', '/', { bodyBytes: 1_000_000 })
    await stage.finish()
    expect(call.summary).toBe('502 reset after 1')
  })

  it('is replaced once per request, so that at most one call more than maxAttempts is made', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(stale, stale, stale, reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('502 reset after 2')
    expect(stage.upstream.sent).toHaveLength(3)
  })

  it('is replaced five times in a burst and then once a second', async () => {
    const stage = new Stage({ retry: { maxAttempts: 1 }, breaker: { mode: 'disabled' } })
    stage.upstream.decides(() => stale)
    const freshOf = async (calls: number) => {
      const before = stage.upstream.sent.length
      for (let n = 0; n < calls; n++) stage.get(`/${n}`)
      await stage.run(20)
      return stage.upstream.sent.length - before - calls
    }
    expect(await freshOf(8)).toBe(5)
    await stage.run(1000)
    expect(await freshOf(8)).toBe(1)
    await stage.run(60_000)
    expect(await freshOf(8)).toBe(5)
  })

  it('is replaced for a request that arrives marked as a re-send, too', async () => {
    const stage = new Stage()
    stage.upstream.plays(stale, reply(200))
    const call = stage.get('/', { headers: { 'forbear-attempt': '3' } })
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
  })
})
