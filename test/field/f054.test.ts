import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'
import { messagesOf, upstream } from '../policy/set.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }

describe('F054 a policy asks for several good probes, and the breaker closes with the first (opossum#613)', () => {
  it.each(['successThreshold: 3', 'probes: 3', 'halfOpen: { maxRequests: 3 }', 'halfOpenRequests: 3'])(
    '%s is refused by name: what is not done is not accepted',
    line => {
      const messages = messagesOf(upstream(`breaker: { ${line} }`))
      expect(messages.length).toBe(1)
      expect(messages[0]).toContain(`breaker.${line.split(':')[0]}`)
    },
  )

  it('one good probe closes, and a failure right after it does not open again', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    await stage.run(1_000)
    stage.upstream.plays(reply(200), reply(503), reply(503))
    for (const path of ['/good', '/bad', '/bad-again']) {
      stage.get(path, once)
      await stage.run(20)
    }
    expect(stage.status().breaker.state).toBe('closed')
  })

  it('an upstream that serves one call in three is let through once its failures are under the ratio', async () => {
    const stage = new Stage({ retry: { maxAttempts: 1 } })
    stage.upstream.plays(reply(503))
    await stage.openBreaker()
    stage.upstream.decides(n => (n % 3 === 0 ? reply(200) : reply(503)))
    const from = stage.calls.length
    for (let n = 0; n < 1_500; n++) {
      stage.get('/x', once)
      await stage.run(20)
    }
    const calls = stage.calls.slice(from)
    const served = calls.filter(call => call.status === 200).length
    // Two thirds of failures are under the ratio of 0.8, and never ten in a row.
    expect(stage.status().breaker.state).toBe('closed')
    expect(served / calls.length).toBeGreaterThan(0.28)
  })

  it('one that serves one call in twenty is kept from all but probes most of the time', async () => {
    const stage = new Stage({ retry: { maxAttempts: 1 } })
    stage.upstream.decides(n => (n % 20 === 0 ? reply(200) : reply(503)))
    for (let n = 0; n < 3_000; n++) {
      stage.get('/x', once)
      await stage.run(20)
    }
    expect(stage.upstream.sent.length).toBeLessThan(1_500)
  })
})
