import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const WAIT = { breaker: { whenOpen: 'wait' } } as const
const paths = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `/${prefix}-${n}`)

describe('riding an outage out', () => {
  it('keeps a POST of which nothing was sent waiting, and serves it when the probe has succeeded', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    const before = stage.balance
    const call = stage.post()
    expect(call.summary).toBe('waiting')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    // Waiting costs no budget; its own success has even earned some.
    expect(stage.balance).toBeGreaterThanOrEqual(before)
  })

  it('sends the first in line as the probe, and the others first come first served', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const before = stage.upstream.sent.length
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    for (const path of paths('w', 5)) stage.post(path)
    await stage.run(800)
    expect(stage.upstream.paths.slice(before)).toEqual(['/w-0'])
    await stage.finish()
    expect(stage.upstream.paths.slice(before)).toEqual(paths('w', 5))
  })

  it('keeps them waiting while probes fail', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const before = stage.upstream.sent.length
    const calls = paths('w', 5).map(path => stage.post(path, { headers: { 'forbear-timeout-ms': '29000' } }))
    await stage.run(10_000)
    expect(stage.upstream.sent.length - before).toBeGreaterThan(1)
    expect(stage.upstream.sent.length - before).toBeLessThan(6)
    // A probe that was sent and may not be repeated gets its answer.
    const answered = calls.filter(call => call.over)
    expect(answered.length).toBe(stage.upstream.sent.length - before)
    expect(answered.every(call => call.status === 503)).toBe(true)
    await stage.finish()
  })

  it('lets a repeatable call that failed return to the room, on the budget', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.playsByPath({ '/slow': [reply(503, { afterMs: 400 }), reply(200)] }, reply(503))
    const slow = stage.get('/slow')
    await stage.openBreaker()
    const before = stage.balance
    await stage.run(250)
    expect(slow.summary).toBe('waiting')
    expect(stage.balance).toBe(before - 1)
    stage.upstream.plays(reply(200))
    await stage.finish()
    expect(slow.summary).toBe('200 delivered after 2')
  })

  it('lets back-offs that the opening overtakes wait in the room', async () => {
    const stage = new Stage(WAIT)
    const hinted = reply(503, { headers: { 'Retry-After': '1' }, body: 'x' })
    stage.upstream.playsByPath({ '/backs-off': [hinted, reply(200)] }, reply(503))
    const call = stage.get('/backs-off')
    await stage.openBreaker()
    expect(call.summary).toBe('waiting')
    stage.upstream.plays(reply(200))
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('never sends earlier than Retry-After told, though the breaker closes before', async () => {
    const stage = new Stage(WAIT)
    const told = { headers: { 'Retry-After': '5' } }
    const plays = { '/before': [reply(503, told)], '/after': [reply(503, { ...told, afterMs: 400 })] } as const
    stage.upstream.playsByPath(plays, reply(503))
    const calls = [stage.get('/before'), stage.get('/after')]
    await stage.openBreaker()
    await stage.run(300)
    stage.upstream.plays(reply(200))
    stage.get('/probe')
    await stage.finish()
    expect(calls.map(call => call.summary)).toEqual(['200 delivered after 2', '200 delivered after 2'])
    const sentAtMs = (path: string) => stage.upstream.times[stage.upstream.paths.lastIndexOf(path)]
    expect(sentAtMs('/probe')).toBeLessThan(2000)
    expect(sentAtMs('/before')).toBeGreaterThanOrEqual(5010)
    expect(sentAtMs('/after')).toBeGreaterThanOrEqual(5400)
  })

  it('puts a call that failed before those that came after it', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.playsByPath({ '/failed': [reply(503, { afterMs: 250 })] }, reply(503))
    stage.get('/failed')
    await stage.openBreaker()
    const before = stage.upstream.sent.length
    stage.upstream.plays(reply(200))
    for (const path of ['/w-1', '/w-2']) stage.get(path)
    await stage.finish()
    expect(stage.upstream.paths.slice(before)).toEqual(['/failed', '/w-1', '/w-2'])
  })

  it('keeps a POST that found nobody to connect to, whether it opened the breaker or was the probe', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.decides((_n, call) => fail('connect', { afterMs: call.path === '/late' ? 400 : 5 }))
    const late = stage.post('/late')
    await stage.openBreaker()
    const probe = stage.post('/probe')
    await stage.run(2000)
    expect([late.summary, probe.summary]).toEqual(['waiting', 'waiting'])
    stage.upstream.plays(reply(200))
    await stage.finish()
    expect([late.status, probe.status]).toEqual([200, 200])
  })

  it('lets the back-off of a POST that found nobody be overtaken by the opening', async () => {
    const stage = new Stage({ ...WAIT, retry: { backoff: { baseMs: 400 } } })
    stage.upstream.plays(fail('connect'))
    const call = stage.post('/backs-off')
    await stage.openBreaker()
    expect(call.summary).toBe('waiting')
    stage.upstream.plays(reply(200))
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('ends a call that was sent and may not be repeated', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.playsByPath({ '/post': [reply(503, { afterMs: 400 })] }, reply(503))
    const post = stage.post('/post')
    await stage.openBreaker()
    await stage.run(400)
    expect(post.summary).toBe('503 not-repeatable after 1')
  })

  it('ends at the deadline with the last answer, or with our own', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.playsByPath({ '/failed': [reply(503, { afterMs: 400, body: 'failed' })] }, reply(503))
    const failed = stage.get('/failed', { headers: { 'forbear-timeout-ms': '5000' } })
    await stage.openBreaker()
    stage.pipeline.forceBreaker('api', 'open')
    const fresh = stage.post('/fresh', { headers: { 'forbear-timeout-ms': '5000' } })
    await stage.run(6000)
    expect(failed.summary).toBe('503 deadline after 1')
    expect(failed.text).toBe('failed')
    expect(fresh.summary).toBe('504 deadline after 0')
    stage.pipeline.forceBreaker('api', 'closed')
  })

  it('answers overloaded when the room is full', async () => {
    const stage = new Stage({ ...WAIT, limits: { maxWaiting: 3 } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    const calls = paths('w', 4).map(path => stage.post(path))
    expect(calls.map(call => call.summary)).toEqual(['waiting', 'waiting', 'waiting', '503 overloaded after 0'])
    await stage.finish()
  })

  it('answers a call with less than the 95th percentile left, without calling the upstream', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    stage.upstream.plays(reply(200, { afterMs: 500 }))
    for (let n = 0; n < 20; n++) stage.get(`/known-${n}`)
    await stage.run(1000)
    stage.upstream.plays(reply(503))
    for (let n = 0; stage.status().breaker.state === 'closed'; n++) {
      stage.get(`/down-${n}`, { headers: { 'forbear-max-attempts': '1' } })
      await stage.run(100)
    }
    const opened = stage.status().breaker.openForMs
    const late = stage.get('/late', { headers: { 'forbear-timeout-ms': String(Math.ceil(opened) + 300) } })
    const next = stage.get('/next')
    stage.upstream.plays(reply(200))
    await stage.run(opened + 100)
    expect(late.summary).toBe('503 breaker-open after 0')
    expect(next.summary).toBe('200 delivered after 1')
  })

  it('sends a newcomer as the probe when nobody else waits', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    await stage.run(5000)
    const call = stage.post('/newcomer')
    await stage.run(10)
    expect(call.summary).toBe('200 delivered after 1')
  })

  it('sends the next in line when the app of the probe left', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(hang(), reply(200))
    const [probe, next] = paths('w', 2).map(path => stage.post(path))
    await stage.run(800)
    probe?.hangUp()
    await stage.run(300)
    expect(next?.summary).toBe('200 delivered after 1')
  })

  it('is not wedged by a probe that is never answered', async () => {
    const stage = new Stage(WAIT)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(hang(), reply(200))
    const [probe, next] = paths('w', 2).map(path => stage.post(path))
    await stage.run(2500)
    expect(next?.summary).toBe('200 delivered after 1')
    probe?.hangUp()
  })
})
