import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const SCOPED = { retry: { retryAfter: { scope: 'upstream' } }, breaker: { mode: 'disabled' } } as const
const once = { headers: { 'forbear-max-attempts': '1' } }
const busy = (seconds: number) => reply(429, { headers: { 'Retry-After': String(seconds) } })

/** Three hinted answers close it for so many seconds from about now. */
async function closeGate(stage: Stage, seconds: number): Promise<void> {
  stage.upstream.plays(busy(seconds))
  for (let n = 0; n < 3; n++) stage.get(`/hinted-${n}`, once)
  await stage.run(10)
  expect(stage.status().gate.closed).toBe(true)
}

describe('the gate', () => {
  it('closes when three answers, half of those of the last second, carried a hint', async () => {
    const stage = new Stage(SCOPED)
    stage.upstream.plays(busy(2), busy(2), reply(200))
    for (let n = 0; n < 3; n++) stage.get(`/${n}`, once)
    await stage.run(10)
    expect(stage.status().gate.closed).toBe(false)
    stage.upstream.plays(busy(2))
    stage.get('/third', once)
    await stage.run(10)
    expect(stage.status().gate).toEqual({ closed: true, closedForMs: 2000 })
    expect(stage.of('gate-changed')).toMatchObject([{ to: 'closed', closedForMs: 2000 }])
  })

  it('does not close with scope: request', async () => {
    const stage = new Stage({ breaker: { mode: 'disabled' } })
    stage.upstream.plays(busy(2))
    for (let n = 0; n < 10; n++) stage.get(`/${n}`, once)
    await stage.run(10)
    expect(stage.status().gate.closed).toBe(false)
  })

  it('keeps every call waiting until its time, then lets one go first and the rest follow paced', async () => {
    const stage = new Stage(SCOPED)
    await closeGate(stage, 2)
    const before = stage.upstream.sent.length
    stage.upstream.plays(reply(200, { afterMs: 50 }))
    for (let n = 0; n < 10; n++) stage.post(`/${n}`)
    await stage.run(1999)
    expect(stage.upstream.sent).toHaveLength(before)
    await stage.run(1)
    expect(stage.upstream.paths.slice(before)).toEqual(['/0'])
    await stage.run(49)
    expect(stage.upstream.paths.slice(before)).toEqual(['/0'])
    await stage.finish()
    const times = stage.upstream.times.slice(before)
    expect(stage.upstream.paths.slice(before)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(n => `/${n}`))
    for (let n = 2; n < times.length; n++) expect((times[n] as number) - (times[n - 1] as number)).toBeGreaterThan(100)
    expect(stage.of('gate-changed').map(event => event.to)).toEqual(['closed', 'open'])
    expect(stage.calls.slice(3).every(call => call.summary === '200 delivered after 1')).toBe(true)
  })

  it('refuses at once with the time left what could not wait so long', async () => {
    const stage = new Stage(SCOPED)
    await closeGate(stage, 10)
    await stage.run(1500)
    const call = stage.get('/', { headers: { 'forbear-timeout-ms': '5000' } })
    expect(call.summary).toBe('503 gate-closed after 0')
    expect(call.header('retry-after')).toBe('9')
    await stage.run(9000)
  })

  it('closes anew when the call that went first is told to wait as well', async () => {
    const stage = new Stage(SCOPED)
    await closeGate(stage, 1)
    stage.upstream.plays(busy(3), reply(200))
    const first = stage.get('/first', once)
    const second = stage.get('/second')
    await stage.finish()
    expect(first.status).toBe(429)
    expect(second.summary).toBe('200 delivered after 1')
    expect(stage.upstream.times.slice(3)).toEqual([1010, 4020])
  })

  it('lets the next go first when the call that did so told nothing', async () => {
    for (const [play, atMs] of [
      [fail('connect', { afterMs: 30 }), 1040],
      [reply(503, { afterMs: 30 }), 1040],
    ] as const) {
      const stage = new Stage(SCOPED)
      await closeGate(stage, 1)
      stage.upstream.plays(play, reply(200))
      stage.get('/first', once)
      const second = stage.get('/second')
      await stage.finish()
      expect(second.summary).toBe('200 delivered after 1')
      expect(stage.upstream.times.slice(3)).toEqual([1010, atMs])
    }
  })

  it('does not keep the next waiting for the back-off of the first', async () => {
    for (const play of [fail('connect', { afterMs: 30 }), reply(503, { afterMs: 30 })]) {
      const stage = new Stage(SCOPED)
      await closeGate(stage, 1)
      stage.upstream.plays(play, reply(200))
      const first = stage.get('/first')
      const second = stage.get('/second')
      await stage.finish()
      expect([first.summary, second.summary]).toEqual(['200 delivered after 2', '200 delivered after 1'])
      expect(stage.upstream.times.slice(3)).toEqual([1010, 1040, 1240])
    }
  })

  it('lets the next go first when the app of the first left, on the wire or before', async () => {
    const stage = new Stage(SCOPED)
    await closeGate(stage, 1)
    stage.upstream.plays(hang(), reply(200))
    const [first, second, third] = ['/first', '/second', '/third'].map(path => stage.get(path))
    second?.hangUp()
    await stage.run(1500)
    first?.hangUp()
    await stage.run(20)
    expect(third?.summary).toBe('200 delivered after 1')
    expect(stage.status().gate.closed).toBe(false)
  })

  it('lets another go first after a second when the first is not answered', async () => {
    const stage = new Stage(SCOPED)
    await closeGate(stage, 1)
    stage.upstream.plays(hang(), reply(200))
    const silent = stage.get('/silent')
    await stage.run(1000)
    expect(stage.upstream.paths.at(-1)).toBe('/silent')
    await stage.run(1000)
    const newcomer = stage.get('/newcomer')
    await stage.run(20)
    expect(newcomer.summary).toBe('200 delivered after 1')
    silent.hangUp()
    expect(stage.of('gate-changed').map(event => event.to)).toEqual(['closed', 'open'])
  })

  it('does not keep those in line waiting for a first call that is not answered', async () => {
    const stage = new Stage(SCOPED)
    await closeGate(stage, 1)
    stage.upstream.plays(hang(), reply(200))
    const silent = stage.get('/silent')
    const inLine = stage.get('/in-line')
    await stage.run(2100)
    expect(inLine.summary).toBe('200 delivered after 1')
    silent.hangUp()
  })

  it('asks the next in line when the first of them has too little time left', async () => {
    const stage = new Stage(SCOPED)
    stage.upstream.plays(reply(200, { afterMs: 800 }))
    for (let n = 0; n < 3; n++) stage.get(`/known-${n}`)
    await stage.run(2000)
    await closeGate(stage, 2)
    const late = stage.get('/late', { headers: { 'forbear-timeout-ms': '2100' } })
    const next = stage.get('/next')
    stage.upstream.plays(reply(200))
    await stage.run(2100)
    expect(late.summary).toBe('503 gate-closed after 0')
    expect(next.summary).toBe('200 delivered after 1')
  })

  it('closes for the cap after a longer hint, which is passed on, and opens with one call', async () => {
    const stage = new Stage({ ...SCOPED, retry: { retryAfter: { scope: 'upstream', capMs: 5000 } } })
    stage.upstream.plays(busy(86_400))
    const told = stage.get('/told')
    await stage.run(10)
    expect(told.summary).toBe('429 retry-after-too-long after 1')
    expect(stage.status().gate).toEqual({ closed: true, closedForMs: 5000 })
    stage.upstream.plays(reply(200))
    const calls = ['/1', '/2'].map(path => stage.get(path))
    await stage.finish()
    expect(calls.map(call => call.status)).toEqual([200, 200])
    expect(stage.upstream.times[1]).toBe(5010)
  })

  it('holds a back-off that wakes while it is closed', async () => {
    const stage = new Stage(SCOPED)
    stage.upstream.playsByPath({ '/retry': [reply(503), reply(200)] }, busy(2))
    const retry = stage.get('/retry')
    await stage.run(100)
    for (let n = 0; n < 3; n++) stage.get(`/hinted-${n}`, once)
    await stage.finish()
    expect(retry.summary).toBe('200 delivered after 2')
    expect(stage.upstream.times.at(-1)).toBe(2110)
  })

  it('bounds its line by maxWaiting', async () => {
    const stage = new Stage({ ...SCOPED, limits: { maxWaiting: 2 } })
    await closeGate(stage, 2)
    stage.upstream.plays(reply(200))
    const calls = [1, 2, 3].map(n => stage.get(`/${n}`))
    expect(calls.map(call => call.summary)).toEqual(['waiting', 'waiting', '503 overloaded after 0'])
    await stage.finish()
  })

  it('lets the first call go although every slot is taken by answers that go on', async () => {
    const stage = new Stage({ ...SCOPED, limits: { maxInFlight: 1 } })
    stage.upstream.plays(busy(2))
    for (let n = 0; n < 3; n++) stage.get(`/hinted-${n}`, once)
    await stage.run(40)
    expect(stage.status().gate.closed).toBe(true)
    stage.upstream.plays(reply(200, { bodyMs: 5000 }), reply(200))
    const first = stage.get('/first')
    const second = stage.get('/second')
    await stage.finish()
    expect([first.status, second.status]).toEqual([200, 200])
  })
})

describe('a closed gate before an open breaker', () => {
  it('lets the first in line go when both have opened, and the others in their order', async () => {
    const stage = new Stage({ ...SCOPED, breaker: { mode: 'enforce', whenOpen: 'wait' } })
    await closeGate(stage, 2)
    stage.upstream.plays(reply(200))
    const calls = ['/1', '/2', '/3'].map(path => stage.get(path))
    stage.pipeline.forceBreaker('api', 'open')
    await stage.run(3000)
    expect(stage.upstream.sent).toHaveLength(3)
    stage.pipeline.forceBreaker('api', 'closed')
    await stage.run(2000)
    expect(calls.map(call => call.status)).toEqual([200, 200, 200])
    expect(stage.upstream.paths.slice(3)).toEqual(['/1', '/2', '/3'])
  })

  it('answers all of a long line without choking on its length', async () => {
    const stage = new Stage({
      ...SCOPED,
      breaker: { mode: 'enforce', whenOpen: 'wait' },
      limits: { maxWaiting: 20_000 },
    })
    await closeGate(stage, 2)
    for (let n = 0; n < 10_000; n++) stage.get(`/${n}`)
    stage.pipeline.forceBreaker('api', 'open')
    await stage.run(3000)
    stage.pipeline.drain()
    expect(stage.calls.slice(3).every(call => call.outcome === 'draining')).toBe(true)
    stage.pipeline.forceBreaker('api', 'closed')
  })

  it('refuses a line that may not wait for the breaker, one after the other', async () => {
    const stage = new Stage({ ...SCOPED, breaker: { mode: 'enforce' }, limits: { maxWaiting: 20_000 } })
    await closeGate(stage, 2)
    for (let n = 0; n < 10_000; n++) stage.get(`/${n}`)
    stage.pipeline.forceBreaker('api', 'open')
    await stage.run(3000)
    expect(stage.calls.slice(3).every(call => call.outcome === 'breaker-open')).toBe(true)
    stage.pipeline.forceBreaker('api', 'closed')
  })
})
