/** Every word for what becomes of a hedge, driven once; a new one fails here until it is. */
import { describe, expect, it } from 'vitest'
import { HEDGE_DENIALS, HEDGE_RESULTS, type HedgeResult } from '../../src/core/reasons.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { sidecarStatus } from '../telemetry/status.js'
import type { PolicyPart } from './support/policy.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, hang, reply } from './support/upstream.js'

checkEveryEnding()

const slow = reply(200, { afterMs: 1000 })
const fast = reply(200, { afterMs: 10 })
const once = { headers: { 'forbear-max-attempts': '1' } }

function hedged(hedge: Partial<NonNullable<PolicyPart['hedge']>> = {}, part: PolicyPart = {}): Stage {
  const stage = new Stage({ ...part, hedge: { mode: 'enabled', after: { kind: 'fixed', delayMs: 50 }, ...hedge } })
  stage.upstream.plays(slow)
  return stage
}

/** One call on a stage that has been made ready. */
function called(stage: Stage, ready: (stage: Stage) => void = () => {}): Stage {
  ready(stage)
  stage.get('/late')
  return stage
}

/** The first call is under way when something happens. */
async function meanwhile(stage: Stage, happens: (stage: Stage) => void): Promise<Stage> {
  stage.get('/late')
  await stage.run(5)
  happens(stage)
  return stage
}

const DRIVES: Readonly<Record<HedgeResult, () => Stage | Promise<Stage>>> = {
  won: () => called(hedged(), stage => stage.upstream.plays(slow, fast)),
  lost: () => called(hedged(), stage => stage.upstream.plays(reply(200, { afterMs: 70 }), slow)),
  failed: () => called(hedged(), stage => stage.upstream.plays(slow, fail('reset'))),
  aborted: async () => {
    const stage = hedged()
    stage.upstream.plays(hang())
    const call = stage.get()
    await stage.run(100)
    call.hangUp()
    return stage
  },
  observed: () => called(hedged({ mode: 'observe' })),
  'retries-exhausted': () =>
    called(hedged({ maxHedges: 2 }, { retry: { maxAttempts: 2 } }), stage => stage.upstream.plays(slow, fail('reset'))),
  deadline: () => {
    const stage = hedged({ after: { kind: 'fixed', delayMs: 200 } })
    stage.get('/late', { headers: { 'forbear-timeout-ms': '240' } })
    return stage
  },
  'breaker-open': () => meanwhile(hedged(), stage => stage.pipeline.forceBreaker('api', 'open')),
  'gate-closed': () => {
    const stage = hedged({}, { retry: { retryAfter: { scope: 'upstream' } } })
    stage.upstream.playsByPath({ '/late': [slow] }, reply(503, { headers: { 'retry-after': '5' } }))
    for (let n = 0; n < 5; n++) stage.get(`/${n}`, once)
    return called(stage)
  },
  overloaded: () => called(hedged({}, { limits: { maxInFlight: 1 } })),
  'budget-exhausted': () => called(hedged({}, { budget: { minPerSecond: 0, ratio: 0.01 } })),
  'retries-off': () => called(hedged(), stage => stage.pipeline.switches.turnRetriesOff(60_000)),
  draining: () =>
    called(hedged(), stage => {
      stage.pipeline.draining = true
    }),
}

describe('a hedge', () => {
  it.each([...new Set([...HEDGE_RESULTS, ...HEDGE_DENIALS])])('that came to %s is counted as that', async word => {
    const stage = await DRIVES[word]()
    await stage.finish()
    const metrics = createMetrics({ status: () => sidecarStatus() })
    for (const event of stage.events) metrics.emit(event)
    expect(metrics.counts('api').hedges[word]).toBeGreaterThan(0)
    expect((await metrics.scrape()).body).toMatch(
      new RegExp(`^forbear_hedges_total\\{(?=.*upstream="api")(?=.*result="${word}").*\\} [1-9]`, 'm'),
    )
  })
})
