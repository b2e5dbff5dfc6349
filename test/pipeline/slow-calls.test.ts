import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const slowCall = { afterMs: 1000, ratio: 0.5 }
const slow = reply(200, { afterMs: 1500 })

async function offer(stage: Stage, count: number, everyMs = 50): Promise<void> {
  for (let n = 0; n < count; n++) {
    stage.get(`/${stage.calls.length}`, { headers: { 'forbear-max-attempts': '1' } })
    await stage.run(everyMs)
  }
}

describe('slow calls', () => {
  it('open the breaker at their share of the window, good answers though they are', async () => {
    const stage = new Stage({ breaker: { slowCall } })
    stage.upstream.decides(n => (n % 5 < 3 ? slow : reply(200)))
    await offer(stage, 120)
    expect(stage.transitions[0]).toBe('open: slow-calls')
    expect(stage.calls.some(call => call.summary === '503 breaker-open after 0')).toBe(true)
  })

  it('open nothing below that share', async () => {
    const stage = new Stage({ breaker: { slowCall } })
    stage.upstream.decides(n => (n % 5 < 2 ? slow : reply(200)))
    await offer(stage, 200)
    expect(stage.transitions).toEqual([])
  })

  it('open nothing unless the policy says what slow is', async () => {
    const stage = new Stage()
    stage.upstream.plays(slow)
    await offer(stage, 100)
    expect(stage.transitions).toEqual([])
  })

  it('open nothing on a long poll, which is slow by its nature', async () => {
    const stage = new Stage({ longPoll: true, breaker: { slowCall } })
    stage.upstream.plays(slow)
    await offer(stage, 100)
    expect(stage.transitions).toEqual([])
  })

  it('are counted also where they end in a failure', async () => {
    const breaker = { slowCall, consecutiveFailures: 0, failureRatio: 1 }
    const stage = new Stage({ breaker })
    stage.upstream.decides(n => (n % 5 < 3 ? fail('reset', { afterMs: 1200 }) : reply(200)))
    await offer(stage, 200)
    expect(stage.transitions[0]).toBe('open: slow-calls')
  })

  it('fail the probe too, so that a breaker does not close on an upstream that is still slow', async () => {
    const stage = new Stage({ breaker: { slowCall } })
    stage.upstream.plays(slow)
    await offer(stage, 100)
    expect(stage.transitions[0]).toBe('open: slow-calls')
    await offer(stage, 100)
    expect(stage.transitions).toContain('open: probe-failed')
    expect(stage.transitions.some(change => change.startsWith('closed'))).toBe(false)
    stage.upstream.plays(reply(200))
    await offer(stage, 100)
    expect(stage.transitions.at(-1)).toBe('closed: probe-succeeded')
  })

  it('are counted by observe and refused by nobody', async () => {
    const stage = new Stage({ breaker: { slowCall, mode: 'observe' } })
    stage.upstream.plays(slow)
    await offer(stage, 100)
    expect(stage.of('breaker-changed')[0]).toMatchObject({ reason: 'slow-calls', observeOnly: true })
    await stage.finish()
    expect(new Set(stage.calls.map(call => call.summary))).toEqual(new Set(['200 delivered after 1']))
  })

  it('survive an edit of the window', async () => {
    const stage = new Stage({ breaker: { slowCall, minRequests: 30 } })
    stage.upstream.plays(slow)
    await offer(stage, 50)
    expect(stage.transitions).toEqual([])
    stage.apply([{ policy: { breaker: { slowCall, minRequests: 30, windowMs: 20_000 } } }])
    await offer(stage, 40)
    expect(stage.transitions[0]).toBe('open: slow-calls')
  })

  it('a call that hangs until its attempt clock is slow as well as failed', async () => {
    const breaker = { slowCall: { afterMs: 300, ratio: 0.5 }, consecutiveFailures: 0, failureRatio: 1 }
    const stage = new Stage({ timeouts: { attemptMs: 400 }, breaker })
    stage.upstream.decides(n => (n % 5 < 3 ? hang() : reply(200)))
    await offer(stage, 150)
    expect(stage.transitions[0]).toBe('open: slow-calls')
  })
})
