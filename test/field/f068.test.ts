import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const THROTTLED = reply(429, { headers: { 'Retry-After': '1' } })
const once = { headers: { 'forbear-max-attempts': '1' } }

describe('F068 answers of 429 open the breaker, and no request gets through (dapr#5862)', () => {
  it('half of the calls of ten seconds get 429 with Retry-After: 1: each is repeated after its second, and nothing opens', async () => {
    const stage = new Stage({ budget: { ratio: 1, minPerSecond: 10 } })
    const seen = new Map<string, number>()
    stage.upstream.decides((n, call) => {
      const first = !seen.has(call.path)
      seen.set(call.path, stage.clock.nowMs())
      return first && n % 2 === 0 ? THROTTLED : reply(200)
    })
    for (let n = 0; n < 100; n++) {
      stage.get(`/${n}`)
      await stage.run(100)
    }
    await stage.finish()
    expect(stage.transitions).toEqual([])
    expect(stage.calls.every(call => call.status === 200)).toBe(true)
    for (const sent of stage.upstream.sent) {
      if (sent.fields['forbear-attempt'] !== '2') continue
      const first = stage.upstream.sent.find(other => other.call === sent.call)
      expect(sent.atMs - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000)
    }
  })

  it('within the default budget: what it does not grant comes back as 429 with its Retry-After', async () => {
    const stage = new Stage({ retry: { maxAttempts: 2 } })
    stage.upstream.plays(THROTTLED)
    for (let n = 0; n < 100; n++) {
      stage.get(`/${n}`)
      await stage.run(100)
    }
    await stage.finish()
    expect(stage.transitions).toEqual([])
    expect(stage.upstream.sent.length - 100).toBeLessThanOrEqual(10)
    for (const call of stage.calls) expect([call.status, call.header('Retry-After')]).toEqual([429, '1'])
  })

  it('a thousand of them in a row leave it closed, with and without the header', async () => {
    for (const play of [THROTTLED, reply(429)]) {
      const stage = new Stage()
      stage.upstream.plays(play)
      for (let n = 0; n < 1_000; n++) {
        stage.get(`/${n}`, once)
        await stage.run(10)
      }
      expect(stage.transitions).toEqual([])
    }
  })

  it('a 429 ends a run of failures: the upstream lives', async () => {
    const stage = new Stage()
    stage.upstream.decides(n => reply(n % 5 === 4 ? 429 : 503))
    for (let n = 0; n < 15; n++) {
      stage.get(`/${n}`, once)
      await stage.run(50)
    }
    expect(stage.transitions).toEqual([])
  })

  it('is not repeated for a POST without a key, nor past the deadline, and comes back as it is', async () => {
    const stage = new Stage()
    stage.upstream.plays(THROTTLED)
    const calls = [stage.post(), stage.get('/hurried', { headers: { 'forbear-timeout-ms': '900' } })]
    await stage.run(20)
    expect(calls.map(call => call.summary)).toEqual(['429 not-repeatable after 1', '429 retry-after-too-long after 1'])
  })

  it('without a hint backs off by the throttled settings, from 1 s', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(429), reply(503), reply(200))
    stage.get()
    await stage.finish()
    const [first = 0, second = 0, third = 0] = stage.upstream.times
    expect([second - first, third - second]).toEqual([1_010, 410])
  })

  it('fails a probe, so that an upstream which comes back throttling is not flooded', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    await stage.run(1_000)
    stage.upstream.plays(THROTTLED)
    const probe = stage.get('/probe')
    await stage.run(20)
    expect([probe.status, stage.status().breaker.state]).toEqual([429, 'open'])
  })
})
