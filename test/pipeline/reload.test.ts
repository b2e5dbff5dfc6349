import { describe, expect, it } from 'vitest'
import type { RetryHeader, RetryOn } from '../../src/core/snapshot.js'
import { DEFAULTS, type PolicyPart, type UpstreamPart } from './support/policy.js'
import { type CallOptions, checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, type Play, reply } from './support/upstream.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }
const retryOn = (changes: Partial<RetryOn>): RetryOn => ({ ...DEFAULTS.retry.retryOn, ...changes })
const again = (value: string): RetryHeader => ({ name: 'x-again', value })
const busy = reply(429, { headers: { 'Retry-After': '10' } })

describe('an edit', () => {
  it('holds for new requests, while one under way finishes under the old policy', async () => {
    const stage = new Stage({ timeouts: { totalMs: 5000, attemptMs: 5000 } })
    stage.upstream.plays(hang())
    const old = stage.get('/old')
    await stage.run(100)
    stage.apply([{ policy: { timeouts: { totalMs: 1000, attemptMs: 1000 } } }])
    const young = stage.get('/young')
    await stage.finish()
    expect([old.answeredAtMs, young.answeredAtMs]).toEqual([5000, 1100])
    expect([stage.finishedOf(old).generation, stage.finishedOf(young).generation]).toEqual([1, 2])
  })

  it('keeps an open breaker, its budget and what is known of the latency', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    for (let n = 0; n < 50; n++) stage.get(`/${n}`)
    await stage.run(200)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const { balance, latencyMs } = { balance: stage.balance, latencyMs: stage.status().latencyMs }
    stage.apply([{ policy: { breaker: { consecutiveFailures: 99 } } }])
    expect(stage.status().breaker.state).toBe('open')
    expect(stage.balance).toBeCloseTo(balance)
    expect(stage.status().latencyMs).toEqual(latencyMs)
  })

  it('keeps the counts and moves the limits of the budget', async () => {
    const stage = new Stage()
    for (let n = 0; n < 100; n++) stage.get(`/${n}`)
    await stage.finish()
    expect(stage.balance).toBeCloseTo(25)
    stage.apply([{ policy: { budget: { ratio: 0.1 } } }])
    expect(stage.balance).toBeCloseTo(15)
  })

  it('closes an open breaker only by its mode', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply([{ policy: { breaker: { mode: 'disabled' } } }])
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('lets those who wait for a slot go when it raises the limit', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(200, { afterMs: 1000 }))
    for (const path of ['/1', '/2', '/3']) stage.get(path)
    await stage.run(100)
    stage.apply([{ policy: { limits: { maxInFlight: 3 } } }])
    expect(stage.upstream.times).toEqual([0, 100, 100])
    await stage.finish()
  })

  it('cuts nothing that is on the wire when it lowers the limit', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { afterMs: 1000 }))
    for (const path of ['/1', '/2', '/3']) stage.get(path)
    await stage.run(100)
    stage.apply([{ policy: { limits: { maxInFlight: 1 } } }])
    stage.get('/4')
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 0, 0, 1000])
    expect(stage.calls.every(call => call.status === 200)).toBe(true)
  })

  it('moves the cap of the gate', async () => {
    const scoped = (capMs: number): UpstreamPart => ({
      policy: { retry: { retryAfter: { scope: 'upstream', capMs } }, breaker: { mode: 'disabled' } },
    })
    const stage = new Stage({}, { upstreams: [scoped(5000)] })
    stage.apply([scoped(20_000)])
    stage.upstream.plays(busy)
    for (let n = 0; n < 3; n++) stage.get(`/${n}`, once)
    await stage.run(10)
    expect(stage.status().gate.closedForMs).toBe(10_000)
  })

  it.each([
    ['observe', { mode: 'observe', whenOpen: 'wait' }],
    ['disabled', { mode: 'disabled', whenOpen: 'wait' }],
  ] as const)('of the breaker to %s keeps nobody in its line', async (_name, breaker) => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    const waits = ['/w1', '/w2'].map(path => stage.post(path))
    stage.apply([{ policy: { breaker } }])
    await stage.run(1500)
    const fresh = stage.post('/fresh')
    await stage.run(1500)
    expect([...waits, fresh].map(call => call.status)).toEqual([200, 200, 200])
    await stage.run(10_000)
    const later = stage.post('/later')
    await stage.run(500)
    expect(later.summary).toBe('200 delivered after 1')
  })

  it('to whenOpen: refuse refuses those in line, too', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const waits = stage.post('/waits')
    stage.apply([{}])
    const fresh = stage.post('/fresh')
    expect([waits.summary, fresh.summary]).toEqual(['503 breaker-open after 0', '503 breaker-open after 0'])
  })

  it('opens the gate when its scope goes back to the request, and those in line follow', async () => {
    const scoped = (scope: 'upstream' | 'request'): UpstreamPart => ({
      policy: { retry: { retryAfter: { scope } }, breaker: { mode: 'disabled' } },
    })
    const stage = new Stage({}, { upstreams: [scoped('upstream')] })
    stage.upstream.plays(busy, busy, busy, reply(200))
    for (let n = 0; n < 3; n++) stage.get(`/${n}`, once)
    await stage.run(10)
    const waits = stage.get('/waits')
    stage.apply([scoped('request')])
    const fresh = stage.get('/fresh')
    await stage.run(1000)
    expect([waits.status, fresh.status]).toEqual([200, 200])
  })
})

describe('a request in back-off', () => {
  const backOff = async (stage: Stage) => {
    stage.upstream.plays(reply(503, { body: 'held' }), reply(200))
    const call = stage.get('/waits')
    await stage.run(100)
    return call
  }

  it('obeys fewer attempts, and gives its ticket back', async () => {
    const stage = new Stage()
    const before = stage.balance
    const call = await backOff(stage)
    stage.apply([{ policy: { retry: { maxAttempts: 1 } } }])
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 1')
    expect(stage.denials).toEqual(['retries-exhausted'])
    expect(call.text).toBe('held')
    expect(stage.upstream.sent).toHaveLength(1)
    expect(stage.balance).toBe(before)
  })

  it('does not obey what was loosened', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(reply(503))
    const call = stage.get()
    await stage.run(100)
    stage.apply([{ policy: { retry: { maxAttempts: 9 } } }])
    await stage.finish()
    expect(call.attempts).toBe(2)
  })

  it('obeys the removal of its upstream', async () => {
    const stage = new Stage()
    const call = await backOff(stage)
    stage.apply([])
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 1')
    expect(stage.upstream.sent).toHaveLength(1)
  })

  it('obeys its own route', async () => {
    const routes = (maxAttempts: number) => [{ name: 'r', path: '/waits', policy: { retry: { maxAttempts } } }]
    const stage = new Stage({}, { upstreams: [{ routes: routes(5) }] })
    const call = await backOff(stage)
    stage.apply([{ routes: routes(1) }])
    await stage.finish()
    expect(call.attempts).toBe(1)
  })

  it.each<[string, Play, PolicyPart, PolicyPart]>([
    ['a status', reply(503, { body: 'held' }), {}, { retry: { retryOn: retryOn({ statuses: new Set([429]) }) } }],
    [
      'a response header',
      reply(404, { headers: { 'x-again': 'yes' }, body: 'held' }),
      { retry: { onHeaders: [again('yes')] } },
      { retry: { onHeaders: [again('no')] } },
    ],
    ['resets', fail('reset'), {}, { retry: { retryOn: retryOn({ reset: false }) } }],
    ['timeouts', hang(), { timeouts: { attemptMs: 20 } }, { retry: { retryOn: retryOn({ timeout: false }) } }],
    ['refused connections', fail('connect'), {}, { retry: { retryOn: retryOn({ connect: false }) } }],
  ])('obeys that %s is no reason to retry any more, and gives its ticket back', async (_what, play, before, after) => {
    const stage = new Stage(before)
    const { balance } = stage
    stage.upstream.plays(play, reply(200))
    const call = stage.get('/waits')
    await stage.run(100)
    expect(call.summary).toBe('waiting')
    stage.apply([{ policy: after }])
    await stage.finish()
    const own = { fail: play.kind === 'fail' ? play.failure : '', hang: 'attempt-timeout', reply: 'delivered' }
    expect(call.outcome).toBe(own[play.kind])
    if (play.kind === 'reply') expect([call.status, call.text]).toEqual([play.status, 'held'])
    expect([stage.upstream.sent.length, stage.balance]).toEqual([1, balance])
    expect(stage.of('retry-denied')).toEqual([])
  })

  const keyed = { headers: { 'x-key': 'k' } }
  const keys = (generate: boolean, ...keyHeaders: string[]): PolicyPart => ({
    retry: { idempotency: { generate, keyHeaders } },
  })

  it.each<[string, string, CallOptions, Play, PolicyPart, PolicyPart]>([
    ['no key is to be added', 'POST', {}, reply(503, { body: 'held' }), keys(true, 'x-key'), keys(false, 'x-key')],
    [
      'ours stands in no key header',
      'POST',
      {},
      reply(503, { body: 'held' }),
      keys(true, 'x-key'),
      keys(true, 'x-other'),
    ],
    [
      "the app's stands in no key header",
      'POST',
      keyed,
      reply(503, { body: 'held' }),
      keys(false, 'x-key'),
      keys(false, 'y'),
    ],
    [
      'a later one than was sent is to be added',
      'POST',
      keyed,
      fail('reset'),
      keys(false, 'x-key'),
      keys(true, 'x-other'),
    ],
  ])('obeys that %s any more, and gives its ticket back', async (_what, method, options, play, before, after) => {
    const stage = new Stage(before)
    const { balance } = stage
    stage.upstream.plays(play, reply(200))
    const call = stage.call(method, '/waits', options)
    await stage.run(100)
    expect(call.summary).toBe('waiting')
    stage.apply([{ policy: after }])
    await stage.finish()
    expect([stage.upstream.sent.length, stage.balance]).toEqual([1, balance])
    expect(stage.denials).toEqual(['not-repeatable'])
    if (play.kind === 'reply') expect(call.text).toBe('held')
  })

  it.each<[string, string, CallOptions, Play, PolicyPart, PolicyPart]>([
    ['nothing of it was sent yet', 'POST', {}, fail('connect'), keys(true, 'x-key'), keys(false)],
    ['its key still counts', 'POST', {}, reply(503), keys(true, 'x-key'), keys(true, 'x-other', 'x-key')],
    ['its method needs no key', 'PUT', {}, reply(503), keys(true, 'x-key'), keys(false)],
  ])('goes on without key headers that it had when %s', async (_what, method, options, play, before, after) => {
    const stage = new Stage(before)
    stage.upstream.plays(play, reply(200))
    const call = stage.call(method, '/waits', options)
    await stage.run(100)
    stage.apply([{ policy: after }])
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('goes on when another reason to retry was taken away', async () => {
    const stage = new Stage()
    const call = await backOff(stage)
    stage.apply([{ policy: { retry: { retryOn: retryOn({ connect: false, statuses: new Set([503]) }) } } }])
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('goes on when nothing that concerns it was tightened', async () => {
    const stage = new Stage()
    const call = await backOff(stage)
    stage.apply([{ policy: { limits: { maxInFlight: 7 } } }])
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })
})

describe('a retry that waits elsewhere', () => {
  it('in the room obeys the kill switch', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    stage.upstream.playsByPath({ '/slow': [reply(503, { afterMs: 400, body: 'held' })] }, reply(503))
    const slow = stage.get('/slow')
    await stage.openBreaker()
    await stage.run(300)
    stage.pipeline.switches.turnRetriesOff(60_000)
    const sent = stage.upstream.paths.filter(path => path === '/slow').length
    await stage.finish()
    expect(slow.summary).toBe('503 retries-exhausted after 1')
    expect(stage.upstream.paths.filter(path => path === '/slow')).toHaveLength(sent)
  })

  it('in the queue obeys fewer attempts', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(503), reply(200, { bodyMs: 2000 }))
    const retry = stage.get('/retry')
    await stage.run(50)
    stage.get('/hog')
    await stage.run(500)
    stage.apply([{ policy: { limits: { maxInFlight: 1 }, retry: { maxAttempts: 1 } } }])
    await stage.finish()
    expect(retry.summary).toBe('503 retries-exhausted after 1')
  })
})
