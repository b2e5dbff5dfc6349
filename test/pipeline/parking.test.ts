import { describe, expect, it } from 'vitest'
import { PARK, ScriptedParking } from './support/parking.js'
import type { PolicyPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const ASYNC = { 'Idempotency-Key': 'k1', Prefer: 'respond-async' }

function staged(policy: PolicyPart = {}): { stage: Stage; parking: ScriptedParking } {
  const parking = new ScriptedParking()
  const stage = new Stage({ park: PARK, retry: { maxAttempts: 2 }, ...policy }, { parking })
  parking.clock = stage.clock
  return { stage, parking }
}

describe('a call that failed for good', () => {
  it('is answered 202 once it is stored, and not before', async () => {
    const { stage, parking } = staged()
    parking.takesMs = 50
    stage.upstream.plays(reply(503))
    const call = stage.post('/orders', { headers: ASYNC })
    await stage.run(250)
    expect([parking.taken.length, call.summary]).toEqual([1, 'waiting'])
    await stage.run(50)
    expect(call.summary).toBe('202 parked after 2')
    expect(call.header('location')).toBe('http://admin/parked/e1')
    expect(JSON.parse(call.text)).toMatchObject({ parked: 'e1', status: 202 })
    expect(parking.taken[0]).toMatchObject({
      upstream: 'api',
      method: 'POST',
      path: '/orders',
      outcome: 'retries-exhausted',
    })
    expect(parking.taken[0]?.body.byteLength).toBe(100)
    expect(stage.finishedOf(call)).toMatchObject({ status: 202, outcome: 'parked', denied: 'retries-exhausted' })
  })

  it.each([
    ['reset', fail('reset'), '202 parked after 2'],
    ['nobody there', fail('connect'), '202 parked after 2'],
    ['silence', hang(), '202 parked after 2'],
    [
      'an answer that another layer gave up on',
      reply(503, { headers: { 'forbear-exhausted': 'reset' } }),
      '202 parked after 1',
    ],
    ['a hint too long to wait for', reply(503, { headers: { 'retry-after': '3600' } }), '202 parked after 1'],
  ] as const)('is parked after %s', async (_, play, summary) => {
    const { stage } = staged({ timeouts: { attemptMs: 1000 } })
    stage.upstream.plays(play)
    const call = stage.post('/', { headers: ASYNC })
    await stage.finish()
    expect(call.summary).toBe(summary)
  })

  it('tells the store how long the upstream asked to wait', async () => {
    const { stage, parking } = staged()
    stage.upstream.plays(reply(503, { headers: { 'retry-after': '3600' } }))
    stage.post('/', { headers: ASYNC })
    await stage.finish()
    expect(parking.taken[0]).toMatchObject({ retryAfterMs: 3_600_000, outcome: 'retry-after-too-long' })
  })

  it('is answered with the failure when the upstream asks to wait for longer than it would be kept', async () => {
    const { stage, parking } = staged({ park: { ...PARK, maxAgeMs: 60_000 } })
    stage.upstream.plays(reply(503, { headers: { 'retry-after': '3600' } }))
    const call = stage.post('/', { headers: ASYNC })
    await stage.finish()
    expect([call.summary, parking.taken]).toEqual(['503 retry-after-too-long after 1', []])
  })

  it('is parked though its policy never retries', async () => {
    const { stage, parking } = staged({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(reply(503))
    const call = stage.post('/', { headers: ASYNC })
    await stage.finish()
    expect([call.summary, parking.taken[0]?.body.byteLength]).toEqual(['202 parked after 1', 100])
  })

  it('is parked when the breaker refuses it, also while its body is still coming in', async () => {
    const { stage, parking } = staged({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const call = stage.post('/a', { headers: ASYNC, uploading: true })
    await stage.run(100)
    expect(call.summary).toBe('waiting')
    call.body?.end()
    await stage.run(10)
    expect([call.summary, parking.taken[0]?.body.byteLength]).toEqual(['202 parked after 0', 100])
    await stage.finish()
  })

  it('is answered with the failure when its body does not come', async () => {
    const { stage, parking } = staged({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const call = stage.post('/a', { headers: ASYNC, uploading: true })
    await stage.run(1010)
    expect([call.summary, parking.taken.length]).toEqual(['503 breaker-open after 0', 0])
    call.body?.end()
  })

  it('is answered with the failure of the upstream when there is no room, when it is too large and when the store fails', async () => {
    const { stage, parking } = staged({ retry: { maxAttempts: 2, maxBodyBytes: 1000 } })
    stage.upstream.plays(reply(503, { body: 'sorry' }))
    parking.room = false
    const full = stage.post('/full', { headers: ASYNC })
    await stage.finish()
    parking.room = true
    const large = stage.post('/large', { headers: ASYNC, bodyBytes: 1001 })
    await stage.finish()
    parking.works = false
    const broken = stage.post('/broken', { headers: ASYNC })
    await stage.finish()
    expect([full.summary, full.text]).toEqual(['503 retries-exhausted after 2', 'sorry'])
    expect([large.summary, large.text]).toEqual(['503 body-too-large after 1', 'sorry'])
    expect([broken.summary, broken.text]).toEqual(['503 retries-exhausted after 2', 'sorry'])
    expect(parking.taken).toHaveLength(1)
  })

  it('waits for the rest of the failed answer before it passes that on', async () => {
    const { stage, parking } = staged({ retry: { maxAttempts: 1 } })
    parking.works = false
    stage.upstream.plays(reply(503, { body: 'late', bodyMs: 300 }))
    const call = stage.post('/', { headers: ASYNC })
    await stage.finish()
    expect([call.summary, call.text]).toEqual(['503 retries-exhausted after 1', 'late'])
  })

  it('is taken back when the app leaves before its 202', async () => {
    const { stage, parking } = staged()
    parking.takesMs = 100
    stage.upstream.plays(fail('connect'))
    const call = stage.post('/', { headers: ASYNC })
    await stage.run(300)
    call.hangUp()
    await stage.run(100)
    expect([call.summary, parking.takenBack]).toEqual(['gone', ['e1']])
    expect(stage.finishedOf(call)).toMatchObject({ status: 499, outcome: 'aborted' })
  })

  it('is left alone by deadline and drain while it is stored', async () => {
    const { stage, parking } = staged({ timeouts: { totalMs: 1000, attemptMs: 1000 } })
    parking.takesMs = 2000
    stage.upstream.plays(fail('connect'))
    const call = stage.post('/', { headers: ASYNC })
    await stage.run(1500)
    stage.pipeline.drain()
    await stage.run(1000)
    expect(call.summary).toBe('202 parked after 2')
  })

  it('is not parked without a key, without the wish of its app, or when it may well succeed by another request', async () => {
    const { stage, parking } = staged()
    stage.upstream.plays(reply(503))
    stage.post('/a', { headers: { Prefer: 'respond-async' } })
    stage.post('/b', { headers: { 'Idempotency-Key': 'k' } })
    stage.get('/c', { headers: ASYNC })
    await stage.finish()
    stage.upstream.plays(reply(400))
    stage.post('/d', { headers: ASYNC })
    await stage.finish()
    expect(parking.taken).toEqual([])
  })
})

describe('a success', () => {
  it('is told to the store, so that older entries may go', async () => {
    const { stage, parking } = staged()
    stage.upstream.playsByPath({ '/bad': [reply(400)] }, reply(200))
    stage.post('/orders', { headers: ASYNC })
    stage.post('/bad', { headers: ASYNC })
    stage.get('/orders')
    await stage.finish()
    expect(parking.successes).toEqual([
      expect.objectContaining({ upstream: 'api', method: 'POST', path: '/orders', key: 'idempotency-key: k1' }),
    ])
  })
})

describe('beside other mechanisms', () => {
  const fallback: PolicyPart = { fallback: { when: new Set(['retries-exhausted']), methods: new Set(['POST']) } }

  it('a call is parked rather than answered with the fallback', async () => {
    const { stage } = staged(fallback)
    stage.upstream.plays(reply(503))
    const call = stage.post('/', { headers: ASYNC })
    await stage.finish()
    expect([call.summary, stage.of('fallback-given')]).toEqual(['202 parked after 2', []])
  })

  it.each([
    ['cannot take it', { room: false }],
    ['fails to take it', { works: false }],
  ])('the app gets the fallback when the store %s', async (_, broken) => {
    const { stage, parking } = staged(fallback)
    Object.assign(parking, broken)
    stage.upstream.plays(reply(503))
    const call = stage.post('/', { headers: ASYNC })
    await stage.finish()
    expect(call.summary).toBe('200 fallback after 2')
    expect(stage.of('fallback-given')).toHaveLength(1)
  })

  it('the answer of a hedge is a success that may make parked calls void', async () => {
    const hedge = { mode: 'enabled', after: { kind: 'fixed', delayMs: 50 }, keyedWrites: true } as const
    const { stage, parking } = staged({ hedge })
    stage.upstream.plays(hang(), reply(200))
    const call = stage.post('/orders', { headers: ASYNC })
    await stage.finish()
    expect([call.summary, parking.successes.length]).toEqual(['200 hedge-won after 2', 1])
  })
})
