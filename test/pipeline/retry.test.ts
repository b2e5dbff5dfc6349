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
