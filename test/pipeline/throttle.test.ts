import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from './support/stage.js'
import { reply } from './support/upstream.js'

checkEveryEnding()

const enabled = { throttle: { mode: 'enabled' } } as const
/** So that only the throttle protects the upstream. */
const alone = { breaker: { mode: 'disabled' } } as const
const once = { headers: { 'forbear-max-attempts': '1' } }

/** 0, 1/101, 2/101 … in an order without a period of its own. */
function spread(): () => number {
  let n = 0
  return () => ((n += 37) % 101) / 101
}

async function offer(stage: Stage, count: number, everyMs = 20): Promise<void> {
  for (let n = 0; n < count; n++) {
    stage.get(`/${stage.calls.length}`, once)
    await stage.run(everyMs)
  }
}

const refusals = (stage: Stage) => stage.calls.filter(call => call.summary === '503 throttled after 0').length

describe('the throttle', () => {
  it('refuses more and more of the calls to an upstream that fails, and says why', async () => {
    const stage = new Stage({ ...alone, ...enabled }, { random: spread() })
    stage.upstream.plays(reply(503))
    await offer(stage, 200)
    expect(refusals(stage)).toBeGreaterThan(120)
    expect(stage.upstream.paths.length + refusals(stage)).toBe(200)
    expect(stage.status().throttle.refusalProbability).toBeGreaterThan(0.9)
    const refused = stage.calls.find(call => call.outcome === 'throttled')
    expect(JSON.parse(refused?.text ?? '')).toMatchObject({ status: 503, reason: 'throttled', attempts: 0 })
  })

  it('lets everything through again once the upstream accepts', async () => {
    const stage = new Stage({ ...alone, ...enabled }, { random: spread() })
    stage.upstream.plays(reply(503))
    await offer(stage, 100)
    stage.upstream.plays(reply(200))
    await offer(stage, 4000)
    const before = refusals(stage)
    await offer(stage, 200)
    expect(refusals(stage)).toBe(before)
    expect(stage.status().throttle.refusalProbability).toBe(0)
  })

  it('refuses nobody while half of the calls are accepted', async () => {
    const stage = new Stage({ ...alone, ...enabled }, { random: spread() })
    stage.upstream.decides(n => reply(n % 2 === 0 ? 200 : 503))
    await offer(stage, 300)
    expect(refusals(stage)).toBe(0)
  })

  it('is off unless the policy turns it on', async () => {
    const stage = new Stage(alone, { random: spread() })
    stage.upstream.plays(reply(503))
    await offer(stage, 200)
    expect(stage.upstream.paths).toHaveLength(200)
  })

  it('only tells under observe', async () => {
    const stage = new Stage({ ...alone, throttle: { mode: 'observe' } }, { random: spread() })
    stage.upstream.plays(reply(503))
    await offer(stage, 200)
    expect(stage.upstream.paths).toHaveLength(200)
    expect(stage.status().throttle).toMatchObject({ mode: 'observe', refusalProbability: 0.95 })
  })

  it('keeps a further attempt from the upstream too, and gives the app the answer it has', async () => {
    const stage = new Stage({ ...alone, ...enabled }, { random: () => 0 })
    stage.upstream.plays(reply(503))
    await offer(stage, 19)
    const call = stage.get('/')
    await stage.finish()
    expect(call.summary).toBe('503 throttled after 1')
    expect(call.text).toBe('body of 503')
  })

  it('leaves the probe to the breaker', async () => {
    const stage = new Stage(enabled, { random: () => 0.5 })
    stage.upstream.plays(reply(503))
    await offer(stage, 60)
    expect(stage.transitions[0]).toMatch(/^open/)
    stage.upstream.plays(reply(200))
    await offer(stage, 200)
    expect(stage.transitions.at(-1)).toBe('closed: probe-succeeded')
  })

  it('refuses also while a breaker that only observes is open', async () => {
    const stage = new Stage({ breaker: { mode: 'observe' }, ...enabled }, { random: spread() })
    stage.upstream.plays(reply(503))
    await offer(stage, 200)
    expect(stage.transitions[0]).toMatch(/^open/)
    expect(refusals(stage)).toBeGreaterThan(100)
  })

  it('begins anew when the breaker closes: it must not make the outage longer', async () => {
    const stage = new Stage(enabled, { random: spread() })
    stage.upstream.plays(reply(503))
    await offer(stage, 300)
    stage.upstream.plays(reply(200))
    while (stage.transitions.at(-1) !== 'closed: probe-succeeded') await offer(stage, 1)
    const before = refusals(stage)
    await offer(stage, 200)
    expect(refusals(stage)).toBe(before)
  })

  it('of a route that writes the section is its own', async () => {
    const route = { name: 'own', path: '/own', policy: enabled, own: { throttle: true } }
    const stage = new Stage(
      {},
      { upstreams: [{ policy: { ...alone, ...enabled }, routes: [route] }], random: spread() },
    )
    stage.upstream.playsByPath({ '/own': [reply(200)] }, reply(503))
    await offer(stage, 100)
    expect(stage.status().throttle.refusalProbability).toBeGreaterThan(0.5)
    expect(stage.status('own').throttle.refusalProbability).toBe(0)
    const call = stage.get('/own', once)
    await stage.finish()
    expect(call.summary).toBe('200 delivered after 1')
  })

  it('survives an edit with its counts, and ends with its mode', async () => {
    const stage = new Stage({ ...alone, ...enabled }, { random: spread() })
    stage.upstream.plays(reply(503))
    await offer(stage, 100)
    stage.apply([{ policy: { ...alone, throttle: { mode: 'enabled', k: 1.5 } } }])
    expect(stage.status().throttle.refusalProbability).toBeGreaterThan(0.8)
    stage.apply([{ policy: alone }])
    const before = refusals(stage)
    await offer(stage, 50)
    expect(refusals(stage)).toBe(before)
  })

  it('counts the hedges as well: those that lost make the others no fewer', async () => {
    const hedge = { mode: 'enabled', after: { kind: 'fixed', delayMs: 20 }, maxHedges: 1 } as const
    const budget = { ratio: 10, minPerSecond: 100 }
    const stage = new Stage({ ...alone, ...enabled, hedge, budget }, { random: () => 0.99 })
    stage.upstream.decides((_n, { path }) => {
      const first = stage.upstream.sent.every(sent => sent.call.path !== path)
      return path === '/bad' ? reply(503) : reply(200, { afterMs: first ? 50 : 5 })
    })
    for (let n = 0; n < 40; n++) {
      stage.get(`/${n}`)
      await stage.run(100)
    }
    for (let n = 0; n < 20; n++) {
      stage.get('/bad', once)
      await stage.run(20)
    }
    expect(stage.upstream.sent.length).toBeGreaterThan(80)
    expect(stage.status().throttle.refusalProbability).toBe(0)
  })

  it('applies to a handshake', async () => {
    const stage = new Stage({ ...alone, ...enabled }, { random: () => 0 })
    stage.upstream.plays(reply(503))
    await offer(stage, 20)
    expect(stage.handshake('/socket')).toMatchObject({ proceed: false, answer: { status: 503 } })
  })
})
