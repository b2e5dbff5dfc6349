import { describe, expect, it } from 'vitest'
import type { UpstreamPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }
const busy = reply(429, { headers: { 'Retry-After': '10' } })
const moved: UpstreamPart = { host: 'elsewhere.example.com' }

describe('a changed target', () => {
  it('closes the breaker and forgets the latency, but keeps the budget', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200))
    for (let n = 0; n < 50; n++) stage.get(`/${n}`)
    await stage.run(200)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const balance = stage.balance
    stage.apply([moved])
    expect(stage.status()).toMatchObject({ breaker: { state: 'closed' }, latencyMs: { p95: null } })
    expect(stage.balance).toBeCloseTo(balance)
    stage.upstream.plays(reply(200))
    const call = stage.get('/new')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    expect(stage.upstream.sent.at(-1)?.request.upstream.target.hostname).toBe('elsewhere.example.com')
  })

  it('opens the gate, and answers those in line: what they wait for will never come', async () => {
    const policy = { retry: { retryAfter: { scope: 'upstream' } }, breaker: { mode: 'disabled' } } as const
    const stage = new Stage(policy)
    stage.upstream.plays(busy, busy, busy, reply(200))
    for (let n = 0; n < 3; n++) stage.get(`/${n}`, once)
    await stage.run(10)
    const waits = ['/w1', '/w2'].map(path => stage.get(path))
    stage.apply([{ ...moved, policy }])
    expect(stage.status().gate.closed).toBe(false)
    expect(waits.map(call => call.summary)).toEqual(Array(2).fill('503 gate-closed after 0'))
  })

  it('answers those who rode the outage of the old one out, and sends it none of them', async () => {
    const policy = { breaker: { whenOpen: 'wait' } } as const
    const stage = new Stage(policy)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    const waits = ['/w1', '/w2'].map(path => stage.post(path))
    stage.apply([{ ...moved, policy }])
    const sent = stage.upstream.sent.length
    await stage.run(100)
    expect(waits.map(call => call.summary)).toEqual(Array(2).fill('503 breaker-open after 0'))
    expect(stage.upstream.sent.length).toBe(sent)
  })

  it('is not judged by what comes back from the old one', async () => {
    const stage = new Stage({ breaker: { consecutiveFailures: 2 } })
    stage.upstream.plays(reply(503, { afterMs: 500 }))
    for (let n = 0; n < 3; n++) {
      stage.get(`/${n}`, once)
      await stage.run(100)
    }
    stage.apply([{ ...moved, policy: { breaker: { consecutiveFailures: 2 } } }])
    await stage.run(1000)
    expect(stage.status().breaker).toMatchObject({ state: 'closed', failuresInARow: 0 })
  })

  it('closes no gate by what comes back from the old one', async () => {
    const policy = { retry: { retryAfter: { scope: 'upstream' } }, breaker: { mode: 'disabled' } } as const
    const stage = new Stage(policy)
    stage.upstream.plays(reply(429, { afterMs: 500, headers: { 'Retry-After': '10' } }))
    for (let n = 0; n < 3; n++) stage.get(`/${n}`, once)
    await stage.run(100)
    stage.apply([{ ...moved, policy }])
    await stage.run(1000)
    expect(stage.of('gate-changed')).toEqual([])
  })

  it('leaves nobody behind in the queue of a route', async () => {
    const routes = [{ name: 'r', path: '/r', policy: { limits: { maxInFlight: 1 } }, own: { limits: true } }]
    const stage = new Stage({}, { upstreams: [{ routes }] })
    stage.upstream.plays(reply(200, { afterMs: 1000 }))
    const first = stage.get('/r')
    const second = stage.get('/r')
    await stage.run(100)
    stage.apply([{ ...moved, routes }])
    await stage.run(2000)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(stage.upstream.times).toEqual([0, 1000])
  })
})

describe('a removed upstream', () => {
  it('is known no more, while its requests drain', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { afterMs: 1000 }))
    const old = stage.get('/old')
    await stage.run(100)
    stage.apply([])
    expect(stage.pipeline.statuses()).toEqual([])
    expect(stage.get('/new').summary).toBe('404 no-route after 0')
    await stage.finish()
    expect(old.summary).toBe('200 delivered after 1')
  })

  it('keeps nobody waiting for its breaker or gate', async () => {
    const policy = { breaker: { whenOpen: 'wait' } } as const
    const stage = new Stage(policy)
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(fail('connect'))
    const waits = stage.get('/waits', { headers: { 'forbear-timeout-ms': '20000' } })
    stage.apply([])
    await stage.run(1000)
    expect(waits.summary).toBe('503 breaker-open after 0')
  })

  it('is kept while its document is invalid, and its calls are told', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply([], ['api'])
    expect(stage.get('/new').summary).toBe('503 no-policy after 0')
    stage.apply([{}])
    expect(stage.status().breaker.state).toBe('open')
  })

  it('begins anew when it comes back', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.apply([])
    stage.apply([{}])
    expect(stage.status().breaker.state).toBe('closed')
  })
})

describe('the instances of a route', () => {
  const own = (name: string, keys: readonly ('breaker' | 'limits' | 'budget')[], policy = {}) => ({
    name,
    path: `/${name}`,
    policy,
    own: Object.fromEntries(keys.map(key => [key, true])),
  })

  it('survive an edit elsewhere', async () => {
    const routes = [own('r', ['breaker'])]
    const stage = new Stage({}, { upstreams: [{ routes }] })
    stage.upstream.plays(reply(503))
    for (let n = 0; stage.status('r').breaker.state === 'closed' && n < 50; n++) {
      stage.get('/r', once)
      await stage.run(20)
    }
    stage.apply([{ routes, policy: { retry: { maxAttempts: 2 } } }])
    expect(stage.status('r').breaker.state).toBe('open')
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('are dropped with what the route no longer writes, and leave nobody behind in their queue', async () => {
    const limits = { limits: { maxInFlight: 1 } }
    const stage = new Stage({}, { upstreams: [{ routes: [own('r', ['limits'], limits)] }] })
    stage.upstream.plays(reply(200, { afterMs: 1000 }))
    const first = stage.get('/r')
    const second = stage.get('/r')
    await stage.run(100)
    stage.apply([{ routes: [own('r', [])] }])
    await stage.run(2000)
    expect([first.status, second.status]).toEqual([200, 200])
  })

  it('that are dropped serve a retry that comes to queue there later', async () => {
    const limits = { limits: { maxInFlight: 1 } }
    const stage = new Stage({}, { upstreams: [{ maxConnections: 1, routes: [own('r', ['limits'], limits)] }] })
    stage.upstream.playsByPath({ '/r': [reply(503), reply(200)] }, reply(200, { bodyMs: 2000 }))
    const retry = stage.get('/r')
    await stage.run(50)
    stage.apply([{ maxConnections: 1, routes: [own('r', [])] }])
    stage.get('/hog')
    await stage.run(3000)
    expect(retry.summary).toBe('200 delivered after 2')
  })

  it('dropped with the breaker of a route keep nobody waiting for it', async () => {
    const wait = { breaker: { whenOpen: 'wait' } } as const
    const stage = new Stage({}, { upstreams: [{ routes: [own('r', ['breaker'], wait)] }] })
    stage.upstream.plays(reply(503))
    for (let n = 0; stage.status('r').breaker.state === 'closed' && n < 50; n++) {
      stage.get('/r', once)
      await stage.run(20)
    }
    stage.upstream.plays(reply(200))
    const waits = stage.post('/r')
    expect(waits.summary).toBe('waiting')
    stage.apply([{ routes: [own('r', [])] }])
    await stage.run(100)
    expect(waits.summary).toBe('503 breaker-open after 0')
  })

  it('carry their own latency only with their own breaker', async () => {
    const stage = new Stage({}, { upstreams: [{ routes: [own('a', ['breaker']), own('b', ['budget'])] }] })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    for (const path of ['/a', '/b', '/other']) stage.get(path)
    await stage.finish()
    const known = (route: string | null) => stage.status(route).latencyMs.p50 !== null
    expect([known('a'), known('b'), known(null)]).toEqual([true, true, true])
    stage.apply([{ ...moved, routes: [own('a', ['breaker']), own('b', ['budget'])] }])
    expect([known('a'), known('b'), known(null)]).toEqual([false, false, false])
  })
})
