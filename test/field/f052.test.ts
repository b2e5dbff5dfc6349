import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, hang, reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }

describe('F052 one call that times out aborts every other call, and all that follow (opossum#861)', () => {
  it.each([
    ['attempt clock', { timeouts: { attemptMs: 200 } }],
    ['total clock', { timeouts: { totalMs: 200 } }],
  ])('by its %s: the one beside it and the next are served', async (_name, policy) => {
    const stage = new Stage(policy)
    stage.upstream.playsByPath({ '/stalls': [hang()] }, reply(200, { afterMs: 150 }))
    const stalls = stage.get('/stalls', once)
    await stage.run(100)
    const beside = stage.get('/beside')
    await stage.run(110)
    expect(stalls.summary).toBe('504 attempt-timeout after 1')
    const next = stage.get('/next')
    await stage.run(200)
    expect([beside.summary, next.summary]).toEqual(['200 delivered after 1', '200 delivered after 1'])
  })

  it('by the app’s own deadline, by the app that leaves, or by a reset: the others are served', async () => {
    const stage = new Stage()
    stage.upstream.playsByPath(
      { '/stalls': [hang()], '/breaks': [fail('reset', { afterMs: 50 })] },
      reply(200, { afterMs: 150, bodyMs: 100 }),
    )
    stage.get('/stalls', { headers: { 'forbear-timeout-ms': '100' } })
    const leaves = stage.get('/stalls')
    stage.get('/breaks', once)
    const others = Array.from({ length: 50 }, (_, n) => stage.get(`/${n}`))
    await stage.run(120)
    leaves.hangUp()
    await stage.finish()
    for (const other of others) expect(other.summary).toBe('200 delivered after 1')
    expect(stage.get('/after').status).toBeNull()
    await stage.finish()
    expect(stage.calls.at(-1)?.summary).toBe('200 delivered after 1')
  })

  it('a time-out that opens the breaker leaves running calls alone', async () => {
    const stage = new Stage({ timeouts: { attemptMs: 2_000 }, breaker: { minRequests: 5, consecutiveFailures: 5 } })
    stage.upstream.playsByPath({ '/slow': [reply(200, { afterMs: 1_000, bodyMs: 1_000 })] }, reply(503))
    const slow = stage.get('/slow')
    await stage.openBreaker()
    await stage.finish()
    expect(slow.summary).toBe('200 delivered after 1')
  })

  it('an attempt that times out leaves the next attempt of the same request alone', async () => {
    const stage = new Stage({ timeouts: { attemptMs: 200 } })
    stage.upstream.plays(hang(), reply(200, { afterMs: 150, bodyMs: 300 }))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(stage.upstream.sent.map(sent => sent.aborted)).toEqual([true, false])
  })
})
