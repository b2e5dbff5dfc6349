import { describe, expect, it } from 'vitest'
import { calls, FILE } from '../e2e/harness/counted-policy.js'
import { toYaml, upstreamDoc } from '../e2e/harness/policies.js'
import { test } from '../e2e/harness/stage.js'
import { until } from '../e2e/harness/time.js'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

describe('F086: a request in its back-off during a reload', () => {
  /** The first of three attempts has failed, the second is due at 210 ms. */
  async function backingOff() {
    const stage = new Stage({ retry: { maxAttempts: 3 }, timeouts: { totalMs: 5000, attemptMs: 700 } })
    stage.upstream.playsByPath({ '/old': [reply(503, { body: 'held' }), reply(503), reply(200)] })
    const call = stage.get('/old')
    await stage.run(100)
    return { stage, call }
  }

  it('of one that allows no retry makes none', async () => {
    const { stage, call } = await backingOff()
    stage.apply([{ policy: { retry: { maxAttempts: 1 } } }])
    await stage.finish()
    expect([call.summary, call.text, stage.finishedOf(call).generation]).toEqual([
      '503 retries-exhausted after 1',
      'held',
      1,
    ])
  })

  it('of one with another target, timeouts and back-off is served as it began, a new one as they say now', async () => {
    const { stage, call } = await backingOff()
    const policy = { timeouts: { totalMs: 150, attemptMs: 150 }, retry: { backoff: { baseMs: 3000 } } }
    stage.apply([{ host: 'elsewhere.example.com', policy }])
    const young = stage.get('/young')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 3')
    const sentOf = (path: string) => stage.upstream.sent.filter(({ call: { sentPath } }) => sentPath === path)
    expect(sentOf('/old').map(({ atMs }) => atMs)).toEqual([0, 210, 620])
    expect(new Set(sentOf('/old').map(({ request }) => request.upstream.target.hostname))).toEqual(
      new Set(['api.example.com']),
    )
    expect(sentOf('/young')[0]?.request.upstream.target.hostname).toBe('elsewhere.example.com')
    expect([stage.finishedOf(call).generation, stage.finishedOf(young).generation]).toEqual([1, 2])
  })

  it('of one that removes its upstream gets what there is, and nothing is left of the upstream', async () => {
    const { stage, call } = await backingOff()
    stage.apply([])
    await stage.finish()
    expect([call.summary, call.text]).toEqual(['503 retries-exhausted after 1', 'held'])
    expect([stage.pipeline.statuses(), stage.clock.pendingTimers]).toEqual([[], 0])
  })

  it('takes nothing from an upstream that was not edited: its open breaker and its budget stay', async () => {
    const stage = new Stage({}, { upstreams: [{}, { name: 'other' }] })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const { balance } = stage
    stage.apply([{}, { name: 'other', host: 'elsewhere.example.com' }])
    stage.apply([{}])
    expect([stage.status().breaker.state, stage.balance]).toEqual(['open', balance])
  })

  it('leaves no timer behind when what is removed had an open breaker and a closed gate', async () => {
    const stage = new Stage({ retry: { retryAfter: { scope: 'upstream' } } })
    // All are on their way before the first answer closes the gate.
    stage.upstream.plays(reply(503, { afterMs: 500, headers: { 'Retry-After': '20' } }))
    for (let n = 0; n < 15; n++) {
      stage.get(`/${n}`, { headers: { 'forbear-max-attempts': '1' } })
      await stage.run(20)
    }
    await stage.run(500)
    expect(stage.status()).toMatchObject({ breaker: { state: 'open' }, gate: { closed: true } })
    stage.apply([])
    expect(stage.clock.pendingTimers).toBe(0)
  })
})

test('F086: over real sockets, no request mixes two policies', { timeout: 60_000 }, async ({ stage }) => {
  const old = (await stage.upstream()).plays({ status: 503, body: 'old' }, { status: 200, body: 'old' })
  const fresh = (await stage.upstream()).plays({ body: 'new' })
  const backoff = { kind: 'fixed', base: '2s', jitter: 'none' }
  const dir = await stage.policyDir({ [FILE]: calls(old.url, 3, { retry: { maxAttempts: 3, backoff } }) })
  const sidecar = await stage.sidecar(dir)
  const waiting = sidecar.call('/payments/old')
  await until('the first attempt', () => old.hits === 1)
  await dir.write(FILE, calls(fresh.url, 2, { match: { pathPrefix: '/payments' }, hostHeader: 'preserve' }))
  await sidecar.admin('/reload', { method: 'POST' })
  expect((await sidecar.call('/payments/young')).text).toBe('new')
  const answer = await waiting
  expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, 'old', '2'])
  expect(old.nth(2).headers.host).toBe(`127.0.0.1:${old.port}`)
  expect(await sidecar.accessLine('/payments/old')).toMatchObject({ generation: 1, status: 200 })
  expect(await sidecar.accessLine('/payments/young')).toMatchObject({ generation: 2 })
  await dir.write(FILE, toYaml(upstreamDoc('ledger', fresh.url)))
  await sidecar.admin('/reload', { method: 'POST' })
  expect((await sidecar.call('/payments/x')).status).toBe(404)
})
