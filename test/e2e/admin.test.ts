import { describe, expect } from 'vitest'
import { call } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { sleep, until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

async function running(stage: Stage): Promise<{ upstream: Upstream; sidecar: Sidecar }> {
  const upstream = (await stage.upstream()).plays({ status: 503, body: 'busy' })
  const spec = { retry: quickRetry({ maxAttempts: 2 }), budget: ample }
  return { upstream, sidecar: await stage.sidecar([upstreamDoc('payments', upstream.url, spec)]) }
}

const post = { method: 'POST' }

describe('the health port', () => {
  test('tells that the process lives, is ready and has started, and gives the metrics', async ({ stage }) => {
    const { sidecar } = await running(stage)
    for (const path of ['/livez', '/readyz', '/startupz'])
      expect([path, await sidecar.health(path)]).toEqual([path, 200])
    const metrics = await call(sidecar.healthPort, '/metrics')
    expect(metrics.headers['content-type']).toMatch(/^text\/plain/)
    expect(metrics.text).toMatch(/^# TYPE forbear_requests_total counter$/m)
  })

  test('has nothing else on it and changes nothing', async ({ stage }) => {
    const { sidecar } = await running(stage)
    for (const path of ['/status', '/policies', '/', '/drain', '/reload', '/quitquitquit']) {
      expect((await call(sidecar.healthPort, path)).status).toBe(404)
      expect((await call(sidecar.healthPort, path, post)).status).toBeGreaterThanOrEqual(400)
    }
    await sleep(100)
    expect(sidecar.exit).toBeNull()
    expect(await sidecar.health('/readyz')).toBe(200)
  })

  test('stays ready while a breaker is open', async ({ stage }) => {
    const { sidecar } = await running(stage)
    await sidecar.admin('/upstreams/payments/breaker?set=open', post)
    expect(await sidecar.health('/readyz')).toBe(200)
  })
})

describe('the admin port', () => {
  test('has what the health port has', async ({ stage }) => {
    const { sidecar } = await running(stage)
    for (const path of ['/livez', '/readyz', '/startupz', '/metrics'])
      expect((await sidecar.admin(path)).status).toBe(200)
  })

  test('shows the state of each upstream at /status', async ({ stage }) => {
    const { sidecar } = await running(stage)
    await sidecar.call('/payments/x')
    const status = await sidecar.status()
    expect(status.generation).toBeGreaterThanOrEqual(1)
    expect(status.hash).toMatch(/^[0-9a-f]{8,}$/)
    expect(status.lastReloadError).toBeNull()
    const { payments } = status.upstreams
    expect(payments).toMatchObject({ name: 'payments', inFlight: 0, waiting: 0, gate: { closed: false } })
    expect(payments?.breaker).toMatchObject({ state: 'closed', failuresInARow: 2 })
    expect(payments?.budget.balance).toBeGreaterThan(0)
  })

  test('shows the policies in force, defaults filled in, at /policies', async ({ stage }) => {
    const { sidecar, upstream } = await running(stage)
    const answer = await sidecar.admin('/policies')
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('payments')
    expect(answer.text).toContain(String(upstream.port))
    expect(answer.text).toMatch(/maxOpenFor/)
  })

  test('has the documented metrics after a retried request, with labels from the policy alone', async ({ stage }) => {
    const { sidecar, upstream } = await running(stage)
    for (let n = 0; n < 4; n++) await sidecar.call(`/payments/orders/${n}?q=${n}`)
    const before = await sidecar.metrics()
    const names = [
      'forbear_requests_total',
      'forbear_attempts_total',
      'forbear_retries_total',
      'forbear_retries_denied_total',
      'forbear_budget_balance',
      'forbear_breaker_state',
      'forbear_request_duration_seconds_count',
      'forbear_attempt_duration_seconds_count',
      'forbear_backoff_seconds_count',
      'forbear_in_flight',
      'forbear_policy_generation',
      'forbear_policy_reloads_total',
    ]
    expect(names.filter(name => !before.has(name))).toEqual([])
    expect(before.sum('forbear_requests_total', { upstream: 'payments', outcome: 'retries-exhausted' })).toBe(4)
    expect(before.sum('forbear_attempts_total', { upstream: 'payments' })).toBe(8)
    expect(before.sum('forbear_retries_total', { upstream: 'payments', reason: 'status' })).toBe(4)

    upstream.plays({ body: 'fine' })
    for (let n = 0; n < 30; n++) {
      await sidecar.call(`/payments/${n}`, { headers: { Host: `h${n}.example` } })
      await sidecar.call(`/nowhere-${n}`)
    }
    const settled = (await sidecar.metrics()).ownSeries()
    for (let n = 30; n < 60; n++) {
      await sidecar.call(`/payments/${n}`, { headers: { Host: `h${n}.example` } })
      await sidecar.call(`/nowhere-${n}`)
    }
    expect((await sidecar.metrics()).ownSeries()).toEqual(settled)
  })

  test('changes nothing on GET and answers nothing to a foreign Host or Origin', async ({ stage }) => {
    const { sidecar } = await running(stage)
    const verbs = ['/reload', '/drain', '/retries/off?for=10m', '/upstreams/payments/breaker?set=open', '/quitquitquit']
    for (const verb of verbs) {
      expect([verb, (await sidecar.admin(verb)).status >= 400]).toEqual([verb, true])
      for (const headers of [{ Host: 'evil.example' }, { Origin: 'http://evil.example' }, { Origin: 'null' }]) {
        const answer = await sidecar.admin(verb, { ...post, headers })
        expect([verb, headers, answer.status >= 400 && answer.status < 500]).toEqual([verb, headers, true])
      }
    }
    await sleep(200)
    expect(sidecar.exit).toBeNull()
    expect(await sidecar.health('/readyz')).toBe(200)
    expect((await sidecar.upstreamStatus('payments')).breaker.state).toBe('closed')
    expect((await sidecar.call('/payments/x')).headers['forbear-attempts']).toBe('2')
  })

  test('switches retries off and on again after the given time', async ({ stage }) => {
    const { sidecar } = await running(stage)
    expect((await sidecar.admin('/retries/off?for=2s', post)).status).toBeLessThan(300)
    const off = await sidecar.call('/payments/x')
    expect([off.status, off.text, off.headers['forbear-attempts']]).toEqual([503, 'busy', '1'])
    await until('retries are on again', async () => (await sidecar.status()).retries === 'on')
    expect((await sidecar.call('/payments/x')).headers['forbear-attempts']).toBe('2')
  })

  test('sets a breaker open, closed and back to its own judgement', async ({ stage }) => {
    const { sidecar, upstream } = await running(stage)
    await sidecar.admin('/upstreams/payments/breaker?set=open', post)
    const refused = await sidecar.call('/payments/x')
    expect([refused.status, refused.headers['forbear-outcome']]).toEqual([503, 'breaker-open'])
    expect(upstream.hits).toBe(0)
    await sidecar.admin('/upstreams/payments/breaker?set=closed', post)
    expect((await sidecar.call('/payments/x')).text).toBe('busy')
    expect((await sidecar.admin('/upstreams/payments/breaker?set=auto', post)).status).toBeLessThan(300)
    expect((await sidecar.admin('/upstreams/payments/breaker?set=ajar', post)).status).toBe(400)
    expect((await sidecar.admin('/upstreams/nobody/breaker?set=open', post)).status).toBe(404)
  })

  test('resets a budget that an outage has spent', async ({ stage }) => {
    const upstream = (await stage.upstream()).plays({ status: 503 })
    const spec = { retry: quickRetry({ maxAttempts: 3 }), budget: { ratio: 0, window: '60s', minPerSecond: 0.05 } }
    const sidecar = await stage.sidecar([upstreamDoc('payments', upstream.url, spec)])
    for (let n = 0; n < 3; n++) await sidecar.call('/payments/x')
    expect((await sidecar.upstreamStatus('payments')).budget).toMatchObject({ allowedPerSec: 0.05, spentPerSec: 0.05 })
    expect((await sidecar.call('/payments/x')).headers['forbear-outcome']).toBe('budget-exhausted')
    expect((await sidecar.admin('/upstreams/payments/budget?reset', post)).status).toBe(200)
    expect((await sidecar.upstreamStatus('payments')).budget).toMatchObject({ balance: 3, spentPerSec: 0 })
    expect((await sidecar.admin('/upstreams/nobody/budget?reset', post)).status).toBe(404)
  })

  test('drains by hand: readiness goes red and calls are still served', async ({ stage }) => {
    const { sidecar } = await running(stage)
    expect((await sidecar.admin('/drain', post)).status).toBeLessThan(300)
    await until('readiness is red', async () => (await sidecar.health('/readyz')) === 503)
    expect((await sidecar.call('/payments/x')).text).toBe('busy')
  })

  test('ends the process at quitquitquit', async ({ stage }) => {
    const { sidecar } = await running(stage)
    expect((await sidecar.admin('/quitquitquit', post)).status).toBeLessThan(300)
    expect((await sidecar.exitWithin(6_000)).code).toBe(0)
  })
})
