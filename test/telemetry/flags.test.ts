import { describe, expect, it } from 'vitest'
import { DELIVERED_OUTCOMES, OWN_REASONS, UNANSWERED_OUTCOMES } from '../../src/core/reasons.js'
import { flagsOf } from '../../src/telemetry/flags.js'

describe('flagsOf', () => {
  it.each([
    ['delivered', '-'],
    ['breaker-open', 'UO'],
    ['overloaded', 'UO'],
    ['retries-exhausted', 'URX'],
    ['attempt-timeout', 'UT'],
    ['deadline', 'UT'],
    ['connect', 'UF'],
    ['reset', 'UC'],
    ['cut', 'UC'],
    ['bad-response', 'UPE'],
    ['bad-request', 'DPE'],
    ['aborted', 'DC'],
    ['no-route', 'NR'],
    ['no-policy', 'NC'],
    ['gate-closed', 'RL'],
  ] as const)('gives %s the letters %s', (outcome, flags) => {
    expect(flagsOf(outcome)).toBe(flags)
  })

  it("uses nothing but Envoy's letters", () => {
    const known = ['-', 'UO', 'URX', 'UT', 'UF', 'UC', 'UPE', 'DPE', 'DC', 'NR', 'NC', 'RL']
    for (const outcome of [...DELIVERED_OUTCOMES, ...OWN_REASONS, ...UNANSWERED_OUTCOMES]) {
      expect(known).toContain(flagsOf(outcome))
    }
  })
})
