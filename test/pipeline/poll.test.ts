import { describe, expect, it } from 'vitest'
import type { PollSettings } from '../../src/core/poll.js'
import type { PolicyPart, UpstreamPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

/** 1 s, 2 s, 4 s … 60 s between polls, for 5 m. */
const POLL: PollSettings = {
  until: { statuses: new Set([200]), json: null },
  backoff: { kind: 'exponential', baseMs: 1000, factor: 2, capMs: 60_000, jitter: { kind: 'none' } },
  maxWaitMs: 300_000,
}
const BY_JSON: PollSettings = {
  ...POLL,
  until: { statuses: null, json: { keys: ['status'], test: { kind: 'in', values: ['done', 'failed'] } } },
}
const upstreamOf = (poll: PollSettings | null, policy: PolicyPart = {}): UpstreamPart => ({
  policy,
  routes: [{ name: 'job', path: '/job', policy: { ...policy, poll } }],
})
const stageOf = (poll: PollSettings = POLL, policy: PolicyPart = {}, random = () => 0.5) =>
  new Stage({}, { upstreams: [upstreamOf(poll, policy)], random })
const json = (document: unknown, headers: Record<string, string> = {}) =>
  reply(200, { body: JSON.stringify(document), headers: { 'content-type': 'application/json', ...headers } })
const resultsOf = (stage: Stage) => stage.of('poll-judged').map(({ result }) => result)

describe('a polled call', () => {
  it('is repeated with growing waits until its status is the one waited for', async () => {
    const stage = stageOf()
    stage.upstream.plays(reply(202), reply(202), reply(202), reply(200))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 4')
    expect(call.header('forbear-polls')).toBe('4')
    expect(call.header('preference-applied')).toBe(null)
    expect(stage.upstream.times).toEqual([0, 1010, 3020, 7030])
    expect(resultsOf(stage)).toEqual(['repeated', 'repeated', 'repeated', 'done'])
    expect(stage.finishedOf(call)).toMatchObject({ attempts: 4, polls: 4, waitedMs: 7000, outcome: 'delivered' })
  })

  it('sends every poll as a first attempt', async () => {
    const stage = stageOf()
    stage.upstream.plays(reply(202), reply(503), reply(202), reply(200))
    stage.get('/job')
    await stage.finish()
    expect(stage.upstream.sent.map(({ fields }) => fields['forbear-attempt'])).toEqual(['1', '1', '2', '1'])
    expect(stage.of('retry-scheduled').map(({ attempt }) => attempt)).toEqual([1])
  })

  it('is repeated until its document says so, and gets that answer unchanged', async () => {
    const stage = stageOf(BY_JSON)
    stage.upstream.plays(json({ status: 'queued' }), json({}), json({ status: 'failed', why: 'x' }, { 'x-a': '1' }))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 3')
    expect(call.text).toBe('{"status":"failed","why":"x"}')
    expect(call.header('x-a')).toBe('1')
    expect(stage.finishedOf(call).headMs).toBe(3030)
  })

  it('asks of the document only where the status is right, too', async () => {
    const stage = stageOf({ ...BY_JSON, until: { ...BY_JSON.until, statuses: new Set([200]) } })
    stage.upstream.plays({ ...json({ status: 'done' }), status: 202 } as never, json({ status: 'done' }))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.header('forbear-polls')).toBe('2')
  })

  it.each([
    ['a page', reply(200, { body: '<html>', headers: { 'content-type': 'text/html' } })],
    ['no type', reply(200, { body: '{"status":"done"}' })],
    ['no JSON', reply(200, { body: '{"status":', headers: { 'content-type': 'application/json' } })],
  ])('polls on after an answer that is %s', async (_, play) => {
    const stage = stageOf(BY_JSON)
    stage.upstream.plays(
      play,
      reply(200, { body: '{"status":"done"}', headers: { 'Content-Type': 'application/problem+json; a=b' } }),
    )
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })

  it.each([404, 401, 410, 400, 500, 303, 304])('ends at %i, which it passes on', async status => {
    const stage = stageOf()
    stage.upstream.plays(reply(202), reply(status, { body: status === 304 ? '' : 'x' }))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe(`${status} delivered after 2`)
    expect(call.header('forbear-polls')).toBe('2')
    expect(resultsOf(stage)).toEqual(['repeated', 'final'])
  })

  it('is done at a 404 where that is waited for', async () => {
    const stage = stageOf({ ...POLL, until: { statuses: new Set([404]), json: null } })
    stage.upstream.plays(reply(200), reply(404))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('404 delivered after 2')
    expect(resultsOf(stage)).toEqual(['repeated', 'done'])
  })

  it('takes a 429 that is not retried for "not yet"', async () => {
    const stage = stageOf(POLL, { retry: { maxAttempts: 1, retryOn: { statuses: new Set() } } })
    stage.upstream.plays(reply(429, { headers: { 'retry-after': '5' } }), reply(200))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(stage.upstream.times[1]).toBeGreaterThanOrEqual(5010)
  })

  it('has no other method, no body and no other route', async () => {
    const stage = stageOf()
    stage.upstream.plays(reply(202))
    const calls = [stage.post('/job'), stage.call('GET', '/job', { bodyBytes: 5 }), stage.get('/other')]
    await stage.finish()
    expect(calls.map(call => [call.summary, call.header('forbear-polls')])).toEqual(
      calls.map(() => ['202 delivered after 1', null]),
    )
  })
})

describe('the waits of a polled call', () => {
  it('are at least what each answer asks for', async () => {
    const stage = stageOf(POLL, {}, () => 0)
    const asks = (seconds: number) => reply(202, { headers: { 'retry-after': String(seconds) } })
    stage.upstream.plays(asks(30), asks(3), asks(7), reply(202), reply(200))
    stage.get('/job')
    await stage.finish()
    // From the third on the back-off of 4 s and 8 s is longer than what was asked for, or shorter.
    expect(stage.upstream.times).toEqual([0, 30_010, 33_020, 40_030, 48_040])
  })

  it('hold no slot, and count as waiting', async () => {
    const stage = stageOf(POLL, { limits: { maxInFlight: 1 } })
    stage.upstream.playsByPath({ '/job': [reply(202)] })
    const calls = Array.from({ length: 20 }, () => stage.get('/job'))
    await stage.run(500)
    expect(stage.status()).toMatchObject({ inFlight: 0, waiting: 20 })
    const other = stage.get('/other')
    await stage.run(10)
    expect(other.summary).toBe('200 delivered after 1')
    for (const call of calls) call.hangUp()
  })

  it('count the answer that is kept against maxWaitingBytes, and end when there is no room', async () => {
    const stage = stageOf(POLL, { limits: { maxWaitingBytes: 1500 } })
    stage.upstream.plays(reply(202, { body: 'x'.repeat(1000) }))
    const [first, second] = [stage.get('/job'), stage.get('/job')]
    await stage.run(100)
    expect(stage.status().waitingBytes).toBe(1000)
    expect(second.summary).toBe('202 poll-pending after 1')
    first.hangUp()
  })

  it('end with the time of the policy, after one last look', async () => {
    const stage = stageOf({ ...POLL, maxWaitMs: 10_000 })
    stage.upstream.plays(reply(202, { body: 'still running', headers: { 'x-a': '1' } }))
    const call = stage.get('/job')
    await stage.finish()
    expect(stage.upstream.times).toEqual([0, 1010, 3020, 7030, 9950])
    expect(call.summary).toBe('202 poll-pending after 5')
    expect([call.text, call.header('x-a'), call.header('forbear-polls')]).toEqual(['still running', '1', '5'])
    expect(call.header('forbear-exhausted')).toBe(null)
    expect(call.answeredAtMs).toBe(9960)
    expect(resultsOf(stage).at(-1)).toBe('pending')
  })

  it('end at once when the upstream asks for more time than there is', async () => {
    const stage = stageOf({ ...POLL, maxWaitMs: 10_000 })
    stage.upstream.plays(reply(202, { headers: { 'retry-after': '20' } }))
    const call = stage.get('/job')
    await stage.run(20)
    expect(call.summary).toBe('202 poll-pending after 1')
    expect(call.header('retry-after')).toBe('20')
  })

  it.each([
    [{ prefer: 'wait=5' }, 5000, 'wait'],
    [{ prefer: 'respond-async, wait=5' }, 5000, 'wait'],
    [{ 'forbear-timeout-ms': '5000' }, 5000, null],
    [{ 'forbear-timeout-ms': '9000', prefer: 'wait=5' }, 5000, 'wait'],
    [{ prefer: 'wait=0' }, 10, 'wait'],
    [{ prefer: 'wait=999999' }, 20_000, 'wait'],
    [{ 'forbear-timeout-ms': '999999' }, 20_000, null],
  ])('end when the app says so in %j', async (headers, atMs, applied) => {
    const stage = stageOf({ ...POLL, maxWaitMs: 20_000 })
    stage.upstream.plays(reply(202))
    const call = stage.get('/job', { headers: headers as Record<string, string> })
    await stage.finish()
    expect(call.outcome).toBe('poll-pending')
    expect(call.answeredAtMs).toBeLessThanOrEqual(atMs)
    expect(call.answeredAtMs).toBeGreaterThanOrEqual(atMs - 60)
    expect(call.header('preference-applied')).toBe(applied)
  })

  it('do not cut the first poll, which has the time of any call', async () => {
    const stage = stageOf()
    stage.upstream.plays(reply(200, { afterMs: 3000 }))
    const call = stage.get('/job', { headers: { prefer: 'wait=1' } })
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
    expect(call.header('preference-applied')).toBe('wait')
  })

  it('may be longer in all than timeouts.total, which each poll has anew', async () => {
    const stage = stageOf(POLL, { timeouts: { totalMs: 5000, attemptMs: 5000 } })
    stage.upstream.plays(
      ...([202, 202, 202, 202, 202, 200].map(status => reply(status, { afterMs: 3000 })) as never as [never]),
    )
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 6')
    expect(stage.upstream.sent.every(({ fields }) => Number(fields['forbear-timeout-ms']) <= 5000)).toBe(true)
  })

  it('cut a repeat that is not answered when the time is up', async () => {
    const stage = stageOf({ ...POLL, maxWaitMs: 10_000 })
    stage.upstream.plays(reply(202), hang())
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('202 poll-pending after 2')
    expect(call.answeredAtMs).toBe(10_000)
    expect(stage.upstream.sent[1]?.aborted).toBe(true)
  })
})

describe('a failed poll', () => {
  it('is retried like any other call, and the polling goes on', async () => {
    const stage = stageOf()
    stage.upstream.plays(reply(202), reply(503), fail('reset'), reply(202), reply(200))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 5')
    expect(call.header('forbear-polls')).toBe('3')
  })

  it('whose retries are used up gives the app the failed answer, or the last one where there is none', async () => {
    const stage = stageOf(POLL, { retry: { maxAttempts: 2 }, budget: { minPerSecond: 100 } })
    stage.upstream.playsByPath({ '/job': [reply(202), reply(503)] })
    const refused = stage.get('/job')
    await stage.finish()
    expect(refused.summary).toBe('503 retries-exhausted after 3')
    stage.upstream.plays(reply(202, { body: 'last' }), fail('connect'))
    const unanswered = stage.get('/job')
    await stage.finish()
    expect(unanswered.summary).toBe('202 poll-pending after 3')
    expect(unanswered.text).toBe('last')
  })

  it('waits for the budget, slower than a retry, and does not fail', async () => {
    const stage = stageOf(POLL, { budget: { ratio: 0, minPerSecond: 0.1, windowMs: 10_000 } })
    stage.upstream.playsByPath({ '/job': [reply(503), reply(503), reply(503), reply(200)] })
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 4')
    const waits = stage.upstream.times.slice(1).map((ms, n) => ms - (stage.upstream.times[n] ?? 0))
    // One retry in ten seconds is all that the budget grants.
    expect(waits[1]! + waits[2]!).toBeGreaterThan(10_000)
    expect(stage.balance).toBeGreaterThanOrEqual(0)
  })

  it('that the budget never pays for ends with the time, and the app gets the failed answer', async () => {
    const stage = stageOf({ ...POLL, maxWaitMs: 20_000 }, { budget: { ratio: 0, minPerSecond: 0 } })
    stage.upstream.plays(reply(503, { body: 'sorry' }))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('503 budget-exhausted after 1')
    expect(call.text).toBe('sorry')
    expect(stage.clock.nowMs()).toBeGreaterThan(15_000)
  })

  it('is answered by the fallback where it failed, not where the last answer said "not yet"', async () => {
    const fallback = { when: new Set(['retries-exhausted', 'deadline', 'connect'] as const), body: 'sorry' }
    const stage = stageOf({ ...POLL, maxWaitMs: 5000 }, { retry: { maxAttempts: 2 }, fallback })
    stage.upstream.plays(reply(202), reply(503))
    const failed = stage.get('/job')
    await stage.finish()
    expect(failed.summary).toBe('200 fallback after 3')
    expect(failed.header('forbear-polls')).toBe('2')
    for (const play of [reply(202), fail('connect')]) {
      stage.upstream.plays(reply(202), play)
      const pending = stage.get('/job')
      await stage.finish()
      expect(pending.outcome).toBe('poll-pending')
    }
  })

  it('feeds the budget and the breaker with every poll that succeeds', async () => {
    const stage = stageOf(
      { ...POLL, backoff: { ...POLL.backoff, kind: 'fixed', baseMs: 100 } },
      { budget: { minPerSecond: 0 } },
    )
    stage.upstream.plays(reply(202))
    const call = stage.get('/job')
    const before = stage.balance
    await stage.run(5000)
    expect(before).toBeLessThan(1)
    // 45 first attempts at a ratio of 0.2.
    expect(stage.balance).toBeGreaterThanOrEqual(8)
    call.hangUp()
  })

  it('that breaks off while it is read is a failure of the upstream and is retried', async () => {
    const stage = stageOf(BY_JSON)
    stage.upstream.plays({ ...json({ status: 'done' }), cut: true, bodyMs: 50 } as never, json({ status: 'done' }))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
    expect(stage.of('attempt-finished').map(({ result }) => result)).toEqual(['response', 'cut', 'response'])
    expect(stage.upstream.settled.map(({ failed }) => failed)).toEqual([false, true, false])
  })

  it('that stands still while it is read is cut by the deadline', async () => {
    const stage = stageOf(BY_JSON, { timeouts: { totalMs: 2000, attemptMs: 1000 } })
    stage.upstream.plays({ ...json({ status: 'done' }), bodyMs: 60_000 } as never)
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('504 deadline after 1')
    expect(call.header('forbear-polls')).toBe('1')
    expect(call.answeredAtMs).toBe(2000)
  })

  it('that the open breaker refuses ends the polling with the last answer', async () => {
    const stage = stageOf(POLL, { breaker: { consecutiveFailures: 3, openForMs: 10_000, maxOpenForMs: 10_000 } })
    stage.upstream.playsByPath({ '/job': [reply(202)] }, reply(503))
    const call = stage.get('/job')
    await stage.run(500)
    await stage.openBreaker()
    await stage.run(1000)
    expect(call.summary).toBe('202 poll-pending after 1')
  })

  it('waits for the breaker where calls ride an outage out', async () => {
    const stage = stageOf(POLL, {
      breaker: { consecutiveFailures: 3, openForMs: 3000, maxOpenForMs: 3000, whenOpen: 'wait' },
    })
    stage.upstream.playsByPath({ '/job': [reply(202), reply(200)] }, reply(503))
    const call = stage.get('/job')
    await stage.run(500)
    await stage.openBreaker()
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })
})

describe('a poll that is hedged', () => {
  const hedge = { mode: 'enabled', after: { kind: 'fixed', delayMs: 50 }, maxHedges: 1 } as const
  const late = reply(202, { afterMs: 5000 })

  it('goes on after the answer of either, and its next poll may be hedged again', async () => {
    const stage = stageOf(POLL, { hedge, budget: { minPerSecond: 100 } })
    stage.upstream.plays(late, reply(202), late, reply(200))
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 hedge-won after 4')
    expect(call.header('forbear-polls')).toBe('2')
    expect(stage.finishedOf(call)).toMatchObject({ attempts: 4, hedges: 2, polls: 2 })
    expect(stage.upstream.sent.map(({ fields }) => fields['forbear-attempt'])).toEqual(['1', '1', '1', '1'])
  })

  it('ends by the deadline and by the app while the answer that won is read', async () => {
    const stage = stageOf(BY_JSON, {
      hedge,
      budget: { minPerSecond: 100 },
      timeouts: { totalMs: 2000, attemptMs: 1500 },
    })
    stage.upstream.plays(late, { ...json({ status: 'done' }), bodyMs: 60_000 } as never)
    const cut = stage.get('/job')
    await stage.finish()
    expect([cut.summary, cut.answeredAtMs]).toEqual(['504 deadline after 2', 2000])
    expect(stage.of('hedge-decided').map(({ result }) => result)).toEqual(['won'])
    stage.upstream.plays(late, { ...json({ status: 'done' }), bodyMs: 60_000 } as never)
    const left = stage.get('/job')
    await stage.run(500)
    left.hangUp()
    expect(stage.upstream.open).toBe(0)
  })
})

describe('a document that cannot be read', () => {
  it.each([
    ['larger than 64 KiB', reply(200, { body: 'x'.repeat(70_000), headers: { 'content-type': 'application/json' } })],
    ['in an unknown coding', json({ status: 'done' }, { 'content-encoding': 'zstd' })],
    ['no gzip, against its word', json({ status: 'done' }, { 'content-encoding': 'gzip' })],
  ])('because it is %s is passed on as it is, with a line in the log', async (_, play) => {
    const stage = stageOf(BY_JSON)
    stage.upstream.plays(play)
    const call = stage.get('/job')
    await stage.finish()
    expect(call.summary).toBe('200 poll-pending after 1')
    expect(call.text).toBe((play as { body: string }).body)
    expect(stage.of('notice')).toEqual([
      expect.objectContaining({ level: 'warn', detail: { upstream: 'api', route: 'job', path: '/job' } }),
    ])
  })
})

describe('a polling ends', () => {
  it('when the app hangs up, in a wait and while an answer is read', async () => {
    const stage = stageOf(BY_JSON)
    stage.upstream.plays(json({ status: 'queued' }), { ...json({ status: 'queued' }), bodyMs: 500 } as never)
    const waiting = stage.get('/job')
    await stage.run(500)
    waiting.hangUp()
    const reading = stage.get('/job')
    await stage.run(100)
    reading.hangUp()
    await stage.run(60_000)
    expect(stage.upstream.sent).toHaveLength(2)
    expect(stage.of('request-finished').map(({ outcome, status }) => `${status} ${outcome}`)).toEqual([
      '499 aborted',
      '499 aborted',
    ])
  })

  it('with the last answer at its next repeat once we are leaving, or at once when the drain period is over', async () => {
    const stage = stageOf()
    stage.upstream.plays(reply(202))
    const soon = stage.get('/job')
    await stage.run(500)
    stage.pipeline.draining = true
    await stage.run(600)
    expect(soon.summary).toBe('202 poll-pending after 1')
    stage.pipeline.draining = false
    const later = stage.get('/job')
    await stage.run(20)
    stage.pipeline.drain()
    expect(later.summary).toBe('202 poll-pending after 1')
  })

  it('when an edit takes the poll away, or the time, or the upstream', async () => {
    const upstreams: UpstreamPart[][] = [[upstreamOf(null)], [upstreamOf({ ...POLL, maxWaitMs: 600 })], []]
    for (const edit of upstreams) {
      const stage = stageOf()
      stage.upstream.plays(reply(202))
      const call = stage.get('/job')
      await stage.run(500)
      stage.apply(edit)
      expect(call.summary).toBe('waiting')
      await stage.run(600)
      expect(call.summary).toBe('202 poll-pending after 1')
    }
  })

  it('not when an edit gives it more time than it had, nor by other conditions', async () => {
    const stage = stageOf({ ...POLL, maxWaitMs: 5000 })
    stage.upstream.plays(reply(202))
    const call = stage.get('/job')
    await stage.run(500)
    stage.apply([upstreamOf({ ...POLL, until: { statuses: new Set([202]), json: null } })])
    await stage.finish()
    expect(call.outcome).toBe('poll-pending')
    expect(call.answeredAtMs).toBeLessThanOrEqual(5000)
    expect(stage.upstream.sent.length).toBeGreaterThan(2)
  })

  it('not by the kill switch, which is for retries', async () => {
    const stage = stageOf()
    stage.upstream.plays(reply(202), reply(200))
    const call = stage.get('/job')
    await stage.run(500)
    stage.pipeline.switches.turnRetriesOff(60_000)
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 2')
  })
})
