import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { hang, reply } from './support/upstream.js'

checkEveryEnding()

describe('the attempt clock', () => {
  it('ends an attempt as attempt-timeout, and another may follow', async () => {
    const stage = new Stage({ timeouts: { attemptMs: 1000 } })
    stage.upstream.plays(hang(), reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(stage.upstream.times).toEqual([0, 1200])
    expect(stage.upstream.sent[0]?.aborted).toBe(true)
    expect(stage.of('attempt-finished').map(event => event.result)).toEqual(['timeout', 'response'])
    expect(stage.upstream.settled).toMatchObject([{ failed: true }, { failed: false }])
  })

  it('begins at the end of the request body, so that a long upload is not cut', async () => {
    const stage = new Stage({ timeouts: { attemptMs: 1000 } })
    stage.upstream.plays(reply(200, { afterMs: 10_500 }))
    const call = stage.call('PUT', '/', { bodyBytes: 10, uploading: true })
    await stage.run(10_000)
    call.body?.end()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
  })

  it('takes an answer that comes just before its end', async () => {
    const stage = new Stage({ timeouts: { attemptMs: 12_001 } })
    stage.upstream.plays(reply(200, { afterMs: 12_000 }))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
  })

  it('does not run for a long poll', async () => {
    const stage = new Stage({ longPoll: true, timeouts: { attemptMs: 1000 } })
    stage.upstream.plays(reply(200, { afterMs: 29_000 }))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    expect(stage.status().latencyMs.p95).toBe(null)
  })

  it('defaults to total: one silent attempt is attempt-timeout and counts against the upstream', async () => {
    const stage = new Stage()
    stage.upstream.plays(hang())
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('504 attempt-timeout after 1')
    expect(call.answeredAtMs).toBe(30_000)
    expect(stage.status().breaker.failuresInARow).toBe(1)
  })
})

describe('the deadline', () => {
  it('ends a running attempt as deadline', async () => {
    const stage = new Stage({ timeouts: { totalMs: 5000 } })
    stage.upstream.plays(reply(503, { body: 'x'.repeat(20_000) }), hang())
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('504 deadline after 2')
    expect(call.answeredAtMs).toBe(5000)
    expect(call.header('forbear-exhausted')).toBe('deadline')
    expect(stage.of('attempt-finished').map(event => event.result)).toEqual(['response', 'deadline'])
    expect(stage.upstream.sent[1]?.aborted).toBe(true)
  })

  it('gives the app the last upstream answer where there is one', async () => {
    const stage = new Stage({ timeouts: { totalMs: 5000 } })
    stage.upstream.plays(reply(503, { body: 'first' }), hang())
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 deadline after 2')
    expect(call.text).toBe('first')
  })

  it('starts at the end of the request body', async () => {
    const stage = new Stage({ timeouts: { totalMs: 1000, attemptMs: 1000 } })
    stage.upstream.plays(hang())
    const call = stage.call('PUT', '/', { bodyBytes: 10, uploading: true })
    await stage.run(60_000)
    expect(call.summary).toBe('waiting')
    call.body?.end()
    await stage.finish()
    expect(call.answeredAtMs).toBe(61_000)
  })

  it('never cuts an answer that has begun', async () => {
    const stage = new Stage({ timeouts: { totalMs: 1000 } })
    stage.upstream.plays(reply(200, { bodyMs: 60_000 }))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    expect(stage.finishedOf(call)).toMatchObject({ durationMs: 60_010, headMs: 10 })
  })

  it('of the app only tightens that of the policy, and each attempt carries what is left', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503), reply(200))
    stage.get('/tight', { headers: { 'forbear-timeout-ms': '2000' } })
    await stage.finish()
    stage.get('/loose', { headers: { 'forbear-timeout-ms': '90000' } })
    await stage.finish()
    expect(stage.upstream.sent.map(sent => sent.fields['forbear-timeout-ms'])).toEqual(['2000', '1790', '30000'])
  })

  it('may be absent: then nothing ends a silent attempt but the app, and no time left is told', async () => {
    const stage = new Stage({ timeouts: { totalMs: Number.POSITIVE_INFINITY, attemptMs: Number.POSITIVE_INFINITY } })
    stage.upstream.plays(hang())
    const call = stage.get()
    await stage.run(3_600_000)
    expect(call.summary).toBe('waiting')
    expect(stage.upstream.sent[0]?.fields['forbear-timeout-ms']).toBeUndefined()
    call.hangUp()
  })
})

describe("the app's own short deadline", () => {
  const failuresAfter = async (timeoutMs: number, answersMs: number) => {
    const stage = new Stage()
    stage.upstream.plays(reply(200, { afterMs: answersMs }), hang())
    stage.get('/known')
    await stage.finish()
    const call = stage.get('/short', { headers: { 'forbear-timeout-ms': String(timeoutMs) } })
    await stage.finish()
    expect(call.summary).toBe('504 deadline after 1')
    return stage.status().breaker.failuresInARow
  }

  it('says nothing about the upstream when it cuts within a second', async () => {
    expect(await failuresAfter(900, 10)).toBe(0)
    expect(await failuresAfter(1100, 10)).toBe(1)
  })

  it('says nothing within twice the 95th percentile either', async () => {
    expect(await failuresAfter(3500, 2000)).toBe(0)
    expect(await failuresAfter(4500, 2000)).toBe(1)
  })

  it('does not pass for the clock of the attempt when the call had to wait first', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.playsByPath({ '/hog': [reply(200, { bodyMs: 29_900 })], '/late': [hang()] })
    stage.get('/hog')
    const late = stage.get('/late')
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 29_910])
    expect(late.summary).toBe('504 deadline after 1')
    expect(stage.status().breaker.failuresInARow).toBe(0)
  })
})

describe('the response clock', () => {
  it('cuts the whole answer, and that is a failure of the upstream', async () => {
    const stage = new Stage({ timeouts: { responseMs: 5000 } })
    stage.upstream.plays(reply(200, { bodyMs: 60_000 }))
    const call = stage.get()
    await stage.run(5000)
    expect(call.summary).toBe('destroyed')
    expect(stage.upstream.sent[0]?.aborted).toBe(true)
    expect(stage.finishedOf(call)).toMatchObject({ outcome: 'cut', durationMs: 5000 })
    expect(stage.status().breaker.failuresInARow).toBe(1)
  })

  it('begins with the end of the request body, as the others do, and not anew with an attempt', async () => {
    const stage = new Stage({ timeouts: { responseMs: 5000, totalMs: Number.POSITIVE_INFINITY } })
    stage.upstream.playsByPath({
      '/fits': [reply(503), reply(200, { bodyMs: 4700 })],
      '/late': [reply(503), reply(200, { bodyMs: 4800 })],
    })
    const uploading = { headers: { 'idempotency-key': 'k' }, uploading: true }
    const [fits, late] = [stage.post('/fits', uploading), stage.post('/late', uploading)]
    await stage.run(60_000)
    for (const call of [fits, late]) call.body?.end()
    await stage.run(5100)
    // 10 ms each to two heads and 200 ms of back-off are part of it.
    expect([fits.summary, late.summary]).toEqual(['200 delivered after 2', 'destroyed'])
  })

  it('is none of the upstream’s when the app does not read', async () => {
    const stage = new Stage({ timeouts: { responseMs: 5000 } })
    stage.upstream.plays(reply(200, { bodyMs: 60_000, byApp: true }))
    const call = stage.get()
    await stage.run(5000)
    expect([call.summary, stage.finishedOf(call).outcome]).toEqual(['destroyed', 'cut'])
    expect(stage.status().breaker.failuresInARow).toBe(0)
  })
})

describe('the other clocks', () => {
  it('are handed to the transport', async () => {
    const stage = new Stage({ timeouts: { connectMs: 123, idleMs: 456 } })
    stage.get()
    await stage.finish()
    expect(stage.upstream.sent[0]?.request).toMatchObject({ connectTimeoutMs: 123, idleTimeoutMs: 456 })
  })
})
