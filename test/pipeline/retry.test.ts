import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

describe('what may be repeated', () => {
  it('serves a GET that failed twice, with the attempts counted', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(503), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 3')
    expect(stage.upstream.times).toEqual([0, 210, 620])
    expect(stage.upstream.sent.map(sent => sent.fields['forbear-attempt'])).toEqual(['1', '2', '3'])
  })

  it.each(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])('repeats %s, which is idempotent', async method => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const call = stage.call(method, '/')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it.each(['POST', 'PATCH', 'LOCK'])('passes the answer to a failed %s on as it is', async method => {
    const stage = new Stage()
    stage.upstream.plays(reply(503, { body: 'down', headers: { 'x-why': 'storm' } }), reply(200))
    const call = stage.call(method, '/', { bodyBytes: 10 })
    await stage.finish()
    expect(call.summary).toBe('503 not-repeatable after 1')
    expect(call.text).toBe('down')
    expect(call.header('x-why')).toBe('storm')
    expect(stage.upstream.sent).toHaveLength(1)
    expect(stage.denials).toEqual(['not-repeatable'])
  })

  it.each([
    ['reset', fail('reset'), '502 reset after 1'],
    ['a silent upstream', hang(), '504 attempt-timeout after 1'],
  ] as const)('does not repeat a POST after %s', async (_name, play, summary) => {
    const stage = new Stage()
    stage.upstream.plays(play, reply(200))
    const call = stage.post()
    await stage.finish()
    expect(call.summary).toBe(summary)
  })

  it('repeats a POST after connect, because nothing was sent', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('connect'), fail('connect'), reply(201))
    const call = stage.post()
    await stage.finish()
    expect(call.summary).toBe('201 delivered after 3')
  })

  it('does not repeat what no repetition can mend, such as a bad certificate', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('connect', { permanent: true }), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('502 connect after 1')
    expect(stage.denials).toEqual([])
  })

  it.each([400, 401, 404, 409, 422, 500, 501])('never repeats after %i by default', async status => {
    const stage = new Stage()
    stage.upstream.plays(reply(status), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe(`${status} delivered after 1`)
  })

  it.each([408, 425, 429, 502, 503, 504])('repeats after %i by default', async status => {
    const stage = new Stage()
    stage.upstream.plays(reply(status), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('does not repeat after a response that is not HTTP', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('bad-response'), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('502 bad-response after 1')
  })

  it('backs off by the throttled settings after a 429', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(429, { afterMs: 0 }), reply(200))
    stage.get()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 1000])
  })

  it('repeats an answer that carries a header of onHeaders', async () => {
    const stage = new Stage({ retry: { onHeaders: [{ name: 'x-again', value: null }] } })
    stage.upstream.plays(reply(200, { headers: { 'X-Again': 'please' } }), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(stage.of('retry-scheduled').map(event => event.reason)).toEqual(['header'])
  })
})

describe('idempotency keys', () => {
  const keyed = { headers: { 'Idempotency-Key': 'abc' } }
  const generate = { retry: { idempotency: { generate: true } } }

  it("repeats a POST with the app's key and adds none of its own", async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const call = stage.post('/', keyed)
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    for (const sent of stage.upstream.sent) expect(sent.fields['idempotency-key']).toBeUndefined()
  })

  it('adds one key where the policy says so, the same on all attempts of a request and another for the next', async () => {
    const stage = new Stage(generate)
    stage.upstream.plays(reply(503), fail('reset'), reply(200), reply(200))
    const call = stage.post('/1')
    await stage.finish()
    stage.post('/2')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 3')
    const keys = stage.upstream.sent.map(sent => sent.fields['idempotency-key'])
    expect(keys).toEqual(['minted-1', 'minted-1', 'minted-1', 'minted-2'])
  })

  it('adds no key to a method that is idempotent by itself', async () => {
    const stage = new Stage(generate)
    stage.get()
    await stage.finish()
    expect(stage.upstream.sent[0]?.fields['idempotency-key']).toBeUndefined()
  })

  it.each([
    ["the app's key", {}, keyed],
    ['our key', generate, {}],
  ] as const)(
    'takes 409 on a re-send with %s for "still running", waits and asks again',
    async (_n, policy, options) => {
      const stage = new Stage(policy)
      stage.upstream.plays(fail('reset'), reply(409), reply(201))
      const call = stage.post('/', options)
      await stage.finish()
      expect(call.summary).toBe('201 delivered after 3')
      expect(stage.of('retry-scheduled').map(event => event.reason)).toEqual(['reset', 'key-conflict'])
    },
  )

  it('passes a 409 to the first sending on', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(409), reply(201))
    const call = stage.post('/', keyed)
    await stage.finish()
    expect(call.summary).toBe('409 delivered after 1')
  })

  it('takes 409 on a re-send without a key for an answer like any other', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(409), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('409 delivered after 2')
  })

  it('takes 422 on a re-send with a key for final', async () => {
    const stage = new Stage({ retry: { retryOn: { statuses: new Set([422, 503]) } } })
    stage.upstream.plays(reply(503), reply(422), reply(201))
    const call = stage.post('/', keyed)
    await stage.finish()
    expect(call.summary).toBe('422 delivered after 2')
  })
})

describe('the request body', () => {
  it('is not sent again when it was larger than maxBody', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const call = stage.call('PUT', '/', { bodyBytes: 65_537 })
    await stage.finish()
    expect(call.summary).toBe('503 body-too-large after 1')
    expect(call.header('forbear-exhausted')).toBe('body-too-large')
  })

  it('is sent again when it has just maxBody bytes', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const call = stage.call('PUT', '/', { bodyBytes: 65_536 })
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('of any size may still be sent after connect, since none of it has gone', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('connect'), reply(200))
    const call = stage.call('POST', '/', { bodyBytes: 50_000_000 })
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it('is not captured where nothing could be sent again', async () => {
    const stage = new Stage({ retry: { maxAttempts: 1 } })
    const call = stage.call('PUT', '/', { bodyBytes: 100 })
    await stage.finish()
    expect(call.body?.replayable).toBe(false)
  })
})

describe('the order of the decision', () => {
  const layered = { headers: { 'forbear-attempt': '2' } }

  it('asks whether it is retryable before whether it is repeatable', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(500))
    const call = stage.post()
    await stage.finish()
    expect(call.summary).toBe('500 delivered after 1')
  })

  it('asks whether it is repeatable before whether the body is replayable', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    const call = stage.call('POST', '/', { bodyBytes: 1_000_000 })
    await stage.finish()
    expect(call.outcome).toBe('not-repeatable')
  })

  it('asks whether the body is replayable before whether attempts are left', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2, maxBodyBytes: 10 } })
    stage.upstream.plays(fail('connect'), reply(503))
    const call = stage.call('PUT', '/', { bodyBytes: 100 })
    await stage.finish()
    expect(call.summary).toBe('503 body-too-large after 2')
  })

  it('asks whether attempts are left before Retry-After', async () => {
    const stage = new Stage({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': '86400' } }))
    const call = stage.get('/')
    await stage.finish()
    expect(call.outcome).toBe('retries-exhausted')
  })

  it('asks for the layer before anything of its own', async () => {
    const stage = new Stage({ budget: { ratio: 0, minPerSecond: 0 } })
    stage.upstream.plays(reply(503))
    const call = stage.get('/', layered)
    await stage.finish()
    expect(call.outcome).toBe('layer')
  })

  it('asks whether the delay fits the deadline before the budget, which then keeps its ticket', async () => {
    const stage = new Stage({ timeouts: { totalMs: 200 } })
    stage.upstream.plays(reply(503))
    const before = stage.balance
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 deadline after 1')
    expect(stage.balance).toBe(before)
  })

  it('leaves at least 50 ms for the attempt after the delay', async () => {
    const outcomes = []
    for (const totalMs of [259, 260]) {
      const stage = new Stage({ timeouts: { totalMs } })
      stage.upstream.plays(reply(503), reply(200))
      const call = stage.get()
      await stage.finish()
      outcomes.push(call.summary)
    }
    expect(outcomes).toEqual(['503 deadline after 1', '200 delivered after 2'])
  })

  it('leaves the median of successes for the attempt when that is longer', async () => {
    const stage = new Stage({ timeouts: { totalMs: 1000 } })
    stage.upstream.plays(reply(200, { afterMs: 900 }), reply(503), reply(200))
    stage.get('/slow')
    await stage.finish()
    const call = stage.get('/next')
    await stage.finish()
    expect(call.summary).toBe('503 deadline after 1')
  })
})

describe('the last answer', () => {
  it('goes to the app unchanged when the attempts run out, and says that this layer gave up', async () => {
    const stage = new Stage({ retry: { maxAttempts: 3 } })
    stage.upstream.plays(reply(503), reply(503), reply(502, { body: 'third', headers: { 'X-Third': 'yes' } }))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('502 retries-exhausted after 3')
    expect(call.text).toBe('third')
    expect(call.header('X-Third')).toBe('yes')
    expect(call.header('forbear-exhausted')).toBe('retries-exhausted')
  })

  it('is the held one when the attempt after it brought none', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(reply(503, { body: 'first', headers: { 'X-First': 'yes' } }), fail('connect'))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 2')
    expect(call.text).toBe('first')
    expect(call.header('X-First')).toBe('yes')
    expect(stage.finishedOf(call)).toMatchObject({ status: 503, outcome: 'retries-exhausted', responseBytes: 5 })
  })

  it.each([
    [16 * 1024, '503 retries-exhausted after 2'],
    [16 * 1024 + 1, '502 connect after 2'],
  ])('of %i bytes is kept up to 16 KiB', async (bytes, summary) => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(reply(503, { body: 'x'.repeat(bytes) }), fail('connect'))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe(summary)
  })

  it.each([
    ['connect', fail('connect'), '502 connect after 2'],
    ['reset', fail('reset'), '502 reset after 2'],
    ['a silent upstream', hang(), '504 attempt-timeout after 2'],
  ] as const)('is our own only where there is none: %s', async (_name, play, summary) => {
    const stage = new Stage({ retry: { maxAttempts: 2 }, timeouts: { attemptMs: 1000 } })
    stage.upstream.plays(play)
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe(summary)
    expect(call.header('content-type')).toBe('application/problem+json')
    expect(call.header('forbear-exhausted')).toBe(call.outcome)
    expect(JSON.parse(call.text)).toMatchObject({ upstream: 'api', attempts: 2, reason: call.outcome })
  })

  it('that was too large to keep leaves our own, which says why no further attempt was made', async () => {
    const stage = new Stage({ retry: { backoff: { kind: 'fixed', baseMs: 100 } } })
    const large = reply(503, { body: 'x'.repeat(20_000) })
    stage.upstream.playsByPath({ '/large': [fail('connect'), large] }, reply(503))
    const call = stage.get('/large')
    await stage.openBreaker()
    expect(call.summary).toBe('503 breaker-open after 2')
    expect(call.header('retry-after')).toBe('1')
  })

  it('is not kept of an attempt whose body is still coming in when the app must be answered', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(reply(503, { bodyMs: 60_000 }), fail('connect'))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('502 connect after 2')
    expect(stage.upstream.sent[0]?.aborted).toBe(true)
  })
})

describe('an answer that has begun', () => {
  it('is never repeated: when its body breaks, the connection of the app is destroyed', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { bodyMs: 100, cut: true }), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('destroyed')
    expect(stage.upstream.sent).toHaveLength(1)
    expect(stage.finishedOf(call)).toMatchObject({ outcome: 'cut', attempts: 1 })
    expect(stage.of('attempt-finished').map(event => event.result)).toEqual(['response', 'cut'])
  })

  it('carries the interim answers before it', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { interim: 103 }))
    const call = stage.get()
    await stage.finish()
    expect(call.interims).toEqual([103])
    expect(call.summary).toBe('200 delivered after 1')
  })
})

describe('Retry-After', () => {
  it('is waited for, and our own back-off on top of it', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503, { afterMs: 0, headers: { 'Retry-After': '2' } }), reply(200))
    stage.get()
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 2200])
  })

  it.each([
    ['above the cap', '31', {}],
    ['past the deadline', '20', { timeouts: { totalMs: 15_000 } }],
  ] as const)('%s passes the reply on at once', async (_name, value, policy) => {
    const stage = new Stage(policy)
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': value } }), reply(200))
    const call = stage.get()
    await stage.run(20)
    expect(call.summary).toBe('503 retry-after-too-long after 1')
    expect(call.header('Retry-After')).toBe(value)
  })

  it('never makes an answer retryable', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(500, { headers: { 'Retry-After': '1' } }), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('500 delivered after 1')
  })
})

describe('a further attempt', () => {
  it('never uses the connection of a failed one', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(503), reply(200))
    stage.get()
    await stage.finish()
    const [first, second, third] = stage.upstream.sent
    expect(first?.request.avoid).toEqual([])
    expect(third?.request.avoid).toEqual([first?.connection, second?.connection])
    expect(stage.upstream.settled.map(settled => settled.failed)).toEqual([true, true, false])
  })

  it('may be forbidden by the app, which can only tighten', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(reply(503))
    const one = stage.get('/1', { headers: { 'forbear-max-attempts': '1' } })
    const nine = stage.get('/9', { headers: { 'forbear-max-attempts': '9' } })
    await stage.finish()
    expect(one.summary).toBe('503 retries-exhausted after 1')
    expect(nine.summary).toBe('503 retries-exhausted after 2')
  })
})

describe('the kill switch', () => {
  it('lets the first attempt through and no other', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    stage.pipeline.switchRetriesOff(60_000)
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 1')
    expect(stage.denials).toEqual(['retries-off'])
  })

  it('ends a back-off that has begun when it would send, and gives its ticket back', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const before = stage.balance
    const call = stage.get()
    await stage.run(50)
    expect(stage.balance).toBe(before - 1)
    stage.pipeline.switchRetriesOff(60_000)
    await stage.finish()
    expect(call.summary).toBe('503 retries-exhausted after 1')
    expect(stage.balance).toBe(before)
  })

  it('lapses by itself, and can be taken back', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200), reply(503), reply(200))
    stage.pipeline.switchRetriesOff(1000)
    await stage.run(1000)
    const later = stage.get('/later')
    await stage.finish()
    stage.pipeline.switchRetriesOff(60_000)
    stage.pipeline.switchRetriesOff(0)
    const after = stage.get('/after')
    await stage.finish()
    expect([later.summary, after.summary]).toEqual(['200 delivered after 2', '200 delivered after 2'])
  })
})
