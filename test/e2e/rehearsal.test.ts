import { describe, expect } from 'vitest'
import { problem } from './harness/client.js'
import { ample, quickRetry, upstreamDoc } from './harness/policies.js'
import type { Sidecar } from './harness/sidecar.js'
import { type Stage, test } from './harness/stage.js'
import { until } from './harness/time.js'
import type { Upstream } from './harness/upstream.js'

const post = { method: 'POST' }

async function rehearsing(
  stage: Stage,
  fault: Record<string, unknown>,
  spec: Record<string, unknown> = {},
): Promise<{ upstream: Upstream; sidecar: Sidecar }> {
  const upstream = (await stage.upstream()).plays({ status: 200, body: 'fine' })
  const retry = quickRetry({ maxAttempts: 3 })
  const document = upstreamDoc('payments', upstream.url, { retry, budget: ample, fault, ...spec })
  return { upstream, sidecar: await stage.sidecar([document]) }
}

describe('a rehearsed fault', () => {
  test('hits nobody until an operator switches it on, and nobody after it is switched off', async ({ stage }) => {
    const { upstream, sidecar } = await rehearsing(stage, { percent: 100, status: 503 })
    expect((await sidecar.call('/payments/x')).text).toBe('fine')
    await sidecar.admin('/faults/on?for=1m', post)
    expect(await sidecar.status()).toMatchObject({ faults: 'on' })
    expect((await sidecar.call('/payments/x')).status).toBe(503)
    await sidecar.admin('/faults/off', post)
    expect((await sidecar.call('/payments/x')).text).toBe('fine')
    expect(upstream.hits).toBe(2)
  })

  test('ends by itself', async ({ stage }) => {
    const { sidecar } = await rehearsing(stage, { percent: 100, status: 503 })
    await sidecar.admin('/faults/on?for=300ms', post)
    expect((await sidecar.call('/payments/x')).status).toBe(503)
    await until('the rehearsal is over', async () => (await sidecar.call('/payments/x')).status === 200)
  })

  test('meets retries, breaker and log as a real one would, and says in the log that it is none', async ({ stage }) => {
    const { upstream, sidecar } = await rehearsing(stage, { percent: 100, status: 503 })
    await sidecar.admin('/faults/on', post)
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, answer.headers['forbear-attempts'], answer.headers['forbear-outcome']]).toEqual([
      503,
      '3',
      'retries-exhausted',
    ])
    expect(answer.text).toContain('rehearsed fault')
    expect(upstream.hits).toBe(0)
    const { text } = await sidecar.admin('/metrics')
    expect(text).toMatch(/^forbear_faults_injected_total\{.*kind="status".*\} 3$/m)
    expect(text).toMatch(/^forbear_faults_enabled 1$/m)
    await until('the log tells of it', () => sidecar.output.includes('rehearsed fault'))
    const { payments } = (await sidecar.status()).upstreams
    expect(payments?.breaker.failuresInARow).toBe(3)
  })

  test('can be a connection that breaks', async ({ stage }) => {
    const { upstream, sidecar } = await rehearsing(stage, { percent: 100, abort: true })
    await sidecar.admin('/faults/on', post)
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, problem(answer).reason]).toEqual([502, 'reset'])
    expect(upstream.hits).toBe(0)
  })

  test('can be a delay before the real call, which takes the body with it', async ({ stage }) => {
    const { upstream, sidecar } = await rehearsing(stage, { percent: 100, delay: '300ms' })
    await sidecar.admin('/faults/on', post)
    const answer = await sidecar.call('/payments/x', { method: 'POST', body: 'amount=1' })
    expect(answer.text).toBe('fine')
    expect(answer.elapsedMs).toBeGreaterThanOrEqual(290)
    expect(upstream.nth(1).body.toString()).toBe('amount=1')
  })

  test('can be a delay that the attempt clock ends', async ({ stage }) => {
    const { upstream, sidecar } = await rehearsing(
      stage,
      { percent: 100, delay: '30s' },
      { timeouts: { attempt: '200ms' }, retry: { maxAttempts: 1 } },
    )
    await sidecar.admin('/faults/on', post)
    const answer = await sidecar.call('/payments/x')
    expect([answer.status, problem(answer).reason]).toEqual([504, 'attempt-timeout'])
    expect(upstream.hits).toBe(0)
  })

  test('answers an upload without waiting for its end', async ({ stage }) => {
    const { sidecar } = await rehearsing(stage, { percent: 100, status: 503 })
    await sidecar.admin('/faults/on', post)
    const answer = await sidecar.call('/payments/x', { method: 'POST', body: 'x'.repeat(300_000) })
    expect(answer.status).toBe(503)
  })
})
