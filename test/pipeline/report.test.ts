import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

describe('what is told of a request', () => {
  it('is one line of its end, with the path as the app sent it but without the query', async () => {
    const routes = [{ name: 'orders', path: '/orders' }]
    const stage = new Stage({}, { upstreams: [{ routes }] })
    stage.upstream.plays(fail('connect'), reply(200, { bodyMs: 100, body: 'twelve bytes' }))
    const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }
    stage.get('/api/orders?card=4111', { upstream: null, headers })
    await stage.finish()
    expect(stage.of('request-finished')).toEqual([
      {
        type: 'request-finished',
        upstream: 'api',
        route: 'orders',
        method: 'GET',
        path: '/api/orders',
        status: 200,
        outcome: 'delivered',
        denied: null,
        attempts: 2,
        hedges: 0,
        polls: 0,
        durationMs: 315,
        headMs: 215,
        waitedMs: 200,
        responseBytes: 12,
        generation: 1,
        traceId: TRACE,
      },
    ])
  })

  it('counts what went out of an answer that was cut, or that the app left', async () => {
    const stage = new Stage()
    stage.upstream.plays(
      reply(200, { bodyMs: 100, body: 'so far', cut: true }),
      reply(200, { bodyMs: 100, body: 'so far' }),
    )
    stage.get()
    await stage.run(500)
    const left = stage.get()
    await stage.run(50)
    left.hangUp()
    await stage.finish()
    const told = stage.of('request-finished').map(event => [event.outcome, event.responseBytes])
    expect(told).toEqual([
      ['cut', 6],
      ['aborted', 6],
    ])
  })

  it('is one line for each retry, with its delay and its cause', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('connect'), reply(503), reply(200))
    stage.get('/x?secret=1')
    await stage.finish()
    const common = { type: 'retry-scheduled', upstream: 'api', route: null, method: 'GET', path: '/x', traceId: null }
    expect(stage.of('retry-scheduled')).toEqual([
      { ...common, attempt: 1, status: null, error: 'connect TEST', delayMs: 200, reason: 'connect' },
      { ...common, attempt: 2, status: 503, error: null, delayMs: 400, reason: 'status' },
    ])
  })

  it('is one line for each attempt', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('reset'), reply(503), reply(200))
    stage.get()
    await stage.finish()
    const common = { type: 'attempt-finished', upstream: 'api', route: null }
    expect(stage.of('attempt-finished')).toEqual([
      { ...common, attempt: 1, status: null, result: 'reset', durationMs: 5 },
      { ...common, attempt: 2, status: 503, result: 'response', durationMs: 10 },
      { ...common, attempt: 3, status: 200, result: 'response', durationMs: 10 },
    ])
  })

  it('tells why no further attempt followed, whatever the app was answered', async () => {
    const budget = { ratio: 0, minPerSecond: 0 }
    const stage = new Stage({ budget })
    stage.upstream.plays(fail('connect'), reply(503), reply(500))
    for (const path of ['/connect', '/answer', '/final']) stage.get(path)
    await stage.finish()
    expect(stage.of('request-finished').map(({ path, outcome, denied }) => [path, outcome, denied])).toEqual([
      ['/connect', 'connect', 'budget-exhausted'],
      ['/answer', 'budget-exhausted', 'budget-exhausted'],
      ['/final', 'delivered', null],
    ])
  })

  it('of a refusal names no upstream that is not declared', () => {
    const stage = new Stage()
    stage.get('/nobody?x=1', { upstream: null })
    stage.get('/y', { upstream: 'nobody' })
    expect(stage.of('request-finished')).toMatchObject([
      { upstream: null, path: '/nobody', outcome: 'no-route', attempts: 0, status: 404 },
      { upstream: null, path: '/y', outcome: 'no-route', attempts: 0, status: 404 },
    ])
  })
})

describe('the status of an upstream', () => {
  it('shows what it has learnt', async () => {
    const stage = new Stage({}, { upstreams: [{ routes: [{ name: 'own', path: '/own', own: { limits: true } }] }] })
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    stage.get()
    await stage.run(50)
    expect(stage.pipeline.statuses().map(({ name, route }) => [name, route])).toEqual([
      ['api', null],
      ['api', 'own'],
    ])
    expect(stage.status()).toMatchObject({
      target: 'http://api.example.com',
      breaker: { state: 'closed', mode: 'enforce', openForMs: 0, failuresInARow: 0 },
      gate: { closed: false, closedForMs: 0 },
      inFlight: 1,
      waiting: 0,
      latencyMs: { p50: null, p95: null, p99: null },
    })
    await stage.finish()
    const { p50 } = stage.status().latencyMs
    expect(p50).toBeGreaterThan(95)
    expect(p50).toBeLessThan(105)
  })
})
