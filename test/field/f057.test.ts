import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'
import { messagesOf, upstream } from '../policy/set.js'

checkEveryEnding()

const once = { headers: { 'forbear-max-attempts': '1' } }

/** `failures` of `calls` fail, evenly spread, twenty a second; how often the breaker opened. */
async function openings(failureRatio: number, failures: number, calls: number): Promise<number> {
  const stage = new Stage({ breaker: { failureRatio, minRequests: 10, consecutiveFailures: 0 } })
  const fails = (n: number): boolean => Math.floor(((n + 1) * failures) / calls) > Math.floor((n * failures) / calls)
  stage.upstream.decides(n => reply(fails(n) ? 503 : 200))
  for (let n = 0; n < calls; n++) {
    stage.get('/x', once)
    await stage.run(50)
  }
  return stage.transitions.filter(change => change === 'open: failure-ratio').length
}

describe('F057 a threshold is taken as strictly greater: 100 never opens, 50 not at half, 0 at once (measured on opossum)', () => {
  it.each([
    [1, 100, 100, true],
    [1, 99, 100, false],
    [0.5, 50, 100, true],
    [0.8, 80, 100, true],
    [0.8, 60, 100, false],
    [0.3, 30, 100, true],
    [0.01, 1, 100, false],
    [0.01, 5, 100, true],
  ])('a ratio of %d with %d of %d failing: opens %s', async (ratio, failures, calls, opens) => {
    expect((await openings(ratio, failures, calls)) > 0).toBe(opens)
  })

  it.each([
    ['breaker: { failureRatio: 0 }', 'breaker.failureRatio'],
    ['breaker: { failureRatio: 1.01 }', 'breaker.failureRatio'],
    ['breaker: { failureRatio: 50 }', 'breaker.failureRatio'],
    ['breaker: { failureRatio: 100 }', 'breaker.failureRatio'],
    ['breaker: { failureRatio: -1 }', 'breaker.failureRatio'],
    ['breaker: { failureRatio: .nan }', 'breaker.failureRatio'],
    ['breaker: { failureRatio: 50% }', 'breaker.failureRatio'],
    ['breaker: { minRequests: 0 }', 'breaker.minRequests'],
    ['breaker: { consecutiveFailures: -1 }', 'breaker.consecutiveFailures'],
    ['limits: { maxInFlight: 0 }', 'limits.maxInFlight'],
    ['pool: { maxConnections: 0 }', 'pool.maxConnections'],
  ])('%s is a mistake that names the field', (line, field) => {
    const messages = messagesOf(upstream(line))
    expect(messages.length).toBe(1)
    expect(messages[0]).toContain(field)
  })

  it('consecutiveFailures: 0 switches that trigger off, and with a ratio of 1 a single success keeps it closed', async () => {
    const stage = new Stage({ breaker: { failureRatio: 1, consecutiveFailures: 0 } })
    stage.upstream.plays(reply(200), reply(503))
    for (let n = 0; n < 150; n++) {
      stage.get('/x', once)
      await stage.run(50)
    }
    expect(stage.transitions).toEqual([])
  })
})
