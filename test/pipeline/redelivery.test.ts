import { describe, expect, it } from 'vitest'
import { AppCall, flat } from './support/app-call.js'
import { PARK, ScriptedParking } from './support/parking.js'
import type { PolicyPart } from './support/policy.js'
import { Stage } from './support/stage.js'
import { fail, reply } from './support/upstream.js'

const KEYED = { 'Idempotency-Key': 'k1', Prefer: 'respond-async' }

class StoredCall extends AppCall {
  readonly redelivery = true
}

/** A word when it was not tried. */
function redelivered(stage: Stage, path = '/orders'): StoredCall | string {
  const call = new StoredCall('POST', path, flat(KEYED), null, stage.clock)
  const listener = stage.pipeline.redeliver(call, 'api')
  if (typeof listener === 'string') return listener
  call.listener = listener
  return call
}

async function summary(stage: Stage): Promise<string> {
  const call = redelivered(stage)
  await stage.run(60_000)
  return typeof call === 'string' ? call : call.summary
}

const parks: PolicyPart = { park: { ...PARK, accept: 'always' }, retry: { maxAttempts: 3 } }

describe('a redelivery', () => {
  it('is one attempt, number 1, and is never parked again', async () => {
    const parking = new ScriptedParking()
    const stage = new Stage(parks, { parking })
    parking.clock = stage.clock
    stage.upstream.plays(reply(503))
    expect(await summary(stage)).toBe('503 retries-exhausted after 1')
    expect(stage.upstream.sent.map(({ fields }) => fields['forbear-attempt'])).toEqual(['1'])
    expect(parking.taken).toEqual([])
  })

  it('is no request of the app: neither log nor drain knows it', async () => {
    const stage = new Stage(parks)
    stage.upstream.plays(reply(200))
    redelivered(stage)
    expect(stage.pipeline.active).toBe(0)
    await stage.run(100)
    expect(stage.of('request-finished')).toEqual([])
    expect(stage.of('attempt-finished')).toHaveLength(1)
  })

  it('is paid for by the retry budget, and earns it nothing', async () => {
    const stage = new Stage({ ...parks, budget: { ratio: 0.2, windowMs: 10_000, minPerSecond: 0.2 } })
    stage.upstream.plays(reply(200))
    expect(Math.floor(stage.balance)).toBe(2)
    expect(typeof redelivered(stage)).toBe('object')
    expect(typeof redelivered(stage)).toBe('object')
    expect(redelivered(stage)).toBe('budget-exhausted')
    await stage.run(100)
    expect(Math.floor(stage.balance)).toBe(0)
  })

  it('gives back to the budget what the breaker kept from being sent', async () => {
    const stage = new Stage(parks)
    stage.upstream.plays(fail('connect'))
    await stage.openBreaker()
    const before = stage.balance
    const call = redelivered(stage) as StoredCall
    await stage.run(0)
    expect([call.summary, stage.balance]).toEqual(['503 breaker-open after 0', before])
  })

  it('stands in no line: it can wait in its store', async () => {
    const stage = new Stage({ ...parks, breaker: { whenOpen: 'wait' } })
    stage.upstream.plays(fail('connect'))
    await stage.openBreaker()
    const call = redelivered(stage) as StoredCall
    await stage.run(0)
    expect(call.summary).toBe('503 overloaded after 0')
  })

  it('is spared the faults of a rehearsal', async () => {
    const stage = new Stage({ ...parks, fault: { percent: 100, status: 401 } })
    stage.pipeline.switches.turnFaultsOn(60_000)
    stage.upstream.plays(reply(200))
    expect(await summary(stage)).toBe('200 delivered after 1')
  })

  it('leaves the probe to a call of the app', async () => {
    const stage = new Stage(parks)
    stage.upstream.plays(fail('connect'))
    await stage.openBreaker()
    while (stage.status().breaker.state === 'open') await stage.run(10)
    stage.upstream.plays(reply(200))
    const stored = redelivered(stage) as StoredCall
    const own = stage.get('/own')
    await stage.run(20)
    expect([own.summary, stored.summary]).toEqual(['200 delivered after 1', 'waiting'])
    await stage.run(10_000)
    expect(stored.summary).toBe('200 delivered after 1')
  })

  it('is the probe when nothing else comes', async () => {
    const stage = new Stage(parks)
    stage.upstream.plays(fail('connect'))
    await stage.openBreaker()
    while (stage.status().breaker.state === 'open') await stage.run(10)
    stage.upstream.plays(reply(200))
    expect(await summary(stage)).toBe('200 delivered after 1')
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('is not tried while retries are switched off, for an upstream that is gone, and after the drain', () => {
    const stage = new Stage(parks)
    stage.pipeline.switches.turnRetriesOff(1000)
    expect(redelivered(stage)).toBe('retries-off')
    stage.pipeline.switches.turnRetriesOff(0)
    stage.apply([{ name: 'other' }])
    expect(redelivered(stage)).toBe('no-route')
    stage.pipeline.drain()
    expect(redelivered(stage)).toBe('draining')
  })

  it('under way ends with the drain', async () => {
    const stage = new Stage(parks)
    stage.upstream.plays(reply(200, { afterMs: 5000 }))
    const call = redelivered(stage) as StoredCall
    await stage.run(100)
    stage.pipeline.drain()
    expect(call.summary).toBe('503 draining after 1')
  })
})
