import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }

describe('what feeds the breaker', () => {
  const eager = { breaker: { consecutiveFailures: 2, minRequests: 1000 } }

  it.each([
    ['502', reply(502)],
    ['503', reply(503)],
    ['504', reply(504)],
    ['connect', fail('connect')],
    ['reset', fail('reset')],
    ['a bad response', fail('bad-response')],
    ['a cut', reply(200, { cut: true, bodyMs: 1 })],
  ] as const)('%s is a failure', async (_name, play) => {
    const stage = new Stage(eager)
    stage.upstream.plays(play)
    stage.get('/1', once)
    await stage.run(200)
    stage.get('/2', once)
    await stage.run(200)
    // A cut comes after a good head, which ended the run.
    expect(stage.status().breaker.failuresInARow).toBe(_name === 'a cut' ? 1 : 2)
  })

  it.each([
    ['an upload that broke off', fail('reset', { byApp: true })],
    ['an app that stopped reading', reply(200, { cut: true, byApp: true, bodyMs: 1 })],
  ] as const)('%s is not', async (_name, play) => {
    const stage = new Stage(eager)
    stage.upstream.plays(play)
    for (const path of ['/1', '/2', '/3']) {
      stage.get(path, once)
      await stage.run(200)
    }
    expect([stage.status().breaker.failuresInARow, stage.transitions]).toEqual([0, []])
  })

  it.each([404, 429, 301, 200])('%i is proof of life', async status => {
    const stage = new Stage(eager)
    stage.upstream.plays(reply(503), reply(status), reply(503))
    for (const path of ['/1', '/2', '/3']) {
      stage.get(path, once)
      await stage.run(200)
    }
    expect(stage.status().breaker.failuresInARow).toBe(1)
  })

  it('90 % of 404s open nothing', async () => {
    const stage = new Stage()
    stage.upstream.decides(n => reply(n % 10 === 0 ? 200 : 404))
    for (let n = 0; n < 200; n++) {
      stage.get(`/${n}`)
      await stage.run(20)
    }
    expect(stage.transitions).toEqual([])
  })

  it('retries feed the run of failures, but not the ratio', async () => {
    const stage = new Stage({ breaker: { consecutiveFailures: 0, minRequests: 4, failureRatio: 0.5 } })
    const bad = [reply(503), reply(503), reply(503), reply(503), reply(503)] as const
    stage.upstream.playsByPath({ '/bad': bad }, reply(200))
    for (let n = 0; n < 3; n++) stage.get(`/good-${n}`)
    stage.get('/bad')
    await stage.finish()
    expect(stage.transitions).toEqual([])
    expect(stage.upstream.paths.filter(path => path === '/bad')).toHaveLength(5)
  })

  it('a burst within one millisecond does not open it', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 50; n++) stage.get(`/${n}`, once)
    await stage.run(20)
    expect(stage.transitions).toEqual([])
    stage.get('/later', once)
    await stage.run(200)
    expect(stage.transitions).toEqual([])
    stage.get('/long-after', once)
    await stage.run(10)
    expect(stage.transitions[0]).toBe('open: consecutive-failures')
  })
})

describe('the modes of the breaker', () => {
  it('observe counts and reports without refusing, so that the budget is what stops retries', async () => {
    const stage = new Stage({ breaker: { mode: 'observe' } })
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 40; n++) {
      stage.get(`/${n}`)
      await stage.run(20)
    }
    await stage.finish()
    expect(stage.of('breaker-changed')[0]).toMatchObject({ to: 'open', observeOnly: true })
    expect(stage.calls.map(call => call.outcome)).not.toContain('breaker-open')
    expect(stage.denials).toContain('budget-exhausted')
  })

  it('disabled neither counts nor reports', async () => {
    const stage = new Stage({ breaker: { mode: 'disabled' } })
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 40; n++) {
      stage.get(`/${n}`, once)
      await stage.run(20)
    }
    expect(stage.transitions).toEqual([])
  })

  it('an operator holds it open or closed, and gives it back', async () => {
    const stage = new Stage()
    expect(stage.pipeline.forceBreaker('nobody', 'open')).toBe(false)
    expect(stage.pipeline.forceBreaker('api', 'open')).toBe(true)
    expect(stage.get('/held-open').summary).toBe('503 breaker-open after 0')
    stage.pipeline.forceBreaker('api', 'closed')
    const call = stage.get('/held-closed')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    stage.pipeline.forceBreaker('api', 'auto')
  })
})

describe('the breaker of a route', () => {
  it('is its own where the route writes one: the rest of the upstream stays open for calls', async () => {
    const routes = [{ name: 'sick', path: '/sick', own: { breaker: true } }]
    const stage = new Stage({}, { upstreams: [{ routes }] })
    stage.upstream.playsByPath({ '/sick': [reply(503)] })
    for (let n = 0; n < 12; n++) {
      stage.get('/sick', once)
      await stage.run(20)
    }
    expect(stage.status('sick').breaker.state).toBe('open')
    expect(stage.status().breaker.state).toBe('closed')
    expect(stage.of('breaker-changed')[0]).toMatchObject({ route: 'sick', to: 'open' })
    const well = stage.get('/well')
    expect(stage.get('/sick').summary).toBe('503 breaker-open after 0')
    await stage.finish()
    expect(well.summary).toBe('200 delivered after 1')
  })
})
