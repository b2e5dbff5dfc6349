import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'

checkEveryEnding()

/** When the second attempt comes, ms after the answer to the first; `null` = never. */
async function wait(headers: Readonly<Record<string, string>>, status = 503): Promise<number | null> {
  const stage = new Stage({ retry: { maxAttempts: 2 } })
  stage.upstream.plays(reply(status, { headers }), reply(200))
  stage.get()
  await stage.finish()
  const at = stage.upstream.times[1]
  return at === undefined ? null : at - 10
}

describe('F072 a Retry-After is multiplied or parsed without a check: NaN, or some number (axios-retry#63)', () => {
  it.each([
    ['2', 2_200],
    ['  2 ', 2_200],
    ['\t2\t', 2_200],
    ['002', 2_200],
    ['0', 200],
  ])('%j is delay-seconds', async (value, expected) => {
    expect(await wait({ 'Retry-After': value })).toBe(expected)
  })

  it.each([
    ...[
      '',
      ' ',
      'soon',
      '1.5',
      '2.',
      '.5',
      '+3',
      '-1',
      '0x10',
      '120, 60',
      '120 60',
      '1e3',
      '1_000',
      '2s',
      '2 s',
      '²',
      '٣',
    ],
    ...[
      'Infinity',
      'NaN',
      'null',
      'undefined',
      'true',
      '30 Nov 2026',
      '2026-11-30',
      '1767225602',
      '"2"',
      '2;a=b',
      '2,',
    ],
  ])('%j is ignored, and the ordinary back-off used', async value => {
    // A Unix time is digits too, and asks for 56 years.
    expect(await wait({ 'Retry-After': value })).toBe(value === '1767225602' ? null : 200)
  })

  it.each(['99999999999', '9007199254740993', '1' + '0'.repeat(300)])(
    '%j is too long to wait for, and not NaN',
    async value => {
      expect(await wait({ 'Retry-After': value })).toBeNull()
    },
  )

  it('a missing one leaves the ordinary back-off', async () => {
    expect(await wait({})).toBe(200)
  })

  it('a field of another name or in another case', async () => {
    expect(await wait({ 'retry-after': '2' })).toBe(2_200)
    expect(await wait({ 'RETRY-AFTER': '2' })).toBe(2_200)
    expect(await wait({ 'X-Retry-After': '2' })).toBe(200)
    expect(await wait({ 'Retry-After-Ms': '2' })).toBe(200)
  })

  it('makes no answer retryable that is not', async () => {
    for (const status of [200, 301, 400, 404, 500, 501]) expect(await wait({ 'Retry-After': '2' }, status)).toBeNull()
  })

  it('any text gives the ordinary back-off, a longer wait, or none; never less', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.stringMatching(/^[\d ,.+eExX-]{0,8}$/)), async value => {
        const waited = await wait({ 'Retry-After': value })
        expect(waited === null || waited >= 200).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})
