/** F132 envoyproxy/envoy#29386 */
import { describe, expect, test } from 'vitest'
import type { CallOptions } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, type Document, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'
import type { Behaviour } from '../e2e/harness/upstream.js'

const bad: Behaviour = { status: 503, body: 'busy' }
const POST: CallOptions = { method: 'POST', body: 'x' }
const slow = (base: string): Document => ({ backoff: { kind: 'fixed', base, jitter: 'none' } })

interface Case {
  readonly spec?: Document
  readonly answers?: Behaviour
  readonly call?: CallOptions
  /** `denied` of the log and `reason` of the counter; `null` = nothing was denied, and the outcome says all. */
  readonly denied: string | null
  readonly outcome: string
  readonly attempts: number
}

/** Each is an upstream of its own. */
const CASES: Readonly<Record<string, Case>> = {
  'the-body-is-too-large': {
    spec: { retry: quickRetry({ maxBody: '1KiB' }) },
    call: { method: 'PUT', body: 'x'.repeat(4096) },
    denied: 'body-too-large',
    outcome: 'body-too-large',
    attempts: 1,
  },
  'the-budget-is-empty': {
    spec: { retry: quickRetry({ maxAttempts: 5 }), budget: { ratio: 0, minPerSecond: 0.1 } },
    denied: 'budget-exhausted',
    outcome: 'budget-exhausted',
    attempts: 2,
  },
  'the-deadline-is-near': {
    spec: { retry: slow('3s'), timeouts: { total: '2s' } },
    denied: 'deadline',
    outcome: 'deadline',
    attempts: 1,
  },
  "the-app's-deadline-is-near": {
    spec: { retry: slow('3s') },
    call: { headers: { 'forbear-timeout-ms': '2000' } },
    denied: 'deadline',
    outcome: 'deadline',
    attempts: 1,
  },
  'the-method-may-not-be-repeated': { call: POST, denied: 'not-repeatable', outcome: 'not-repeatable', attempts: 1 },
  'the-breaker-opens': {
    spec: {
      retry: { maxAttempts: 5, ...slow('150ms') },
      breaker: { consecutiveFailures: 2, openFor: '30s', maxOpenFor: '30s' },
    },
    denied: 'breaker-open',
    outcome: 'breaker-open',
    attempts: 2,
  },
  'retry-after-is-too-long': {
    answers: { ...bad, headers: { 'Retry-After': '3600' } },
    denied: 'retry-after-too-long',
    outcome: 'retry-after-too-long',
    attempts: 1,
  },
  'retry-after-is-past-the-deadline': {
    spec: { timeouts: { total: '2s' } },
    answers: { ...bad, headers: { 'Retry-After': '10' } },
    denied: 'retry-after-too-long',
    outcome: 'retry-after-too-long',
    attempts: 1,
  },
  'all-attempts-are-used-up': {
    spec: { retry: quickRetry({ maxAttempts: 3 }) },
    denied: 'retries-exhausted',
    outcome: 'retries-exhausted',
    attempts: 3,
  },
  'the-app-wants-one': {
    call: { headers: { 'forbear-max-attempts': '1' } },
    denied: 'retries-exhausted',
    outcome: 'retries-exhausted',
    attempts: 1,
  },
  'the-layer-above-repeats': {
    call: { headers: { 'forbear-attempt': '2' } },
    denied: 'layer',
    outcome: 'layer',
    attempts: 1,
  },
  'the-layer-below-has-given-up': {
    answers: { ...bad, headers: { 'forbear-exhausted': 'retries-exhausted' } },
    denied: 'layer',
    outcome: 'layer',
    attempts: 1,
  },
  'the-upstream-forbids-it': {
    answers: { ...bad, headers: { 'grpc-retry-pushback-ms': '-1' } },
    denied: 'pushback',
    outcome: 'delivered',
    attempts: 1,
  },
  'no-answer-came-and-it-may-not-be-repeated': {
    answers: { instead: 'reset' },
    call: POST,
    denied: 'not-repeatable',
    outcome: 'reset',
    attempts: 1,
  },
  'the-status-is-final': { answers: { status: 500 }, denied: null, outcome: 'delivered', attempts: 1 },
}

const name = (title: string): string => title.replaceAll("'", '')

describe('F132 no retry is made, and counter, log line and header say why, where', () => {
  const hop = onOneStage(async stage => {
    const documents: Document[] = []
    for (const [title, { spec = {}, answers = bad }] of Object.entries(CASES)) {
      const upstream = (await stage.upstream()).plays(answers)
      documents.push(upstreamDoc(name(title), upstream.url, { retry: quickRetry(), budget: ample, ...spec }))
    }
    const started = await stage.rawUpstream(socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'))
    documents.push(upstreamDoc('started', started.url, { retry: quickRetry(), budget: ample }))
    return { sidecar: await stage.sidecar(documents) }
  })

  test.concurrent.each(Object.entries(CASES))('%s', async (title, { call = {}, denied, outcome, attempts }) => {
    const { sidecar } = hop
    const upstream = name(title)
    const answer = await sidecar.call(`/${upstream}/x`, call)
    expect([answer.headers['forbear-outcome'], answer.headers['forbear-attempts']]).toEqual([outcome, String(attempts)])
    expect(await sidecar.accessLine(`/${upstream}/x`)).toMatchObject({ upstream, denied, outcome, attempts })
    const metrics = await sidecar.metrics()
    expect(metrics.sum('forbear_requests_total', { upstream, outcome })).toBe(1)
    expect(metrics.sum('forbear_retries_denied_total', { upstream })).toBe(denied === null ? 0 : 1)
    if (denied !== null) {
      expect(metrics.sum('forbear_retries_denied_total', { upstream, reason: denied })).toBe(1)
    }
  })

  test('the answer had begun', async () => {
    const { sidecar } = hop
    await expect(sidecar.call('/started/x')).rejects.toThrow()
    expect(await sidecar.accessLine('/started/x')).toMatchObject({ outcome: 'cut', attempts: 1, flags: 'UC' })
    const metrics = await sidecar.metrics()
    expect(metrics.sum('forbear_requests_total', { upstream: 'started', outcome: 'cut' })).toBe(1)
    expect(metrics.sum('forbear_attempts_total', { upstream: 'started', result: 'cut' })).toBe(1)
  })
})
