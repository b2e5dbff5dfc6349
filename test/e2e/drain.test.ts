import { Agent } from 'node:http'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { problem } from './harness/client.js'
import { failures, openLoop } from './harness/load.js'
import { quickRetry, upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { nowMs, sleep, until } from './harness/time.js'
import type { Behaviour, Upstream } from './harness/upstream.js'

async function running(
  stage: Stage,
  behaviour: Behaviour,
  args: readonly string[] = [],
): Promise<{ upstream: Upstream; sidecar: Sidecar }> {
  const upstream = (await stage.upstream()).plays(behaviour)
  const spec = { retry: quickRetry(), timeouts: { total: '60s' } }
  return { upstream, sidecar: await stage.sidecar([upstreamDoc('payments', upstream.url, spec)], args) }
}

describe.concurrent('SIGTERM', () => {
  test('under load loses no request, and the exit is 0 once the calls have ceased', async ({ stage }) => {
    const { sidecar } = await running(stage, { delayMs: 120, body: 'fine' })
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    stage.later(async () => agent.destroy())
    const fresh = openLoop({ perSecond: 30, forMs: 3_500, send: () => sidecar.call('/payments/x') })
    const kept = openLoop({ perSecond: 30, forMs: 3_500, send: () => sidecar.call('/payments/x', { agent }) })
    await sleep(1_000)
    sidecar.signal('SIGTERM')
    await sleep(150)
    expect(await sidecar.health('/readyz')).toBe(503)
    expect(await sidecar.health('/livez')).toBe(200)
    const during = await sidecar.call('/payments/x', { agent })
    expect([during.status, during.headers.connection]).toEqual([200, 'close'])
    const shots = [...(await fresh), ...(await kept)]
    const lastMs = Math.max(...shots.map(shot => shot.endedMs))
    expect(shots.length).toBe(210)
    expect(failures(shots)).toEqual({})
    const exit = await sidecar.exitWithin(10_000)
    expect([exit.code, exit.signal]).toEqual([0, null])
    expect(exit.atMs - lastMs).toBeGreaterThan(1_500)
    expect(exit.atMs - lastMs).toBeLessThan(6_000)
  })

  test('after a POST of /drain, which alone only turns readiness red, still ends', async ({ stage }) => {
    const { sidecar } = await running(stage, { body: 'fine' })
    await sidecar.admin('/drain', { method: 'POST' })
    expect([await sidecar.health('/readyz'), (await sidecar.call('/payments/x')).status]).toEqual([503, 200])
    sidecar.signal('SIGTERM')
    expect((await sidecar.exitWithin(8_000)).code).toBe(0)
  })

  test('lets a call in flight finish and then exits with idle connections still open', async ({ stage }) => {
    const { upstream, sidecar } = await running(stage, { delayMs: 1_500, body: 'fine' })
    const idle = connect(sidecar.port, '127.0.0.1').on('error', () => {})
    stage.later(async () => idle.destroy())
    const agent = new Agent({ keepAlive: true })
    stage.later(async () => agent.destroy())
    const inFlight = sidecar.call('/payments/x', { agent })
    await until('the upstream is called', () => upstream.hits === 1)
    sidecar.signal('SIGTERM')
    const answer = await inFlight
    expect([answer.status, answer.text]).toEqual([200, 'fine'])
    expect((await sidecar.exitWithin(8_000)).code).toBe(0)
  })

  test('ends at the latest after the drain period: what hangs gets 503 draining', async ({ stage }) => {
    const { upstream, sidecar } = await running(stage, { instead: 'hang' }, ['--drain-period', '1s'])
    const hanging = sidecar.call('/payments/x')
    await until('the upstream is called', () => upstream.hits === 1)
    const signalledMs = nowMs()
    sidecar.signal('SIGTERM')
    const answer = await hanging
    expect([answer.status, problem(answer).reason]).toEqual([503, 'draining'])
    const exit = await sidecar.exitWithin(8_000)
    expect(exit.code).toBe(0)
    expect(exit.atMs - signalledMs).toBeGreaterThan(900)
    expect(exit.atMs - signalledMs).toBeLessThan(5_000)
  })

  test('ends a long wait with the answer that the upstream gave', async ({ stage }) => {
    const told = { status: 503, headers: { 'Retry-After': '20' }, body: 'later' }
    const { upstream, sidecar } = await running(stage, told, ['--drain-period', '2s'])
    const waiting = sidecar.call('/payments/x')
    await until('the upstream is called', () => upstream.hits === 1)
    sidecar.signal('SIGTERM')
    const answer = await waiting
    expect([answer.status, answer.text, answer.headers['retry-after']]).toEqual([503, 'later', '20'])
    expect(upstream.hits).toBe(1)
    expect(answer.elapsedMs).toBeLessThan(6_000)
    expect((await sidecar.exitWithin(8_000)).code).toBe(0)
  })

  test('a second time exits at once', async ({ stage }) => {
    const { upstream, sidecar } = await running(stage, { instead: 'hang' })
    const hanging = sidecar.call('/payments/x').catch(() => null)
    await until('the upstream is called', () => upstream.hits === 1)
    sidecar.signal('SIGTERM')
    await until('readiness is red', async () => (await sidecar.health('/readyz')) === 503)
    sidecar.signal('SIGTERM')
    await sidecar.exitWithin(1_500)
    await hanging
  })

  test('of an idle sidecar exits 0 within seconds', async ({ stage }) => {
    const { sidecar } = await running(stage, {})
    sidecar.signal('SIGTERM')
    const exit = await sidecar.exitWithin(6_000)
    expect([exit.code, exit.signal]).toEqual([0, null])
  })
})

describe.concurrent('SIGINT', () => {
  test('of an idle sidecar ends it at once', async ({ stage }) => {
    const { sidecar } = await running(stage, {})
    sidecar.signal('SIGINT')
    const exit = await sidecar.exitWithin(1_500)
    expect([exit.code, exit.signal]).toEqual([0, null])
  })

  test('ends as soon as the call in flight has been answered', async ({ stage }) => {
    const { upstream, sidecar } = await running(stage, { delayMs: 800, body: 'fine' })
    const inFlight = sidecar.call('/payments/x')
    await until('the upstream is called', () => upstream.hits === 1)
    sidecar.signal('SIGINT')
    expect((await inFlight).text).toBe('fine')
    expect((await sidecar.exitWithin(1_500)).code).toBe(0)
  })
})
