import { describe, expect, it } from 'vitest'
import { type CallOptions, checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { fail, hang, type Play, reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const twenty = (call: (n: number) => unknown): void => {
  for (let n = 0; n < 20; n++) call(n)
}

/** The breaker is open; when this resolves its time is over. `sent` = attempts so far. */
async function halfOpen(stage: Stage): Promise<number> {
  stage.upstream.plays(reply(503))
  await stage.openBreaker()
  const sent = stage.upstream.sent.length
  await stage.run(1_000)
  expect(stage.status().breaker.state).toBe('half-open')
  return sent
}

describe('F049 a half-open breaker lets a flood through instead of one probe (opossum#819)', () => {
  it.each([
    ['GET', {}],
    ['POST', { bodyBytes: 100 }],
    ['GET', { headers: { 'idempotency-key': 'k' } }],
    ['PUT', { bodyBytes: 100, uploading: true }],
  ] as readonly [string, CallOptions][])(
    'of twenty %s at one tick one reaches the upstream, nineteen get 503 at once',
    async (method, options) => {
      const stage = new Stage()
      const sent = await halfOpen(stage)
      stage.upstream.plays(reply(200, { afterMs: 100 }))
      const calls = Array.from({ length: 20 }, (_, n) => stage.call(method, `/${n}`, options))
      const refused = calls.filter(call => call.summary === '503 breaker-open after 0')
      expect(refused.length).toBe(19)
      for (const call of refused) expect(Number(call.header('retry-after'))).toBe(1)
      for (const call of calls) call.body?.end()
      await stage.run(200)
      expect(calls.filter(call => call.summary === '200 delivered after 1').length).toBe(1)
      expect(stage.upstream.sent.length - sent).toBe(1)
      expect(stage.status().breaker.state).toBe('closed')
    },
  )

  it('calls that come while the probe is out are refused, too', async () => {
    const stage = new Stage()
    const sent = await halfOpen(stage)
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    for (let n = 0; n < 10; n++) {
      stage.get(`/${n}`)
      await stage.run(9)
    }
    expect(stage.upstream.sent.length - sent).toBe(1)
  })

  it.each([
    ['503', reply(503)],
    ['429', reply(429)],
    ['reset', fail('reset')],
    ['connect', fail('connect')],
    ['bad-response', fail('bad-response')],
  ] as readonly [string, Play][])(
    'after a probe that ends in %s the next opening ends with one probe again',
    async (_name, play) => {
      const stage = new Stage()
      const sent = await halfOpen(stage)
      stage.upstream.plays(play)
      twenty(n => stage.get(`/a${n}`))
      await stage.run(50)
      expect([stage.upstream.sent.length - sent, stage.status().breaker.state]).toEqual([1, 'open'])
      await stage.run(2_000)
      twenty(n => stage.get(`/b${n}`))
      await stage.run(50)
      expect(stage.upstream.sent.length - sent).toBe(2)
    },
  )

  it('twenty that wait for the breaker send one probe, and the others only after its answer', async () => {
    const stage = new Stage({ breaker: { whenOpen: 'wait' } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const sent = stage.upstream.sent.length
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    twenty(n => stage.get(`/${n}`))
    await stage.run(840)
    expect(stage.upstream.sent.length - sent).toBe(1)
    await stage.finish()
    expect(stage.calls.slice(-20).every(call => call.summary === '200 delivered after 1')).toBe(true)
  })

  it('a probe whose app leaves hands its turn to exactly one other', async () => {
    const stage = new Stage()
    const sent = await halfOpen(stage)
    stage.upstream.plays(hang())
    const left = stage.get('/left')
    await stage.run(10)
    left.hangUp()
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    twenty(n => stage.get(`/${n}`))
    await stage.run(200)
    expect(stage.upstream.sent.length - sent).toBe(2)
  })

  it('handshakes of WebSockets count as one with the requests', async () => {
    const stage = new Stage()
    await halfOpen(stage)
    const decisions = Array.from({ length: 20 }, (_, n) => stage.handshake(`/${n}`))
    const probes = decisions.filter(decision => decision.proceed)
    expect([probes.length, stage.get('/x').summary]).toEqual([1, '503 breaker-open after 0'])
    for (const probe of probes) {
      probe.onOutcome({ kind: 'response', status: 101 })
      probe.onClosed({ toUpstream: 0, toApp: 0 })
    }
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('a route with a breaker of its own has a probe of its own', async () => {
    const own = { name: 'own', path: '/own', own: { breaker: true } }
    const stage = new Stage({}, { upstreams: [{ routes: [own] }] })
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 30; n++) {
      stage.get('/own', { headers: { 'forbear-max-attempts': '1' } })
      stage.get('/all', { headers: { 'forbear-max-attempts': '1' } })
      await stage.run(20)
    }
    await stage.run(1_000)
    const sent = stage.upstream.sent.length
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    twenty(n => stage.get(n % 2 === 0 ? '/own' : '/all'))
    await stage.run(50)
    expect(stage.upstream.paths.slice(sent).sort()).toEqual(['/all', '/own'])
  })
})
