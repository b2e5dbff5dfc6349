import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

describe('the order of the decision', () => {
  const layered = { headers: { 'forbear-attempt': '2' } }

  it('asks whether it is retryable before whether it is repeatable', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(500))
    const call = stage.post()
    await stage.finish()
    expect(call.summary).toBe('500 delivered after 1')
  })

  it('asks whether it is repeatable before whether the body is replayable', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    const call = stage.call('POST', '/', { bodyBytes: 1_000_000 })
    await stage.finish()
    expect(call.outcome).toBe('not-repeatable')
  })

  it('asks whether the body is replayable before whether attempts are left', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2, maxBodyBytes: 10 } })
    stage.upstream.plays(fail('connect'), reply(503))
    const call = stage.call('PUT', '/', { bodyBytes: 100 })
    await stage.finish()
    expect(call.summary).toBe('503 body-too-large after 2')
  })

  it('asks whether attempts are left before Retry-After', async () => {
    const stage = new Stage({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': '86400' } }))
    const call = stage.get('/')
    await stage.finish()
    expect(call.outcome).toBe('retries-exhausted')
  })

  it('asks for the layer before anything of its own', async () => {
    const stage = new Stage({ budget: { ratio: 0, minPerSecond: 0 } })
    stage.upstream.plays(reply(503))
    const call = stage.get('/', layered)
    await stage.finish()
    expect(call.outcome).toBe('layer')
  })

  it('asks whether the delay fits the deadline before the budget, which then keeps its ticket', async () => {
    const stage = new Stage({ timeouts: { totalMs: 200 } })
    stage.upstream.plays(reply(503))
    const before = stage.balance
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 deadline after 1')
    expect(stage.balance).toBe(before)
  })

  it('leaves at least 50 ms for the attempt after the delay', async () => {
    const outcomes = []
    for (const totalMs of [259, 260]) {
      const stage = new Stage({ timeouts: { totalMs } })
      stage.upstream.plays(reply(503), reply(200))
      const call = stage.get()
      await stage.finish()
      outcomes.push(call.summary)
    }
    expect(outcomes).toEqual(['503 deadline after 1', '200 delivered after 2'])
  })

  it('leaves the median of successes for the attempt when that is longer', async () => {
    const stage = new Stage({ timeouts: { totalMs: 1000 } })
    stage.upstream.plays(reply(200, { afterMs: 900 }), reply(503), reply(200))
    stage.get('/slow')
    await stage.finish()
    const call = stage.get('/next')
    await stage.finish()
    expect(call.summary).toBe('503 deadline after 1')
  })
})

describe('Retry-After', () => {
  it('is waited for, and our own back-off on top of it', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503, { afterMs: 0, headers: { 'Retry-After': '2' } }), reply(200))
    stage.get()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 2200])
  })

  it.each([
    ['above the cap', '31', {}],
    ['past the deadline', '20', { timeouts: { totalMs: 15_000 } }],
  ] as const)('%s passes the reply on at once', async (_name, value, policy) => {
    const stage = new Stage(policy)
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': value } }), reply(200))
    const call = stage.get()
    await stage.run(20)
    expect(call.summary).toBe('503 retry-after-too-long after 1')
    expect(call.header('Retry-After')).toBe(value)
  })

  it('never makes an answer retryable', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(500, { headers: { 'Retry-After': '1' } }), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('500 delivered after 1')
  })
})

describe('a further attempt', () => {
  it('never uses the connection of a failed one', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(503), reply(200))
    stage.get()
    await stage.finish()
    const [first, second, third] = stage.upstream.sent
    expect(first?.request.avoid).toEqual([])
    expect(third?.request.avoid).toEqual([first?.connection, second?.connection])
    expect(stage.upstream.settled.map(settled => settled.failed)).toEqual([true, true, false])
  })

  it('may be forbidden by the app, which can only tighten', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(reply(503))
    const one = stage.get('/1', { headers: { 'forbear-max-attempts': '1' } })
    const nine = stage.get('/9', { headers: { 'forbear-max-attempts': '9' } })
    await stage.finish()
    expect(one.summary).toBe('503 retries-exhausted after 1')
    expect(nine.summary).toBe('503 retries-exhausted after 2')
  })
})

describe('the kill switch', () => {
  it('lets the first attempt through and no other', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    stage.pipeline.switches.turnRetriesOff(60_000)
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 1')
    expect(stage.denials).toEqual(['retries-off'])
  })

  it('ends a back-off that has begun when it would send, and gives its ticket back', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const before = stage.balance
    const call = stage.get()
    await stage.run(50)
    expect(stage.balance).toBe(before - 1)
    stage.pipeline.switches.turnRetriesOff(60_000)
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 1')
    expect(stage.balance).toBe(before)
  })

  it('lapses by itself, and can be taken back', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200), reply(503), reply(200))
    stage.pipeline.switches.turnRetriesOff(1000)
    await stage.run(1000)
    const later = stage.get('/later')
    await stage.finish()
    stage.pipeline.switches.turnRetriesOff(60_000)
    stage.pipeline.switches.turnRetriesOff(0)
    const after = stage.get('/after')
    await stage.finish()
    expect([later.summary, after.summary]).toEqual(['200 delivered after 2', '200 delivered after 2'])
  })
})
