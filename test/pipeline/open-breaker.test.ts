import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { hang, reply } from './support/upstream.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }

describe('an open breaker', () => {
  it('refuses at once with the time left', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const sent = stage.upstream.sent.length
    const call = stage.get('/refused')
    expect(call.summary).toBe('503 breaker-open after 0')
    expect(call.header('retry-after')).toBe('1')
    expect(call.header('forbear-exhausted')).toBe('breaker-open')
    expect(stage.upstream.sent).toHaveLength(sent)
  })

  it('ends a retry loop, and the app gets the last answer', async () => {
    const stage = new Stage()
    stage.upstream.playsByPath({ '/slow': [reply(503, { afterMs: 300, body: 'the last' })] }, reply(503))
    const slow = stage.get('/slow')
    await stage.openBreaker()
    await stage.run(200)
    expect(slow.summary).toBe('503 breaker-open after 1')
    expect(slow.text).toBe('the last')
  })

  it('ends the back-offs that would wake before its probe, and gives their tickets back', async () => {
    const stage = new Stage()
    stage.upstream.playsByPath({ '/waits': [reply(503, { body: 'held', afterMs: 95 }), reply(200)] }, reply(503))
    const before = stage.balance
    const waits = stage.get('/waits')
    for (let n = 0; n < 9; n++) {
      stage.get(`/${n}`, once)
      await stage.run(10)
    }
    await stage.run(10)
    expect(waits.summary).toBe('waiting')
    expect(stage.balance).toBe(before - 1)
    stage.get('/last-straw', once)
    await stage.run(10)
    expect(stage.transitions).toEqual(['open: consecutive-failures'])
    expect(waits.summary).toBe('503 breaker-open after 1')
    expect(waits.text).toBe('held')
    expect(stage.balance).toBe(before)
  })

  it('lets a back-off go on that wakes after it, for the retry may then be let through', async () => {
    const stage = new Stage()
    const hint = { 'Retry-After': '5' }
    stage.upstream.playsByPath({ '/waits': [reply(503, { headers: hint }), reply(200)] }, reply(503))
    const waits = stage.get('/waits')
    await stage.openBreaker()
    expect(waits.summary).toBe('waiting')
    await stage.finish()
    expect(waits.summary).toBe('200 delivered after 2')
    expect(stage.transitions.at(-1)).toBe('closed: probe-succeeded')
  })

  it('ends the queueing of a retry, but not that of a call of which nothing was sent', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 }, breaker: { consecutiveFailures: 2 } })
    const plays = { '/retry': [reply(503, { body: 'held' })], '/hog': [reply(503, { afterMs: 500 })] } as const
    stage.upstream.playsByPath(plays, reply(200))
    const before = stage.balance
    const retry = stage.get('/retry')
    await stage.run(10)
    stage.get('/hog', once)
    await stage.run(300)
    const first = stage.get('/first')
    expect(stage.status().waiting).toBe(2)
    await stage.run(200)
    expect(stage.transitions).toEqual(['open: consecutive-failures'])
    expect(retry.summary).toBe('503 breaker-open after 1')
    expect(retry.text).toBe('held')
    expect(stage.balance).toBe(before)
    // It had its turn when the slot was free, and was refused like any newcomer.
    expect(first.summary).toBe('503 breaker-open after 0')
  })

  it('ends the queueing of a retry also when no slot gets free', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(503, { body: 'held' }), reply(200, { bodyMs: 10_000 }))
    const retry = stage.get('/retry')
    await stage.run(50)
    stage.get('/hog')
    await stage.run(500)
    stage.pipeline.forceBreaker('api', 'open')
    expect(retry.summary).toBe('503 breaker-open after 1')
    stage.pipeline.forceBreaker('api', 'closed')
  })

  it('sends single probes, of which a good one closes it', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    const opened = stage.clock.nowMs()
    stage.upstream.plays(reply(200, { afterMs: 100 }))
    await stage.run(750)
    const sent = stage.upstream.sent.length
    const probe = stage.get('/probe')
    const other = stage.get('/other')
    expect(other.summary).toBe('503 breaker-open after 0')
    await stage.run(100)
    expect(probe.summary).toBe('200 delivered after 1')
    expect(stage.upstream.sent).toHaveLength(sent + 1)
    expect(stage.upstream.times.at(-1)).toBeGreaterThanOrEqual(opened + 740)
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('does not retry a probe that failed', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    await stage.run(1000)
    const probe = stage.get('/probe')
    await stage.run(5000)
    expect(probe.summary).toBe('503 breaker-open after 1')
    expect(stage.transitions).toEqual([
      'open: consecutive-failures',
      'half-open: time',
      'open: probe-failed',
      'half-open: time',
    ])
  })

  it('takes 429 for a failed probe and 404 for a good one', async () => {
    for (const [status, last] of [
      [429, 'open: probe-failed'],
      [404, 'closed: probe-succeeded'],
    ] as const) {
      const stage = new Stage()
      stage.upstream.plays(reply(503))
      await stage.openBreaker()
      stage.upstream.plays(reply(status))
      await stage.run(1000)
      stage.get('/probe', once)
      await stage.run(20)
      expect(stage.transitions.at(-1)).toBe(last)
    }
  })

  it('gives a probe that the app left to the next call', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(hang(), reply(200))
    await stage.run(1000)
    const left = stage.get('/left')
    await stage.run(10)
    left.hangUp()
    const next = stage.get('/next')
    await stage.run(10)
    expect(next.summary).toBe('200 delivered after 1')
    expect(stage.transitions.at(-1)).toBe('closed: probe-succeeded')
  })

  it('is not wedged by a probe that is never answered', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(hang(), reply(200))
    await stage.run(1000)
    stage.get('/silent')
    await stage.run(999)
    expect(stage.get('/too-early').summary).toBe('503 breaker-open after 0')
    await stage.run(1)
    const next = stage.get('/next')
    await stage.run(10)
    expect(next.summary).toBe('200 delivered after 1')
  })

  it('rather takes a first attempt than a retry for its probe, but a retry if nothing else comes', async () => {
    const stage = new Stage()
    const hinted = reply(503, { headers: { 'Retry-After': '1' } })
    stage.upstream.playsByPath({ '/retry': [hinted, reply(200)] }, reply(503))
    const retry = stage.get('/retry')
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    await stage.finish()
    expect(retry.summary).toBe('200 delivered after 2')
    const halfOpenAtMs = 200 + 750
    expect(stage.upstream.times.at(-1)).toBeGreaterThanOrEqual(halfOpenAtMs + 200)
  })
})

describe('a call that a half-open breaker would rather not have for its probe', () => {
  const halfOpen = async () => {
    const stage = new Stage(
      {},
      { upstreams: [{ routes: [{ name: 'poll', path: '/poll', policy: { longPoll: true } }] }] },
    )
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.plays(reply(200))
    await stage.run(1000)
    return stage
  }

  it('such as a long poll, waits a moment for a first attempt', async () => {
    const stage = await halfOpen()
    const before = stage.upstream.sent.length
    stage.get('/first')
    const poll = stage.get('/poll')
    expect(poll.summary).toBe('waiting')
    await stage.finish()
    expect(stage.upstream.paths.slice(before)).toEqual(['/first', '/poll'])
    expect(poll.summary).toBe('200 delivered after 1')
  })

  it('is refused when that happens too often', async () => {
    const stage = await halfOpen()
    stage.upstream.plays(hang())
    const firsts = [stage.get('/first-1')]
    const poll = stage.get('/poll')
    for (let n = 2; poll.summary === 'waiting' && n < 9; n++) {
      await stage.run(999)
      firsts.push(stage.get(`/first-${n}`))
      await stage.run(1)
      firsts.push(stage.get(`/first-${n}-b`))
    }
    expect(poll.summary).toBe('503 breaker-open after 0')
    for (const first of firsts) first.hangUp()
  })
})

describe('a back-off that is over', () => {
  it('asks the breaker once more, which has opened anew in the meantime', async () => {
    const stage = new Stage()
    const held = reply(503, { headers: { 'Retry-After': '2' }, body: 'held' })
    stage.upstream.playsByPath({ '/waits': [held] }, reply(503))
    const waits = stage.get('/waits')
    await stage.openBreaker()
    for (let n = 0; waits.summary === 'waiting' && n < 100; n++) {
      stage.get(`/probe-${n}`, once)
      await stage.run(50)
    }
    expect(waits.summary).toBe('503 breaker-open after 1')
    expect(waits.text).toBe('held')
    expect(stage.upstream.paths.filter(path => path === '/waits')).toHaveLength(1)
  })
})

describe('a probe', () => {
  it('bypasses the queue for a slot', async () => {
    const stage = new Stage({ limits: { maxInFlight: 2 } })
    stage.upstream.playsByPath({ '/hog': [reply(200, { bodyMs: 10_000 })] }, reply(503))
    stage.get('/hog')
    await stage.run(10)
    await stage.openBreaker()
    stage.upstream.plays(hang(), reply(200))
    await stage.run(1000)
    const silent = stage.get('/silent')
    await stage.run(1000)
    expect(stage.status().inFlight).toBe(2)
    const probe = stage.get('/probe')
    await stage.run(10)
    expect(probe.summary).toBe('200 delivered after 1')
    silent.hangUp()
  })
})
