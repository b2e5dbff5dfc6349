import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

describe('F070 Retry-After: 86400 makes the client sleep for a day in spite of a limit of 5 s (curl#7675)', () => {
  it.each([
    [503, '86400'],
    [429, '86400'],
    [503, '6'],
    [503, '5'],
    [503, '99999999999'],
    [503, '9'.repeat(400)],
    [503, 'Fri, 01 Jan 2027 00:00:00 GMT'],
    [503, 'Fri, 31 Dec 9999 23:59:59 GMT'],
  ])(
    'under a total of 5 s a %i with %j is passed on at once, its header intact, and not repeated sooner',
    async (status, value) => {
      const stage = new Stage({ timeouts: { totalMs: 5_000 } })
      const headers = { 'Retry-After': value }
      stage.upstream.plays(reply(status, { headers, body: '{"why":"busy"}' }), reply(200))
      const call = stage.get()
      await stage.run(10)
      expect([call.summary, call.header('Retry-After'), call.text]).toEqual([
        `${status} retry-after-too-long after 1`,
        value,
        '{"why":"busy"}',
      ])
      await stage.run(20_000)
      expect(stage.upstream.sent.length).toBe(1)
      expect(stage.denials).toEqual(['retry-after-too-long'])
    },
  )

  it('a hint above the cap is not waited for, even where the deadline is further away', async () => {
    const stage = new Stage({ timeouts: { totalMs: 600_000 }, retry: { retryAfter: { capMs: 30_000 } } })
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': '31' } }), reply(200))
    const call = stage.get()
    await stage.run(10)
    expect(call.outcome).toBe('retry-after-too-long')
  })

  it('a hint at the cap is waited for, when the deadline allows', async () => {
    const stage = new Stage({ timeouts: { totalMs: 600_000 }, retry: { retryAfter: { capMs: 30_000 } } })
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': '30' } }), reply(200))
    const call = stage.get()
    await stage.finish()
    expect([call.summary, stage.upstream.times[1]]).toEqual(['200 delivered after 2', 30_210])
  })

  it('the time that earlier attempts have used counts', async () => {
    const stage = new Stage({ timeouts: { totalMs: 5_000 } })
    const told = reply(503, { afterMs: 1_000, headers: { 'Retry-After': '2' } })
    stage.upstream.plays(told, told, reply(200))
    const call = stage.get()
    await stage.finish()
    expect(call.summary).toBe('503 retry-after-too-long after 2')
    expect(call.answeredAtMs).toBe(1_000 + 2_200 + 1_000)
  })

  it('the deadline of the app counts as well as the policy’s', async () => {
    const stage = new Stage()
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': '3' } }), reply(200))
    const call = stage.get('/x', { headers: { 'forbear-timeout-ms': '2000' } })
    await stage.run(10)
    expect([call.outcome, call.header('Retry-After')]).toEqual(['retry-after-too-long', '3'])
  })

  it('it costs no budget and holds no slot', async () => {
    const stage = new Stage({ limits: { maxInFlight: 1 } })
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': '86400' } }))
    const before = stage.balance
    stage.get()
    await stage.run(10)
    expect([stage.balance, stage.status().inFlight, stage.status().waiting]).toEqual([before, 0, 0])
  })
})
