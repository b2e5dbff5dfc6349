import { describe, expect, test } from 'vitest'
import { onOneStage } from '../e2e/harness/one-stage.js'
import { ample, quickRetry, upstreamDoc } from '../e2e/harness/policies.js'

// The wait of 12 s of the report itself is in test/e2e/clocks.test.ts.
describe('F045 a hidden time-out of the resilience layer cuts calls and repeats them (azure-container-apps#968)', () => {
  const hop = onOneStage(async stage => {
    const upstream = (await stage.upstream()).plays({ delayMs: 1_300, body: 'at last' })
    const spec = { retry: quickRetry({ maxAttempts: 3 }), budget: ample }
    const named = (name: string, timeouts: Record<string, string>) =>
      upstreamDoc(name, upstream.url, { ...spec, timeouts })
    return {
      upstream,
      sidecar: await stage.sidecar([
        named('total', { total: '30s' }),
        named('none', { total: 'none', attempt: 'none', idle: 'none' }),
        named('short-idle', { total: '30s', idle: '1s', connect: '1s' }),
        named('default', {}),
      ]),
    }
  })

  test('no clock but those that are written, or documented as default, cuts a slow answer', async () => {
    const names = ['total', 'none', 'short-idle', 'default']
    const answers = await Promise.all(names.map(name => hop.sidecar.call(`/${name}/x`)))
    for (const answer of answers)
      expect([answer.status, answer.text, answer.headers['forbear-attempts']]).toEqual([200, 'at last', '1'])
    expect(hop.upstream.hits).toBe(names.length)
    for (const name of names) expect((await hop.sidecar.upstreamStatus(name)).breaker.failuresInARow).toBe(0)
  })

  test('the clocks in force can be read', async () => {
    const text = (await hop.sidecar.admin('/policies')).text
    const policies = JSON.parse(text) as { upstreams: Record<string, { policy: { timeouts: unknown } }> }
    expect(JSON.stringify(policies)).toContain('"totalMs":30000')
    expect(text).toContain('"none"')
  })
})
