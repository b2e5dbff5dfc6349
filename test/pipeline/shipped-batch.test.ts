import { expect, it } from 'vitest'
import { shipped } from './support/policy-files.js'
import { checkEveryEnding, Stage } from './support/stage.js'
import { fail, type Play, reply } from './support/upstream.js'

checkEveryEnding()

const MINUTE_MS = 60_000

interface Outage {
  readonly minutes: number
  readonly perSecond: number
  readonly down: Play
}

const NOBODY: Outage = { minutes: 5, perSecond: 10, down: fail('connect') }

/** A minute of health, the outage, another minute of health; gives the summaries of the calls that failed. */
async function failed(policy: string, method: 'GET' | 'POST', { minutes, perSecond, down }: Outage): Promise<string[]> {
  const stage = new Stage(shipped(policy))
  const startMs = stage.clock.nowMs() + MINUTE_MS
  const endMs = startMs + minutes * MINUTE_MS
  stage.upstream.decides(() => {
    const nowMs = stage.clock.nowMs()
    return nowMs >= startMs && nowMs < endMs ? down : reply(200)
  })
  while (stage.clock.nowMs() < endMs + MINUTE_MS) {
    stage.call(method, `/${stage.calls.length}`, method === 'POST' ? { bodyBytes: 100 } : {})
    await stage.run(1000 / perSecond)
  }
  for (let m = 0; m < 30 && stage.calls.some(call => !call.over); m++) await stage.run(MINUTE_MS)
  return stage.calls.filter(call => call.status !== 200).map(call => call.summary)
}

it.each(['GET', 'POST'] as const)('batch serves every %s through five minutes without an upstream', async method => {
  expect(await failed('batch', method, NOBODY)).toEqual([])
})

it('batch serves every GET through five minutes of 503', async () => {
  expect(await failed('batch', 'GET', { ...NOBODY, down: reply(503) })).toEqual([])
})

it('batch has attempts enough for the call that is every probe of 25 minutes', async () => {
  expect(await failed('batch', 'GET', { minutes: 25, perSecond: 2, down: reply(503) })).toEqual([])
})

it('a policy that refuses while the breaker is open answers nearly all of them at once', async () => {
  expect((await failed('default', 'GET', NOBODY)).length).toBeGreaterThan(0.9 * 3000)
})
