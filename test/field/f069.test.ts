import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage, WALL_START_MS } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

const http = (atMs: number): string => new Date(atMs).toUTCString()
const two = (n: number): string => String(n).padStart(2, '0')

/** The obsolete forms of RFC 9110 §5.6.7. */
function rfc850(atMs: number): string {
  const [day = '', date = '', month = '', year = '', time = ''] = http(atMs).replace(',', '').split(' ')
  const long = { Mon: 'Monday', Tue: 'Tuesday', Wed: 'Wednesday', Thu: 'Thursday', Fri: 'Friday', Sat: 'Saturday' }
  return `${(long as Record<string, string>)[day] ?? 'Sunday'}, ${date}-${month}-${year.slice(2)} ${time} GMT`
}
function asctime(atMs: number): string {
  const [day, date, month, year, time] = http(atMs).replace(',', '').split(' ')
  return `${day} ${month} ${String(Number(date)).padStart(2, ' ')} ${time} ${year}`
}

/** Wait before the second attempt, ms after the answer to the first, 10 ms after the start. */
async function waited(headers: Record<string, string>): Promise<number> {
  const stage = new Stage()
  stage.upstream.plays(reply(503, { headers }), reply(200))
  const call = stage.get()
  await stage.finish()
  expect(call.summary).toBe('200 delivered after 2')
  return (stage.upstream.times[1] ?? Number.NaN) - 10
}

describe('F069 the date form of Retry-After is read as a number, gives NaN, and the retry comes at once (undici#4084)', () => {
  const inTwoSeconds = WALL_START_MS + 2_000

  it.each([
    ['IMF-fixdate', http(inTwoSeconds)],
    ['RFC 850', rfc850(inTwoSeconds)],
    ['asctime', asctime(inTwoSeconds)],
  ])('as %s two seconds ahead, the second attempt comes not before, and a back-off later', async (_form, date) => {
    // The clock here stands 10 ms past the second when the answer is in, and 200 ms of back-off are on top.
    expect(await waited({ 'Retry-After': date })).toBe(2_000 - 10 + 200)
  })

  it('measured against the Date of the answer it is 2 s whatever our clock says', async () => {
    for (const skewMs of [-86_400_000, -600_000, 0, 600_000, 86_400_000 * 365]) {
      const theirs = WALL_START_MS + skewMs
      expect(await waited({ Date: http(theirs), 'Retry-After': http(theirs + 2_000) })).toBe(2_200)
    }
  })

  it('every hour, day and month is read: always two seconds', async () => {
    for (let n = 0; n < 40; n++) {
      const at = WALL_START_MS + n * 86_400_000 * 9.37
      const second = at - (at % 1_000)
      for (const form of [http, rfc850, asctime]) {
        expect(await waited({ Date: http(second), 'Retry-After': form(second + 2_000) }), form(second)).toBe(2_200)
      }
    }
  })

  it.each([
    'Thu, 1 Jan 2026 00:00:02 GMT',
    'Thu, 01 Jan 2026 00:00:02 UTC',
    'Thu, 01 Jan 2026 00:00:02 +0000',
    'Thu, 01 Jan 2026 00:00:02',
    '01 Jan 2026 00:00:02 GMT',
    'thu, 01 jan 2026 00:00:02 gmt',
    '2026-01-01T00:00:02Z',
    'Thu, 32 Jan 2026 00:00:02 GMT',
    'Thu, 01 Jan 2026 24:00:02 GMT',
    'Sun, 29 Feb 2026 00:00:02 GMT',
    `Thu, 01 Jan 2026 00:${two(0)}:61 GMT`,
  ])('%j is no HTTP-date, so the ordinary back-off is used', async date => {
    expect(await waited({ 'Retry-After': date })).toBe(200)
  })

  it('a date far ahead is passed on at once with its header, not waited for', async () => {
    const stage = new Stage()
    const far = http(WALL_START_MS + 86_400_000)
    stage.upstream.plays(reply(503, { headers: { 'Retry-After': far } }))
    const call = stage.get()
    await stage.run(20)
    expect([call.summary, call.header('Retry-After')]).toEqual(['503 retry-after-too-long after 1', far])
  })
})
