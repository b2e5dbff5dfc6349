import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

describe('F009 retries and breaker fire on any answer that is not 2xx (dapr#4568)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received }) => ({
      status: Number(received.url.slice(1)),
      headers: { 'x-own': 'yes' },
      body: 'its own words',
    }))
    const spec = {
      retry: quickRetry({ maxAttempts: 3 }),
      budget: ample,
      breaker: { window: '10s', minRequests: 5, failureRatio: 0.5, consecutiveFailures: 5 },
    }
    return { upstream, sidecar: await stage.sidecar([upstreamDoc('u', upstream.url, spec)]) }
  })

  test.for([
    300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417,
    418, 421, 422, 423, 424, 426, 428, 431, 451, 499, 500, 501, 505, 507, 508, 511,
  ])('%i is one attempt and is passed on as it came', async status => {
    const before = hop.upstream.hits
    const answer = await hop.sidecar.call(`/u/${status}`)
    expect([answer.status, answer.text, answer.headers['x-own']]).toEqual([status, 'its own words', 'yes'])
    expect([answer.headers['forbear-outcome'], hop.upstream.hits - before]).toEqual(['delivered', 1])
  })

  test.for([408, 425, 429, 502, 503, 504])('%i is a candidate', async status => {
    const before = hop.upstream.hits
    const answer = await hop.sidecar.call(`/u/${status}`)
    expect([answer.status, answer.headers['forbear-outcome']]).toEqual([status, 'retries-exhausted'])
    expect(hop.upstream.hits - before).toBe(3)
    await hop.sidecar.call('/u/200')
  })

  test('a run of 4xx, however long, is no failure of the upstream', async () => {
    for (let n = 0; n < 30; n++) await hop.sidecar.call(`/u/${[404, 401, 409, 422, 400, 429][n % 5]}`)
    const { breaker } = await hop.sidecar.upstreamStatus('u')
    expect([breaker.state, breaker.failuresInARow]).toEqual(['closed', 0])
  })
})
