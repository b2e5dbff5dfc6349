import { Agent } from 'node:http'
import { describe, expect } from 'vitest'
import { type Answer, call } from '../e2e/harness/client.js'
import { failures, openLoop } from '../e2e/harness/load.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import { freePort } from '../e2e/harness/ports.js'
import { test } from '../e2e/harness/stage.js'
import { nowMs, sleep, until } from '../e2e/harness/time.js'

describe.concurrent('F124 the proxy leaves on SIGTERM before the app is done, whose last calls are refused (istio#7136)', () => {
  test('an app that goes on with a call each 100 ms is served to its last, on new and kept connections and on every port', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).runs(({ received }) =>
      received.url === '/fails-once' && received.headers['forbear-attempt'] === '1'
        ? { status: 503 }
        : { body: 'fine' },
    )
    const own = await freePort()
    const spec = { retry: quickRetry(), budget: ample, breaker: { mode: 'disabled' } }
    const sidecar = await stage.sidecar([
      upstreamDoc('u', upstream.url, spec),
      upstreamDoc('own', upstream.url, { ...spec, listen: `127.0.0.1:${own}` }),
    ])
    const agent = new Agent({ keepAlive: true, maxSockets: 2 })
    stage.later(async () => agent.destroy())
    sidecar.signal('SIGTERM')
    const ways: (() => Promise<Answer>)[] = [
      () => sidecar.call('/u/x'),
      () => sidecar.call('/u/x', { agent }),
      () => sidecar.call('/u/x', { method: 'POST', body: 'deregister' }),
      () => sidecar.call('/u/fails-once'),
      () => call(own, '/x'),
    ]
    const send = (n: number): Promise<Answer> => ways[n % ways.length]?.() ?? Promise.reject(new Error('no way'))
    const shots = await openLoop({ perSecond: 20, forMs: 4_000, send })
    expect(failures(shots)).toEqual({})
    expect(shots.length).toBe(80)
    expect((await sidecar.exitWithin(15_000)).code).toBe(0)
  })

  test('readiness is red meanwhile, the process alive, and what it does is at the admin port', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ instead: 'hang' })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)], ['--drain-period', '1s'])
    const hanging = sidecar.call('/u/x')
    await until('the upstream is called', () => upstream.hits === 1)
    sidecar.signal('SIGTERM')
    await until('readiness is red', async () => (await sidecar.health('/readyz')) === 503)
    expect(await sidecar.health('/livez')).toBe(200)
    expect((await sidecar.upstreamStatus('u')).inFlight).toBe(1)
    expect((await hanging).status).toBe(503)
  })

  test('the app may say that it is done, so that nobody waits', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const [told, waits] = await Promise.all([0, 1].map(() => stage.sidecar([upstreamDoc('u', upstream.url)])))
    if (told === undefined || waits === undefined) throw new Error('no sidecar')
    expect((await told.call('/u/x')).status).toBe(200)
    const toldMs = nowMs()
    await told.admin('/quitquitquit', { method: 'POST' })
    const quit = await told.exitWithin(15_000)
    const signalledMs = nowMs()
    waits.signal('SIGTERM')
    const ended = await waits.exitWithin(15_000)
    expect([quit.code, ended.code]).toEqual([0, 0])
    // The other waits for two seconds of quiet.
    expect(quit.atMs - toldMs).toBeLessThan(ended.atMs - signalledMs)
  })

  test('a call that comes just before the two seconds of quiet are over is served, and they begin anew', async ({
    stage,
  }) => {
    const upstream = (await stage.upstream()).plays({ body: 'fine' })
    const sidecar = await stage.sidecar([upstreamDoc('u', upstream.url)])
    sidecar.signal('SIGTERM')
    await sleep(1_500)
    expect((await sidecar.call('/u/x')).status).toBe(200)
    const servedMs = nowMs()
    const exit = await sidecar.exitWithin(15_000)
    expect(exit.atMs - servedMs).toBeGreaterThan(1_800)
  })
})
