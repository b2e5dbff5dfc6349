import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

/** Most attempts that were open at once. */
function watchInFlight(stage: Stage) {
  let most = 0
  stage.upstream.decides(() => {
    most = Math.max(most, stage.upstream.open + 1)
    return reply(200, { afterMs: 100 })
  })
  return () => most
}

describe('maxInFlight', () => {
  it('is never exceeded, and the rest follow first come first served', async () => {
    const stage = new Stage({ limits: { maxInFlight: 3 } })
    const most = watchInFlight(stage)
    for (let n = 0; n < 10; n++) stage.get(`/${n}`)
    expect(stage.status()).toMatchObject({ inFlight: 3, waiting: 7 })
    await stage.finish()
    expect(most()).toBe(3)
    expect(stage.upstream.paths).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(n => `/${n}`))
    expect(stage.calls.map(call => call.summary)).toEqual(new Array(10).fill('200 delivered after 1'))
  })

  it('is not exceeded because a breaker that only observes wants a probe', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 }, breaker: { mode: 'observe', consecutiveFailures: 3 } })
    stage.upstream.plays(fail('connect'))
    await stage.openBreaker()
    while (stage.status().breaker.state === 'open') await stage.run(100)
    const most = watchInFlight(stage)
    for (let n = 0; n < 10; n++) stage.get(`/${n}`)
    await stage.finish()
    expect(most()).toBe(1)
  })

  it('counts the time of queueing as waiting', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    stage.get('/first')
    const second = stage.get('/second')
    await stage.finish()
    expect(stage.finishedOf(second)).toMatchObject({ waitedMs: 100, durationMs: 200 })
  })

  it('counts a streaming answer until its end', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(200, { bodyMs: 5000 }))
    stage.get('/stream')
    stage.get('/next')
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 5010])
  })

  it('is held by no request that backs off', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.playsByPath({ '/fails': [reply(503), reply(200)] })
    const fails = stage.get('/fails')
    await stage.run(20)
    expect(stage.status()).toMatchObject({ inFlight: 0, waiting: 1 })
    const next = stage.get('/next')
    await stage.run(20)
    expect(next.summary).toBe('200 delivered after 1')
    await stage.finish()
    expect(fails.summary).toBe('200 delivered after 2')
  })

  it('is bounded by the connections of the pool, over all routes together', async () => {
    const routes = [{ name: 'own', path: '/own', policy: { limits: { maxInFlight: 9 } }, own: { limits: true } }]
    const stage = new Stage({}, { upstreams: [{ maxConnections: 4, routes }] })
    const most = watchInFlight(stage)
    for (let n = 0; n < 8; n++) {
      stage.get('/own')
      stage.get('/other')
    }
    await stage.finish()
    expect(most()).toBe(4)
    expect(stage.calls.every(call => call.status === 200)).toBe(true)
  })

  it('of a route is its own: a full route leaves the others alone', async () => {
    const routes = [{ name: 'small', path: '/small', policy: { limits: { maxInFlight: 1 } }, own: { limits: true } }]
    const stage = new Stage({}, { upstreams: [{ routes }] })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    stage.get('/small')
    stage.get('/small')
    stage.get('/other')
    expect(stage.status('small')).toMatchObject({ inFlight: 1, waiting: 1 })
    expect(stage.status()).toMatchObject({ inFlight: 1, waiting: 0 })
    await stage.finish()
  })
})

describe('the waiting room', () => {
  it('answers overloaded when maxWaiting is reached', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1, maxWaiting: 2 } })
    const calls = [1, 2, 3, 4].map(n => stage.get(`/${n}`))
    expect(calls.map(call => call.summary)).toEqual(['waiting', 'waiting', 'waiting', '503 overloaded after 0'])
    expect(calls[3]?.header('forbear-exhausted')).toBe('overloaded')
    await stage.finish()
    expect(calls.slice(0, 3).map(call => call.status)).toEqual([200, 200, 200])
  })

  it('answers overloaded when maxWaitingBytes would be passed, and counts captured bytes only while they wait', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1, maxWaitingBytes: 1000 } })
    const body = (bodyBytes: number) => ({ bodyBytes })
    stage.call('PUT', '/on-the-wire', body(900))
    stage.call('PUT', '/waits', body(600))
    expect(stage.call('PUT', '/too-much', body(401)).summary).toBe('503 overloaded after 0')
    stage.call('PUT', '/fits', body(400))
    expect(stage.status()).toMatchObject({ waiting: 2, waitingBytes: 1000 })
    await stage.finish()
    expect(stage.calls.map(call => call.status)).toEqual([200, 200, 503, 200])
  })

  it('takes no part in a call that need not wait', async () => {
    const stage = new Stage({ limits: { maxWaiting: 0 } })
    const call = stage.get()
    await stage.finish()
    expect(call.status).toBe(200)
  })

  it('that is full for a back-off gives the app its last answer, and the ticket back', async () => {
    const stage = new Stage({ limits: { maxWaiting: 0 } })
    stage.upstream.plays(reply(503, { body: 'held' }))
    const before = stage.balance
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 overloaded after 1')
    expect(call.text).toBe('held')
    expect(stage.balance).toBe(before)
  })

  it('ends at the deadline', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 }, timeouts: { totalMs: 1000 } })
    stage.upstream.plays(reply(200, { bodyMs: 5000 }))
    stage.get('/stream')
    const waits = stage.get('/waits')
    await stage.run(1000)
    expect(waits.summary).toBe('504 deadline after 0')
    expect(stage.status().waiting).toBe(0)
  })

  it('puts a deadline on a call whose body is still coming in, which goes when the call does', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 }, timeouts: { totalMs: 1000, attemptMs: 1000 } })
    stage.upstream.playsByPath({ '/hog': [reply(200, { bodyMs: 500 })], '/up': [reply(200, { afterMs: 5000 })] })
    stage.get('/hog')
    const up = stage.call('PUT', '/up', { bodyBytes: 10, uploading: true })
    await stage.run(4600)
    up.body?.end()
    await stage.finish()
    expect(up.summary).toBe('200 delivered after 1')
  })
})
