import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage, WALL_START_MS } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const http = (atMs: number): string => new Date(atMs).toUTCString()
const HOUR_MS = 3_600_000

/** Times of the attempts of a GET that is answered so three times, from the first. */
async function attempts(headers: Record<string, string>): Promise<number[]> {
  const stage = new Stage({ retry: { maxAttempts: 3 } })
  stage.upstream.plays(reply(503, { headers }))
  stage.get()
  await stage.finish()
  return stage.upstream.times
}
const ORDINARY = [0, 210, 620]

describe('F071 a Retry-After in the past, or negative, is a negative delay: an exception, or a hot loop (httpx-retries#13)', () => {
  it.each([
    ['-1', {}],
    ['-86400', {}],
    ['0', {}],
    ['00', {}],
    [http(WALL_START_MS - HOUR_MS), {}],
    [http(WALL_START_MS - HOUR_MS), { Date: http(WALL_START_MS) }],
    [http(WALL_START_MS), { Date: http(WALL_START_MS) }],
    [http(0), {}],
    ['Sat, 01 Jan 0000 00:00:00 GMT', {}],
    ['30', { Age: '30' }],
    ['30', { Age: '99999999999999999999' }],
    // Ahead by our clock, behind by the server's.
    [http(WALL_START_MS + 5_000), { Date: http(WALL_START_MS + 10_000) }],
  ] as readonly [string, Record<string, string>][])('%j with %o leaves the ordinary back-off', async (value, more) => {
    expect(await attempts({ 'Retry-After': value, ...more })).toEqual(ORDINARY)
  })

  it('a date ahead by the server’s clock, which is ten minutes behind ours, is waited for', async () => {
    const theirs = WALL_START_MS - 600_000
    const headers = { Date: http(theirs), 'Retry-After': http(theirs + 2_000) }
    expect((await attempts(headers))[1]).toBe(10 + 2_000 + 200)
  })

  it('whatever the dates are, no attempt comes sooner than its back-off', async () => {
    const date = fc.integer({ min: -(10 ** 12), max: 10 ** 12 }).map(offset => http(WALL_START_MS + offset))
    const age = fc.option(fc.integer({ min: -10, max: 10 ** 9 }).map(String), { nil: '' })
    await fc.assert(
      fc.asyncProperty(date, date, age, async (value, sent, old) => {
        const times = await attempts({ 'Retry-After': value, Date: sent, Age: old })
        for (const [n, atMs] of times.entries()) expect(atMs).toBeGreaterThanOrEqual(ORDINARY[n] ?? Number.NaN)
      }),
      { numRuns: 60 },
    )
  })
})
