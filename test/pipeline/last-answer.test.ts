import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

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

  it('replaces the one before it, of which nothing more is read', async () => {
    const stage = new Stage({ retry: { maxAttempts: 3 } })
    stage.upstream.plays(reply(503, { bodyMs: 60_000 }), reply(503, { body: 'second' }), fail('connect'))
    const call = stage.get()
    await stage.run(230)
    expect(stage.upstream.sent[0]?.aborted).toBe(true)
    await stage.finish()
    expect(call.text).toBe('second')
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
