import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage, WALL_START_MS } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

checkEveryEnding()

const NOW_S = WALL_START_MS / 1000

describe('a request that arrives marked as a re-send', () => {
  it.each([
    ['forbear-attempt', { 'forbear-attempt': '2' }],
    ['baggage', { baggage: `user=7,forbear.resend=3;t=${NOW_S - 30}` }],
  ])('by %s is not multiplied again, and the app is told that the layer is why', async (_name, headers) => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const call = stage.get('/', { headers })
    await stage.finish()
    expect(call.summary).toBe('503 layer after 1')
    // The layer above is the one to repeat it.
    expect(call.header('forbear-exhausted')).toBe(null)
  })

  it('is still repeated after connect, which multiplied nothing', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('connect'), reply(200))
    const call = stage.get('/', { headers: { 'forbear-attempt': '2' } })
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it.each([
    ['a first attempt', { 'forbear-attempt': '1' }],
    ['a mark that has lapsed', { baggage: `forbear.resend=3;t=${NOW_S - 61}` }],
  ])('does not mean %s', async (_name, headers) => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    const call = stage.get('/', { headers })
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })
})

describe('an answer with forbear-exhausted', () => {
  it('is passed on with the outcome layer: the layer below has given up already', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503, { headers: { 'forbear-exhausted': 'retries-exhausted' } }), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 layer after 1')
    expect(stage.upstream.sent).toHaveLength(1)
  })

  it.each([
    ['grpc-retry-pushback-ms', '-1'],
    ['x-envoy-overloaded', 'true'],
  ])('and one with %s only stop', async (name, value) => {
    const stage = new Stage()
    stage.upstream.plays(reply(503, { headers: { [name]: value } }), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 delivered after 1')
  })
})

describe('the mark for the next service', () => {
  it('is not made without propagate', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    stage.get()
    await stage.finish()
    expect(stage.upstream.sent.map(sent => sent.fields.baggage)).toEqual([undefined, undefined])
  })

  it('is put on re-sends with propagate, beside the baggage of the app', async () => {
    const stage = new Stage({ propagate: true })
    stage.upstream.plays(reply(503), reply(503), reply(200))
    stage.get('/', { headers: { baggage: 'user=7' } })
    await stage.finish()
    expect(stage.upstream.sent.map(sent => sent.fields.baggage)).toEqual([
      undefined,
      `user=7,forbear.resend=2;t=${NOW_S}`,
      `user=7,forbear.resend=3;t=${NOW_S}`,
    ])
  })

  it('is never lowered', async () => {
    const stage = new Stage({ propagate: true })
    stage.upstream.plays(fail('connect'), reply(200))
    stage.get('/', { headers: { baggage: `forbear.resend=7;t=${NOW_S}` } })
    await stage.finish()
    expect(stage.upstream.sent[1]?.fields.baggage).toBe(`forbear.resend=7;t=${NOW_S}`)
  })
})

describe('the number of an attempt', () => {
  it('is never below the one that the layer above told, so that the layer below does not multiply it either', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('connect'), fail('connect'), fail('connect'), reply(200))
    stage.get('/', { headers: { 'forbear-attempt': '3' } })
    await stage.finish()
    expect(stage.upstream.sent.map(sent => sent.fields['forbear-attempt'])).toEqual(['3', '3', '3', '4'])
  })

  it('begins at 1 where the layer above told nothing that counts', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    stage.get('/', { headers: { 'forbear-attempt': 'many' } })
    await stage.finish()
    expect(stage.upstream.sent.map(sent => sent.fields['forbear-attempt'])).toEqual(['1', '2'])
  })
})

describe('a first attempt of a re-send that only its number marks', () => {
  it('is marked in the baggage, too, with propagate: an app behind it drops the number', async () => {
    const stage = new Stage({ propagate: true })
    stage.upstream.plays(reply(200))
    stage.get('/', { headers: { 'forbear-attempt': '3' } })
    await stage.finish()
    expect(stage.upstream.sent[0]?.fields.baggage).toBe(`forbear.resend=3;t=${NOW_S}`)
  })
})

describe('what the app learns', () => {
  it('that a policy without retries gave up on nothing', async () => {
    const stage = new Stage({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(reply(503))
    const call = stage.get()
    await stage.finish()
    expect(call.header('forbear-exhausted')).toBe(null)
  })

  it('that a call which may not be repeated is nobody else to give up on', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    const call = stage.post()
    await stage.finish()
    expect(call.header('forbear-exhausted')).toBe(null)
  })
})

describe('what the app learns from an answer of our own', () => {
  it.each([
    ['a policy without retries', { retry: { maxAttempts: 1 } }, {}],
    ['the re-send of a layer above', {}, { headers: { 'forbear-attempt': '2' } }],
  ])('of %s is not that anyone gave up', async (_name, policy, call) => {
    const stage = new Stage(policy)
    stage.upstream.plays(fail('reset'))
    const got = stage.get('/', call)
    await stage.finish()
    expect([got.summary, got.header('forbear-exhausted')]).toEqual(['502 reset after 1', null])
  })

  it('to a call that may not be repeated is not that anyone gave up', async () => {
    const stage = new Stage()
    stage.upstream.plays(fail('reset'))
    const got = stage.post()
    await stage.finish()
    expect([got.summary, got.header('forbear-exhausted')]).toEqual(['502 reset after 1', null])
  })

  it('after the last attempt is that we gave up', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(fail('reset'))
    const got = stage.get()
    await stage.finish()
    expect([got.summary, got.header('forbear-exhausted')]).toEqual(['502 reset after 2', 'reset'])
  })
})

describe('a loop', () => {
  const passed = (times: number) => ({ headers: { via: new Array(times).fill('1.1 forbear-test').join(', ') } })

  it('is answered at the third pass of the same sidecar', async () => {
    const stage = new Stage()
    const call = stage.get('/', passed(2))
    expect(call.summary).toBe('508 loop after 0')
    expect(stage.upstream.sent).toHaveLength(0)
  })

  it('is not A → B → A, nor a way through other sidecars', async () => {
    const stage = new Stage()
    const once = stage.get('/once', passed(1))
    const others = stage.get('/others', { headers: { via: '1.1 forbear-x, 1.1 forbear-y, 1.1 forbear-z' } })
    await stage.finish()
    expect([once.status, others.status]).toEqual([200, 200])
  })
})

describe('an address that names no upstream', () => {
  it('is answered without calling anyone', async () => {
    const stage = new Stage({}, { invalid: ['broken'] })
    const unknown = stage.get('/nobody/1', { upstream: null })
    const invalid = stage.get('/broken/1', { upstream: null })
    const port = stage.get('/', { upstream: 'broken' })
    const known = stage.get('/api/x?y=1', { upstream: null })
    await stage.finish()
    expect(unknown.summary).toBe('404 no-route after 0')
    expect(invalid.summary).toBe('503 no-policy after 0')
    expect(port.summary).toBe('503 no-policy after 0')
    expect(known.status).toBe(200)
    expect(known.path).toBe('/x?y=1')
    expect(stage.upstream.sent).toHaveLength(1)
  })
})
