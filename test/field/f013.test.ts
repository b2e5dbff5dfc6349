import { describe, expect, test } from 'vitest'
import { problem } from '../e2e/harness/client.js'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

const JSON_BODY = '{"code":"E17","hint":"later"}'

describe('F013 when retries are used up the app gets an invented blank 502 instead of the last answer (haproxy#439)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).runs(({ received }) => {
      const [, what = '', bytes = '0'] = received.url.split('/')
      if (what === 'reset-last' && received.headers['forbear-attempt'] === '3') return { instead: 'reset' }
      if (what === 'hang-last' && received.headers['forbear-attempt'] === '3') return { instead: 'hang' }
      if (what === 'reset') return { instead: 'reset' }
      const body = what === 'bytes' ? Buffer.alloc(Number(bytes), 'b') : JSON_BODY
      const headers = { 'content-type': 'application/json', 'x-app': 'own', 'content-length': String(body.length) }
      return { status: what === '429' ? 429 : 503, headers, body }
    })
    const spec = {
      retry: quickRetry({ maxAttempts: 3 }),
      budget: ample,
      timeouts: { attempt: '150ms', total: '5s' },
      breaker: { mode: 'disabled' },
    }
    return {
      upstream,
      sidecar: await stage.sidecar([
        upstreamDoc('u', upstream.url, spec),
        upstreamDoc('poor', upstream.url, { ...spec, budget: { ratio: 0, window: '10s', minPerSecond: 0.1 } }),
      ]),
    }
  })

  test.for([
    ['/u/503', 503],
    ['/u/429', 429],
    ['/u/reset-last', 503],
    ['/u/hang-last', 503],
  ] as const)('%s ends with the body and fields of the upstream', async ([path, status]) => {
    const answer = await hop.sidecar.call(path)
    expect([answer.status, answer.text]).toEqual([status, JSON_BODY])
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-app': 'own',
      'forbear-attempts': '3',
    })
    expect(answer.headers['forbear-outcome']).toBe('retries-exhausted')
  })

  test.for([0, 1, 16_384, 16_385, 1_000_000])('an answer of %i bytes is that long', async bytes => {
    const answer = await hop.sidecar.call(`/u/bytes/${bytes}`)
    expect([answer.status, answer.body.length, answer.headers['content-length']]).toEqual([503, bytes, String(bytes)])
  })

  test('to HEAD it is the head, with the length that a GET would have', async () => {
    const answer = await hop.sidecar.call('/u/503', { method: 'HEAD' })
    expect([answer.status, answer.headers['x-app'], answer.headers['content-length']]).toEqual([
      503,
      'own',
      String(JSON_BODY.length),
    ])
  })

  test('when the budget ends the retries it is the same answer with another reason', async () => {
    const answers = []
    for (let n = 0; n < 4; n++) answers.push(await hop.sidecar.call('/poor/503'))
    expect(answers.map(one => [one.status, one.text])).toEqual(Array(4).fill([503, JSON_BODY]))
    expect(answers.at(-1)?.headers['forbear-outcome']).toBe('budget-exhausted')
  })

  test('only where the upstream said nothing at all do we speak, in a problem document', async () => {
    const answer = await hop.sidecar.call('/u/reset')
    expect([answer.status, problem(answer).reason, problem(answer).attempts]).toEqual([502, 'reset', 3])
  })
})
