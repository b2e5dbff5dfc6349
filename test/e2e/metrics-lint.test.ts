import { describe, expect } from 'vitest'
import { lint } from '../telemetry/prom-lint.js'
import { call, lastCall } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import { test } from './harness/stage.js'
import { until } from './harness/time.js'

describe('the metrics of a running sidecar', () => {
  test('pass the lint after every kind of traffic, on both ports alike', async ({ stage }) => {
    const bad = (await stage.upstream()).plays({ status: 503 }, { instead: 'reset' }, { body: 'fine' }, { status: 503 })
    const late = (await stage.upstream()).plays({ delayMs: 400 }, { body: 'good' })
    const job = (await stage.upstream()).plays({ status: 202 }, { body: 'done' })
    const routes = [
      { name: 'own', match: { path: '/own' }, breaker: { consecutiveFailures: 1 }, limits: { maxInFlight: 5 } },
    ]
    const poll = { until: { status: [200] }, backoff: { kind: 'fixed', base: '100ms', jitter: 'none' } }
    const fallback = { when: ['retries-exhausted'], body: 'ours' }
    const sidecar = await stage.sidecar([
      upstreamDoc('bad', bad.url, { retry: quickRetry({ maxAttempts: 3 }), budget: ample, routes, fallback }),
      upstreamDoc('late', late.url, { hedge: { after: '50ms' }, budget: ample }),
      upstreamDoc('jobs', job.url, { routes: [{ name: 'job', match: { path: '/x' }, poll }] }),
    ])
    for (const path of ['/bad/x', '/bad/y', '/bad/own', '/late/x', '/jobs/x', '/nowhere']) await sidecar.call(path)
    await sidecar.call('/bad/z', { method: 'PUT', body: 'x' })
    await lastCall(sidecar.port, 'no HTTP\r\n\r\n')
    await sidecar.admin('/upstreams/late/breaker?set=open', { method: 'POST' })
    await sidecar.call('/late/y')
    await until('all is counted', async () => (await sidecar.metrics()).sum('forbear_hedges_total') === 1)
    for (const port of [sidecar.healthPort, sidecar.adminPort]) {
      const { text, headers } = await call(port, '/metrics')
      expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
      expect(lint(text)).toEqual([])
      // A lint of nothing finds nothing.
      for (const kind of ['requests', 'attempts', 'retries', 'retries_denied', 'hedges', 'polls', 'fallbacks']) {
        expect(text).toMatch(new RegExp(`^forbear_${kind}_total\\{.+\\} [1-9]`, 'm'))
      }
      expect(text).toMatch(/^forbear_request_duration_seconds_bucket\{.*le="\+Inf".*\} [1-9]/m)
    }
  })
})
