import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const secure = { name: 'api', host: 'api.example.com', https: true, hosts: ['api.internal'] }

describe('a CONNECT', () => {
  it.each(['api.example.com:443', 'api.example.com.:443', 'api.internal:443', 'api.internal:8443'])(
    'to %s reaches the upstream that has it as target or in match.hosts',
    async authority => {
      const stage = new Stage({}, { upstreams: [secure] })
      const call = stage.tunnel(authority)
      await stage.run(10)
      expect(call.summary).toBe('200 delivered after 1')
      expect(stage.upstream.sent.map(sent => sent.request.upstream.name)).toEqual(['api'])
      expect(stage.finishedOf(call)).toMatchObject({ upstream: 'api', method: 'CONNECT', path: authority, status: 200 })
    },
  )

  it.each(['api.example.com:8443', 'example.com:443', 'api:443', '127.0.0.1:443'])(
    'to %s, which nobody declared, is a 404 that says what to do, and nothing is sent',
    async authority => {
      const stage = new Stage({}, { upstreams: [secure] })
      const call = stage.tunnel(authority)
      expect(call.summary).toBe('404 no-route after 0')
      expect(JSON.parse(call.text).detail).toContain(`${authority} as its target or its host in match.hosts; NO_PROXY`)
      expect(stage.upstream.sent).toEqual([])
      expect(stage.finishedOf(call)).toMatchObject({ upstream: null, method: 'CONNECT', outcome: 'no-route' })
      await stage.run(0)
    },
  )

  it('for plain HTTP to an https target is refused with a reason', () => {
    const stage = new Stage({}, { upstreams: [secure] })
    const call = stage.tunnel('api.internal:80')
    expect(call.summary).toBe('400 bad-request after 0')
    expect(JSON.parse(call.text).detail).toContain('without CONNECT')
  })

  it('that came by here too often is 508', () => {
    const stage = new Stage({}, { upstreams: [secure] })
    expect(stage.tunnel('api.internal:443', { Via: '1.1 forbear-test, 1.1 forbear-test' }).summary).toBe(
      '508 loop after 0',
    )
  })

  it('among upstreams with one target goes to the one without a base path', async () => {
    const base = { host: 'api.example.com', https: true }
    const upstreams = [
      { ...base, name: 'v1', basePath: '/v1' },
      { ...base, name: 'all' },
    ]
    const stage = new Stage({}, { upstreams })
    stage.tunnel('api.example.com:443')
    await stage.run(10)
    expect(stage.upstream.sent[0]?.request.upstream.name).toBe('all')
  })

  it.each(['', '/v1'])(
    'among upstreams with one target and the base path %j goes to the first declared',
    async basePath => {
      const base = { host: 'api.example.com', https: true, basePath }
      const upstreams = ['first', 'second', 'third'].map(name => ({ ...base, name }))
      const stage = new Stage({}, { upstreams })
      stage.tunnel('api.example.com:443')
      await stage.run(10)
      expect(stage.upstream.sent[0]?.request.upstream.name).toBe('first')
    },
  )

  it('that fails to connect is repeated by the ordinary rules, though it is not idempotent', async () => {
    const stage = new Stage({}, { upstreams: [secure] })
    stage.upstream.plays(fail('connect'), fail('connect'), reply(200))
    const call = stage.tunnel('api.internal:443')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 3')
    expect(stage.upstream.times).toEqual([0, 205, 610])
    expect(stage.of('retry-scheduled').map(event => [event.method, event.reason, event.delayMs])).toEqual([
      ['CONNECT', 'connect', 200],
      ['CONNECT', 'connect', 400],
    ])
  })

  it('is not repeated without connect in retryOn, nor beyond the budget', async () => {
    const none = { connect: false, reset: true, timeout: true, statuses: new Set<number>() }
    const never = new Stage({}, { upstreams: [{ ...secure, policy: { retry: { retryOn: none } } }] })
    never.upstream.plays(fail('connect'))
    const first = never.tunnel('api.internal:443')
    await never.finish()
    expect(first.summary).toBe('502 connect after 1')
    const poor = new Stage({}, { upstreams: [{ ...secure, policy: { budget: { ratio: 0, minPerSecond: 0 } } }] })
    poor.upstream.plays(fail('connect'))
    const second = poor.tunnel('api.internal:443')
    await poor.finish()
    expect(second.summary).toBe('502 connect after 1')
    expect(poor.denials).toEqual(['budget-exhausted'])
  })

  it('that does not stand at the deadline is 504', async () => {
    const stage = new Stage({}, { upstreams: [{ ...secure, policy: { timeouts: { totalMs: 2000 } } }] })
    stage.upstream.plays(hang())
    const call = stage.tunnel('api.internal:443', { 'forbear-timeout-ms': '500' })
    await stage.run(500)
    expect(call.summary).toBe('504 deadline after 1')
  })

  it('opens the breaker by its failures, is refused by it, and closes it by its success', async () => {
    const stage = new Stage({}, { upstreams: [secure] })
    stage.upstream.plays(fail('connect'))
    for (let n = 0; n < 20; n++) {
      stage.tunnel('api.internal:443', { 'forbear-max-attempts': '1' })
      await stage.run(20)
    }
    expect(stage.status().breaker.state).toBe('open')
    const refused = stage.tunnel('api.internal:443')
    expect(refused.summary).toBe('503 breaker-open after 0')
    expect(refused.header('retry-after')).toBe('1')
    stage.upstream.plays(reply(200))
    await stage.run(1000)
    stage.tunnel('api.internal:443')
    await stage.run(10)
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('waits for a slot while others connect, and gives its own back as soon as it stands', async () => {
    const stage = new Stage({}, { upstreams: [{ ...secure, policy: { limits: { maxInFlight: 1 } } }] })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    const first = stage.tunnel('api.internal:443')
    const second = stage.tunnel('api.internal:443')
    expect([stage.status().inFlight, stage.status().waiting]).toEqual([1, 1])
    await stage.run(100)
    expect([first.status, second.status, stage.status().inFlight]).toEqual([200, null, 1])
    await stage.run(100)
    expect([second.status, stage.status().inFlight]).toEqual([200, 0])
  })

  it('tells the latencies nothing: how fast it connects is not how fast it answers', async () => {
    const stage = new Stage({}, { upstreams: [secure] })
    stage.tunnel('api.internal:443')
    await stage.run(10)
    expect(stage.status().latencyMs.p50).toBeNull()
  })

  it('whose app leaves while it connects or waits counts against nobody', async () => {
    const stage = new Stage({}, { upstreams: [secure] })
    stage.upstream.plays(hang())
    const call = stage.tunnel('api.internal:443')
    await stage.run(5)
    call.hangUp()
    expect(stage.finishedOf(call)).toMatchObject({ status: 499, outcome: 'aborted' })
    expect(stage.status().breaker.failuresInARow).toBe(0)
    expect(stage.upstream.open).toBe(0)
  })
})

describe('with unmatched hosts let through, a CONNECT', () => {
  it('to one goes there once, under the name _unmatched', async () => {
    const stage = new Stage({}, { upstreams: [secure], unmatched: 'tunnel' })
    const good = stage.tunnel('[2001:db8::1]:8443')
    await stage.run(10)
    stage.upstream.plays(fail('connect'))
    const bad = stage.tunnel('example.com:443')
    await stage.finish()
    expect([good.summary, bad.summary]).toEqual(['200 delivered after 1', '502 connect after 1'])
    expect(stage.upstream.sent.map(({ request }) => request.upstream.target)).toMatchObject([
      { hostname: '2001:db8::1', port: 8443 },
      { hostname: 'example.com', port: 443 },
    ])
    for (const call of [good, bad]) expect(stage.finishedOf(call).upstream).toBe('_unmatched')
    expect(stage.pipeline.statuses().map(status => status.name)).toEqual(['api'])
  })

  it('has no breaker to open', async () => {
    const stage = new Stage({}, { upstreams: [secure], unmatched: 'tunnel' })
    stage.upstream.plays(fail('connect'))
    for (let n = 0; n < 50; n++) {
      stage.tunnel(`host-${n}.example:443`)
      await stage.run(20)
    }
    stage.upstream.plays(reply(200))
    const call = stage.tunnel('example.com:443')
    await stage.run(10)
    expect(call.status).toBe(200)
  })

  it('to a forbidden address is 404 and says why, without an attempt', async () => {
    const stage = new Stage({}, { upstreams: [secure], unmatched: 'tunnel' })
    stage.upstream.plays(fail('connect', { refused: 'it is link-local' }))
    const call = stage.tunnel('169.254.169.254:80')
    await stage.finish()
    expect(call.summary).toBe('404 no-route after 0')
    expect(JSON.parse(call.text)).toMatchObject({ detail: 'it is link-local.', upstream: '_unmatched', attempts: 0 })
    expect(stage.finishedOf(call)).toMatchObject({ attempts: 0, outcome: 'no-route' })
    expect(stage.of('attempt-finished')).toEqual([])
    expect(stage.denials).toEqual([])
  })

  it('survives a reload', async () => {
    const stage = new Stage({}, { upstreams: [secure], unmatched: 'tunnel' })
    stage.apply([{ name: 'other' }])
    const call = stage.tunnel('api.internal:443')
    await stage.run(10)
    expect(stage.finishedOf(call)).toMatchObject({ status: 200, upstream: '_unmatched' })
  })
})
