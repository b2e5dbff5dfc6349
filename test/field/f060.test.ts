import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { LatencyWindow } from '../../src/core/latency.js'
import { breakersOn } from '../../src/proxy/make-breaker.js'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'
import { policy, snapshotOf, together, upstream } from '../policy/set.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }

describe('F060 the breaker writes its defaults into the options it is given, or throws when they are frozen (measured on opossum)', () => {
  const shared = snapshotOf(
    together(
      policy('breaker: { consecutiveFailures: 5 }', 'default'),
      upstream('', 'a'),
      upstream('', 'b'),
      upstream('breaker: { consecutiveFailures: 7 }', 'c'),
    ),
  )
  const settingsOf = (name: string) => {
    const found = shared.upstreams.get(name)
    if (found === undefined) throw new Error(name)
    return found.policy.breaker
  }

  it('breakers are built from frozen settings, and leave them as they are', () => {
    const before = JSON.stringify([...shared.upstreams])
    const clock = new VirtualClock()
    const make = breakersOn(clock, () => 0.5)
    for (const name of ['a', 'b', 'c']) {
      expect(Object.isFrozen(settingsOf(name))).toBe(true)
      const breaker = make(settingsOf(name), new LatencyWindow(), () => {})
      const permit = breaker.acquire('first')
      if (permit.granted) breaker.record(permit, 'failure')
      breaker.reconfigure(settingsOf(name))
      breaker.retire()
    }
    expect(JSON.stringify([...shared.upstreams])).toBe(before)
    expect(Object.keys(settingsOf('a')).sort()).toEqual([
      'consecutiveFailures',
      'failureRatio',
      'maxOpenForMs',
      'minRequests',
      'mode',
      'openForMs',
      'slowCall',
      'whenOpen',
      'windowMs',
    ])
  })

  it('of two upstreams with the same settings only the one that fails opens', async () => {
    const stage = new Stage({}, { upstreams: [{ name: 'a' }, { name: 'b' }] })
    stage.upstream.playsByPath({ '/bad': [reply(503)] })
    for (let n = 0; n < 30; n++) {
      stage.get('/bad', { ...once, upstream: 'a' })
      stage.get('/good', { ...once, upstream: 'b' })
      await stage.run(20)
    }
    expect([stage.status(null, 'a').breaker.state, stage.status(null, 'b').breaker.state]).toEqual(['open', 'closed'])
  })

  it('an edit of one changes nothing for the other', async () => {
    const strict = { breaker: { consecutiveFailures: 2 } }
    const stage = new Stage({}, { upstreams: [{ name: 'a' }, { name: 'b' }] })
    stage.apply([{ name: 'a', policy: strict }, { name: 'b' }])
    stage.upstream.plays(reply(503))
    for (let n = 0; n < 8; n++) {
      for (const name of ['a', 'b']) stage.get('/x', { ...once, upstream: name })
      await stage.run(30)
    }
    expect([stage.status(null, 'a').breaker.state, stage.status(null, 'b').breaker.state]).toEqual(['open', 'closed'])
  })
})
