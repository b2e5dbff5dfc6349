import { describe, expect, it } from 'vitest'
import { type BackoffSettings, backoffDelayMs, MAX_DELAY_MS } from '../../src/core/backoff.js'
import { checkEveryEnding, Stage } from '../pipeline/support/stage.js'
import { reply } from '../pipeline/support/upstream.js'
import { messagesOf, upstream } from '../policy/set.js'
import { BUILT_IN_POLICY } from '../support/built-in.js'

checkEveryEnding()

const JITTERS = [
  { kind: 'none' },
  { kind: 'full' },
  { kind: 'equal' },
  { kind: 'decorrelated' },
  { kind: 'range', low: 0.8, high: 1.2 },
] as const

describe('F074 base × factor^n passes 2³¹−1 ms, and Node’s timer fires after 1 ms: a hot loop (fluent-logger-forward-node#44)', () => {
  it.each(['exponential', 'linear', 'fixed'] as const)(
    '%s: every delay of any size of base, factor, cap and attempt fits a timer',
    kind => {
      for (const jitter of JITTERS)
        for (const baseMs of [0, 1, 1_000, 3_600_000, Number.MAX_VALUE])
          for (const factor of [0, 1, 10, 100, Number.MAX_VALUE])
            for (const capMs of [0, 30_000, 86_400_000, Number.MAX_VALUE, Number.POSITIVE_INFINITY]) {
              const settings: BackoffSettings = { kind, baseMs, factor, capMs, jitter }
              let previous: number | null = null
              for (const retry of [1, 2, 3, 12, 1_000, 1e9]) {
                const delay = backoffDelayMs(settings, retry, previous, () => 0.999)
                expect(delay >= 0 && delay <= MAX_DELAY_MS, JSON.stringify([settings, retry, delay])).toBe(true)
                previous = delay
              }
            }
    },
  )

  it('a base of 1 s and a factor of 10 over 12 attempts waits the cap, never a millisecond', async () => {
    const stage = new Stage({
      retry: { maxAttempts: 12, backoff: { kind: 'exponential', baseMs: 1_000, factor: 10, capMs: 86_400_000 } },
      timeouts: { totalMs: Number.POSITIVE_INFINITY },
      budget: { ratio: 1, minPerSecond: 100 },
      breaker: { mode: 'disabled' },
    })
    stage.upstream.plays(reply(503))
    const call = stage.get()
    for (let day = 0; day < 9; day++) await stage.run(86_400_000)
    const gaps = stage.upstream.times.slice(1).map((at, n) => at - (stage.upstream.times[n] ?? 0) - 10)
    expect(gaps).toEqual([1e3, 1e4, 1e5, 1e6, 1e7, ...Array(6).fill(86_400_000)])
    expect(call.summary).toBe('503 retries-exhausted after 12')
  })

  it('a base of 0 with jitter of any kind repeats at once, but no more often than attempts and budget say', async () => {
    const stage = new Stage({
      retry: { maxAttempts: 1_000, backoff: { kind: 'exponential', baseMs: 0 } },
      breaker: { mode: 'disabled' },
    })
    stage.upstream.plays(reply(503))
    stage.get()
    await stage.run(1_000)
    expect(stage.upstream.sent.length).toBe(6)
  })

  it.each([
    ['retry: { backoff: { factor: 0 } }', 'factor'],
    ['retry: { backoff: { factor: 0.5 } }', 'factor'],
    ['retry: { backoff: { factor: 1e9 } }', 'factor'],
    ['retry: { backoff: { factor: .inf } }', 'factor'],
    ['retry: { backoff: { base: 1000h } }', 'base'],
    ['retry: { backoff: { cap: 1000h } }', 'cap'],
    ['retry: { maxAttempts: 1000000000 }', 'maxAttempts'],
    ['retry: { maxAttempts: 0 }', 'maxAttempts'],
    ['retry: { backoff: { jitter: [2, 1] } }', 'jitter'],
    ['retry: { backoff: { jitter: [-1, 1] } }', 'jitter'],
  ])('%s is a mistake that names the field', (line, field) => {
    const messages = messagesOf(upstream(line))
    expect(messages.length).toBe(1)
    expect(messages[0]).toContain(field)
  })

  it('by default the jitter is full and the cap 30 s', () => {
    const { backoff, throttled } = BUILT_IN_POLICY.retry
    for (const { jitter, capMs } of [backoff, throttled]) expect([jitter.kind, capMs]).toEqual(['full', 30_000])
  })
})
