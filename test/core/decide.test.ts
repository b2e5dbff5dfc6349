import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptFacts } from '../../src/core/classify.js'
import { decideRetry, type RetryQuestion } from '../../src/core/decide.js'

const FACTS: AttemptFacts = {
  retryable: true,
  why: 'status',
  breaker: 'failure',
  retryAfterMs: null,
  throttled: false,
  stop: null,
}

interface Asked {
  withdrawnFor: number[]
  breaker: number
  delays: number
}

function question(over: Partial<RetryQuestion> = {}): { q: RetryQuestion; asked: Asked } {
  const asked: Asked = { withdrawnFor: [], breaker: 0, delays: 0 }
  const q: RetryQuestion = {
    facts: FACTS,
    connectOnly: false,
    repeatable: true,
    bodyReplayable: true,
    attempt: 1,
    maxAttempts: 3,
    layered: false,
    retriesOff: false,
    retryAfterCapMs: 30_000,
    computeDelayMs: () => 200,
    nowMs: 1000,
    deadlineMs: 31_000,
    medianMs: () => null,
    breakerOpen: () => false,
    withdraw: () => true,
    ...over,
  }
  const spied: RetryQuestion = {
    ...q,
    computeDelayMs: () => {
      asked.delays++
      return q.computeDelayMs()
    },
    breakerOpen: () => {
      asked.breaker++
      return q.breakerOpen()
    },
    withdraw: at => {
      asked.withdrawnFor.push(at)
      return q.withdraw(at)
    },
  }
  return { q: spied, asked }
}

const decide = (over: Partial<RetryQuestion> = {}) => decideRetry(question(over).q)
const hinted = (retryAfterMs: number): Partial<RetryQuestion> => ({ facts: { ...FACTS, retryAfterMs } })

describe('deciding on a retry', () => {
  it('waits for the back-off and says why', () => {
    const { q, asked } = question()
    expect(decideRetry(q)).toEqual({ retry: true, delayMs: 200, reason: 'status' })
    expect(asked).toEqual({ withdrawnFor: [1200], breaker: 1, delays: 1 })
  })

  it('adds the back-off to the hint, so that nobody comes earlier than told', () => {
    expect(decide(hinted(2000))).toMatchObject({ retry: true, delayMs: 2200 })
  })

  it('backs off as usual after a hint of 0', () => {
    expect(decide(hinted(0))).toMatchObject({ retry: true, delayMs: 200 })
    expect(decide({ ...hinted(0), retryAfterCapMs: 0 })).toMatchObject({ retry: true })
  })

  it('counts the first call: three attempts are two retries', () => {
    expect([1, 2, 3].map(attempt => decide({ attempt }).retry)).toEqual([true, true, false])
    expect(decide({ attempt: 3 })).toEqual({ retry: false, reason: 'retries-exhausted' })
  })

  it.each<[string, Partial<RetryQuestion>]>([
    ['not-retryable', { facts: { ...FACTS, retryable: false, why: null } }],
    ['not-retryable', { facts: { ...FACTS, retryable: false, why: null, stop: 'pushback' } }],
    ['layer', { facts: { ...FACTS, retryable: false, why: null, stop: 'exhausted' } }],
    ['not-repeatable', { repeatable: false }],
    ['body-too-large', { bodyReplayable: false }],
    ['retries-off', { retriesOff: true }],
    ['layer', { layered: true }],
    ['retries-exhausted', { maxAttempts: 1 }],
    ['retry-after-too-long', hinted(30_001)],
    ['retry-after-too-long', { ...hinted(29_960), retryAfterCapMs: 60_000 }],
    ['deadline', { deadlineMs: 1249 }],
    ['deadline', { medianMs: () => 400, deadlineMs: 1599 }],
    ['deadline', { ...hinted(29_900), retryAfterCapMs: 60_000 }],
    ['breaker-open', { breakerOpen: () => true }],
    ['budget-exhausted', { withdraw: () => false }],
  ])('says %s', (reason, over) => {
    expect(decide(over)).toEqual({ retry: false, reason })
  })

  it('repeats after a failed connect whatever the method and the mark, but not without the body', () => {
    const connect = { connectOnly: true, facts: { ...FACTS, why: 'connect' } } as const
    expect(decide({ ...connect, repeatable: false, layered: true })).toMatchObject({ retry: true, reason: 'connect' })
    expect(decide({ ...connect, bodyReplayable: false })).toMatchObject({ reason: 'body-too-large' })
    expect(decide({ ...connect, retriesOff: true })).toMatchObject({ reason: 'retries-off' })
  })

  it('names the first reason in the fixed order', () => {
    const all: Partial<RetryQuestion>[] = [
      { repeatable: false },
      { bodyReplayable: false },
      { retriesOff: true },
      { layered: true },
      { maxAttempts: 1 },
      hinted(40_000),
      { deadlineMs: 1001 },
      { breakerOpen: () => true },
      { withdraw: () => false },
    ]
    const reasons = all.map((_, i) => decide(Object.assign({}, ...all.slice(i))))
    expect(reasons.map(r => !r.retry && r.reason)).toEqual([
      'not-repeatable',
      'body-too-large',
      'retries-off',
      'layer',
      'retries-exhausted',
      'retry-after-too-long',
      'deadline',
      'breaker-open',
      'budget-exhausted',
    ])
  })

  it('withdraws only when nothing else stands against it, and draws no jitter in vain', () => {
    const anyQuestion = fc.record({
      connectOnly: fc.boolean(),
      repeatable: fc.boolean(),
      bodyReplayable: fc.boolean(),
      layered: fc.boolean(),
      retriesOff: fc.boolean(),
      attempt: fc.integer({ min: 1, max: 4 }),
      deadlineMs: fc.constantFrom(1100, 5000, Infinity),
      open: fc.boolean(),
      hasBudget: fc.boolean(),
      hintMs: fc.option(fc.integer({ min: 0, max: 60_000 })),
    })
    fc.assert(
      fc.property(anyQuestion, ({ open, hasBudget, hintMs, ...rest }) => {
        const { q, asked } = question({
          ...rest,
          facts: { ...FACTS, retryAfterMs: hintMs },
          breakerOpen: () => open,
          withdraw: () => hasBudget,
        })
        const decision = decideRetry(q)
        const reachedBudget = decision.retry || decision.reason === 'budget-exhausted'
        expect(asked.withdrawnFor.length).toBe(reachedBudget ? 1 : 0)
        if (!rest.connectOnly && !rest.repeatable) expect(asked.delays).toBe(0)
        if (!decision.retry) return
        expect(decision.delayMs).toBeGreaterThanOrEqual(hintMs ?? 0)
        expect(q.nowMs + decision.delayMs + 50).toBeLessThanOrEqual(q.deadlineMs)
      }),
    )
  })
})
