import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BudgetSettings, RetryBudget, type Withdrawal } from '../../src/core/budget.js'

const DEFAULTS: BudgetSettings = { ratio: 0.2, windowMs: 10_000, minPerSecond: 0.5 }

function budgetOf(over: Partial<BudgetSettings> = {}): RetryBudget {
  return new RetryBudget({ ...DEFAULTS, ...over }, 0)
}

/** First attempts that all succeed, evenly over the second before `untilMs`. */
function feed(budget: RetryBudget, count: number, untilMs: number): void {
  for (let i = 0; i < count; i++) {
    const at = untilMs - 800 + (800 * i) / count
    budget.onFirstAttempt(at)
    budget.onFirstSuccess(at)
  }
}

function drain(budget: RetryBudget, nowMs: number, delayMs: (i: number) => number = () => 0): number {
  let granted = 0
  while (granted < 10_000 && budget.tryWithdraw(nowMs, nowMs + delayMs(granted)) !== null) granted++
  return granted
}

describe('retry budget', () => {
  it('grants a quiet client the floor and no more', () => {
    expect(drain(budgetOf(), 0)).toBe(5)
    expect(drain(budgetOf(), 0, i => i * 2000)).toBe(5)
  })

  it('grants the floor anew when the window has passed', () => {
    const budget = budgetOf()
    expect(drain(budget, 500)).toBe(5)
    expect(drain(budget, 9999)).toBe(0)
    expect(drain(budget, 10_000)).toBe(5)
  })

  it('grants the ratio of the first attempts that succeeded', () => {
    const budget = budgetOf({ minPerSecond: 0 })
    feed(budget, 100, 1000)
    expect(budget.balance(1000)).toBeCloseTo(20, 4)
    expect(drain(budget, 1000)).toBe(20)
  })

  it('grants its whole window again when it is reset by hand, but no more in this second', () => {
    const budget = budgetOf({ ratio: 0.2, minPerSecond: 0 })
    for (const atMs of [2000, 4000, 6000, 8000]) {
      feed(budget, 100, atMs)
      expect(drain(budget, atMs)).toBe(20)
    }
    expect(budget.rates(8000)).toEqual({ allowedPerSec: 8, spentPerSec: 8 })
    budget.reset(8000)
    expect(budget.balance(8000)).toBeCloseTo(80, 3)
    expect(budget.rates(8000)).toEqual({ allowedPerSec: 8, spentPerSec: 0 })
    expect(drain(budget, 8000)).toBe(0)
  })

  it('is not richer by a withdrawal from before a reset that is given back after it', () => {
    const budget = budgetOf()
    const old = budget.tryWithdraw(0, 3900)
    budget.reset(1000)
    expect(drain(budget, 2000)).toBe(5)
    budget.giveBack(old as Withdrawal, 2500)
    expect(budget.balance(2500)).toBeCloseTo(0, 3)
    expect(budget.rates(2500)).toEqual({ allowedPerSec: 0.5, spentPerSec: 0.5 })
  })

  it('earns nothing from first attempts that did not succeed', () => {
    const budget = budgetOf({ minPerSecond: 0 })
    for (let i = 0; i < 100; i++) budget.onFirstAttempt(900)
    expect(drain(budget, 1000)).toBe(0)
  })

  it('never sends the allowance of a window in one second', () => {
    const budget = budgetOf({ minPerSecond: 0 })
    for (let second = 1; second <= 9; second++) feed(budget, 100, second * 1000)
    expect(budget.balance(9000)).toBeCloseTo(180, 3)
    expect(drain(budget, 9000)).toBe(20)
    expect(drain(budget, 9000, () => 500)).toBe(0)
    expect(drain(budget, 9000, () => 1100)).toBe(20)
  })

  it('judges the second in which a retry is to be sent, not the one in which it is asked for', () => {
    const budget = budgetOf({ minPerSecond: 2 })
    for (let t = 0; t < 5; t++) expect(drain(budget, t * 100, () => 5000 - t * 100)).toBe(t === 0 ? 20 : 0)
    const spread = budgetOf({ minPerSecond: 0.5, ratio: 1 })
    feed(spread, 20, 1000)
    expect(drain(spread, 3000, i => i * 200)).toBe(5)
    expect(drain(spread, 3000, i => 5000 + i * 300)).toBe(20)
  })

  it('grants none with a ratio and a floor of 0', () => {
    const budget = budgetOf({ ratio: 0, minPerSecond: 0 })
    feed(budget, 1000, 1000)
    expect(drain(budget, 1000)).toBe(0)
    expect(budget.balance(1000)).toBeCloseTo(0, 5)
  })

  it('loses no retry to rounding', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 300 }), (percent, count) => {
        const budget = budgetOf({ ratio: percent / 100, minPerSecond: 0 })
        feed(budget, count, 1000)
        expect(drain(budget, 1000)).toBe(Math.floor((percent * count) / 100))
      }),
    )
  })

  it('takes a planned time in the past for now', () => {
    const budget = budgetOf()
    for (let i = 0; i < 5; i++) expect(budget.tryWithdraw(5000, 0)).not.toBeNull()
    expect(budget.tryWithdraw(5000, 5000)).toBeNull()
  })

  it('judges a retry again at its sending, when the load has stopped meanwhile', () => {
    const budget = budgetOf()
    feed(budget, 100, 1000)
    const granted = Array.from({ length: 20 }, () => budget.tryWithdraw(1000, 2500) as Withdrawal)
    expect(granted).not.toContain(null)
    const sent = granted.filter(withdrawal => {
      const fits = budget.stillFits(withdrawal, 2500)
      if (!fits) budget.giveBack(withdrawal, 2500)
      return fits
    })
    expect(sent).toHaveLength(5)
    expect(budget.balance(2500)).toBeCloseTo(20)
  })

  it('sends all that were granted while the load goes on', () => {
    const budget = budgetOf()
    feed(budget, 100, 1000)
    const granted = Array.from({ length: 20 }, () => budget.tryWithdraw(1000, 2500) as Withdrawal)
    feed(budget, 100, 2500)
    expect(granted.every(withdrawal => budget.stillFits(withdrawal, 2500))).toBe(true)
  })

  it('counts a retry that is sent late when it is sent', () => {
    const budget = budgetOf()
    const early = Array.from({ length: 5 }, () => budget.tryWithdraw(0, 500) as Withdrawal)
    feed(budget, 100, 2000)
    expect(budget.stillFits(early[0]!, 3000)).toBe(true)
    expect(drain(budget, 3000)).toBe(4)
  })

  it('gives back exactly what was taken, once', () => {
    const budget = budgetOf()
    const taken = budget.tryWithdraw(0, 400) as Withdrawal
    for (let i = 0; i < 4; i++) budget.tryWithdraw(0, 400)
    expect(budget.tryWithdraw(100, 400)).toBeNull()
    budget.giveBack(taken, 200)
    budget.giveBack(taken, 200)
    expect(drain(budget, 200, () => 200)).toBe(1)
  })

  it('ignores what is given back after its slot has passed', () => {
    const budget = budgetOf()
    const taken = budget.tryWithdraw(0, 30_000) as Withdrawal
    drain(budget, 12_000)
    budget.giveBack(taken, 12_000)
    expect(drain(budget, 12_500, () => 5000)).toBe(0)
  })

  it('keeps its counts when only the limits move', () => {
    const budget = budgetOf()
    expect(drain(budget, 0)).toBe(5)
    budget.reconfigure({ ...DEFAULTS, minPerSecond: 0.8 }, 100)
    expect(drain(budget, 100)).toBe(3)
    budget.reconfigure({ ...DEFAULTS, minPerSecond: 0.1 }, 200)
    expect(budget.balance(200)).toBe(0)
  })

  it('keeps its counts when the window moves', () => {
    const budget = budgetOf({ minPerSecond: 0 })
    feed(budget, 100, 9000)
    expect(drain(budget, 9000)).toBe(20)
    budget.reconfigure({ ratio: 0.4, windowMs: 20_000, minPerSecond: 0 }, 9100)
    expect(budget.balance(9100)).toBeCloseTo(20, 4)
    expect(budget.balance(27_000)).toBeCloseTo(20, 4)
    budget.reconfigure({ ratio: 0.4, windowMs: 5000, minPerSecond: 0 }, 27_001)
    expect(budget.balance(27_001)).toBeCloseTo(0, 4)
  })

  it('gives back what was taken before the window moved', () => {
    const budget = budgetOf({ minPerSecond: 1 })
    const taken = budget.tryWithdraw(4321, 4400) as Withdrawal
    for (const windowMs of [20_000, 7000, 30_000, 12_345]) {
      budget.reconfigure({ ...DEFAULTS, windowMs, minPerSecond: 1 }, 5000)
    }
    budget.giveBack(taken, 5000)
    expect(budget.balance(5000)).toBeCloseTo(12.345, 4)
  })
})

type Step =
  | { readonly kind: 'attempt' | 'success' }
  | { readonly kind: 'withdraw'; readonly delayMs: number }
  | { readonly kind: 'give-back'; readonly pick: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Step>({ kind: 'attempt' }, { kind: 'success' }) },
  {
    weight: 4,
    arbitrary: fc
      .oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 40_000 }))
      .map((delayMs): Step => ({ kind: 'withdraw', delayMs })),
  },
  { weight: 1, arbitrary: fc.nat().map((pick): Step => ({ kind: 'give-back', pick })) },
)
const gap = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 60 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3000 }) },
)
const trace = fc.array(fc.tuple(gap, step), { maxLength: 250 })
const limits = fc.record({
  ratio: fc.constantFrom(0, 0.1, 0.2, 0.5, 1.5),
  windowMs: fc.constantFrom(1000, 3333, 10_000),
  minPerSecond: fc.constantFrom(0, 0.3, 0.5, 2),
})

interface Granted {
  readonly withdrawal: Withdrawal
  readonly sendAtMs: number
  readonly slot: number
  readonly capPerSecond: number
}

describe('retry budget over random traces', () => {
  it('never exceeds its closed form, in the window and in any second', () => {
    fc.assert(
      fc.property(limits, trace, (settings, steps) => {
        const budget = new RetryBudget(settings, 0)
        const floor = (settings.minPerSecond * settings.windowMs) / 1000
        const slotOf = (at: number) => Math.floor(at / (settings.windowMs / 10))
        const attempts: number[] = []
        const successes: number[] = []
        const granted: Granted[] = []
        let now = 0
        for (const [wait, s] of steps) {
          now += wait
          if (s.kind === 'attempt') {
            attempts.push(now)
            budget.onFirstAttempt(now)
          } else if (s.kind === 'success') {
            successes.push(slotOf(now))
            budget.onFirstSuccess(now)
          } else if (s.kind === 'withdraw') {
            const withdrawal = budget.tryWithdraw(now, now + s.delayMs)
            if (withdrawal === null) continue
            const recent = attempts.filter(at => at > now - 1000).length
            const capPerSecond = Math.max(floor, settings.ratio * recent)
            granted.push({ withdrawal, sendAtMs: now + s.delayMs, slot: slotOf(now), capPerSecond })
            const inWindow = (slot: number) => slot > slotOf(now) - 10
            const allowed = settings.ratio * successes.filter(inWindow).length + floor
            expect(granted.filter(g => inWindow(g.slot)).length).toBeLessThanOrEqual(allowed + 1e-6)
          } else if (s.kind === 'give-back' && granted.length > 0) {
            const [back] = granted.splice(s.pick % granted.length, 1)
            budget.giveBack(back!.withdrawal, now)
          }
        }
        for (const from of granted) {
          const second = granted.filter(g => g.sendAtMs >= from.sendAtMs && g.sendAtMs < from.sendAtMs + 1000)
          const cap = Math.max(...second.map(g => g.capPerSecond))
          expect(second.length).toBeLessThanOrEqual(cap + 1e-6)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('sends no more in any second than its cap, though load stops during the waits and sending comes late', () => {
    const lateness = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2000 }))
    const calls = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 3000 }), lateness), {
      minLength: 20,
      maxLength: 300,
      size: 'max',
    })
    fc.assert(
      fc.property(limits, calls, (settings, steps) => {
        const budget = new RetryBudget(settings, 0)
        const attempts: number[] = []
        const due: { readonly withdrawal: Withdrawal; readonly atMs: number }[] = []
        const sent: number[] = []
        const sendUntil = (nowMs: number) => {
          due.sort((a, b) => a.atMs - b.atMs)
          while (due[0] !== undefined && due[0].atMs <= nowMs) {
            const { withdrawal, atMs } = due.shift()!
            if (budget.stillFits(withdrawal, atMs)) sent.push(atMs)
            else budget.giveBack(withdrawal, atMs)
          }
        }
        let now = 0
        for (const [wait, delayMs, lateMs] of steps) {
          now += wait
          sendUntil(now)
          attempts.push(now)
          budget.onFirstAttempt(now)
          budget.onFirstSuccess(now)
          const withdrawal = budget.tryWithdraw(now, now + delayMs)
          if (withdrawal !== null) due.push({ withdrawal, atMs: now + delayMs + lateMs })
        }
        sendUntil(Number.POSITIVE_INFINITY)
        const floor = (settings.minPerSecond * settings.windowMs) / 1000
        for (const atMs of sent) {
          const inSecond = (times: readonly number[]) => times.filter(at => at > atMs - 1000 && at <= atMs).length
          expect(inSecond(sent)).toBeLessThanOrEqual(Math.max(floor, settings.ratio * inSecond(attempts)) + 1e-6)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('is after a give-back as it was before the withdrawal', () => {
    fc.assert(
      fc.property(limits, trace, fc.integer({ min: 0, max: 40_000 }), gap, (settings, steps, delayMs, later) => {
        const run = (withExtra: boolean) => {
          const budget = new RetryBudget(settings, 0)
          let now = 0
          const play = (part: typeof steps) =>
            part.map(([wait, s]) => {
              now += wait
              if (s.kind === 'attempt') budget.onFirstAttempt(now)
              if (s.kind === 'success') budget.onFirstSuccess(now)
              return s.kind === 'withdraw' && budget.tryWithdraw(now, now + s.delayMs) !== null
            })
          play(steps.slice(0, steps.length / 2))
          const extra = withExtra ? budget.tryWithdraw(now, now + delayMs) : null
          now += later
          if (extra !== null) budget.giveBack(extra, now)
          return [play(steps.slice(steps.length / 2)), budget.balance(now)]
        }
        expect(run(true)).toEqual(run(false))
      }),
    )
  })
})

describe('hedges on the budget', () => {
  const drainHedges = (budget: RetryBudget, nowMs: number) => {
    let granted = 0
    while (granted < 10_000 && budget.tryWithdrawHedge(nowMs) !== null) granted++
    return granted
  }

  it('get half of it, in the window and in every second', () => {
    const budget = budgetOf({ minPerSecond: 0 })
    for (let second = 1; second <= 9; second++) feed(budget, 100, second * 1000)
    expect(budget.hedgeBalance(9000)).toBeCloseTo(90, 3)
    // 100 first attempts in the last second allow 20 of any kind.
    expect(drainHedges(budget, 9000)).toBe(10)
    expect(drain(budget, 9000)).toBe(10)
  })

  it('get what retries have left where that is less', () => {
    const budget = budgetOf()
    expect(drain(budget, 0)).toBe(5)
    expect([budget.hedgeBalance(0), drainHedges(budget, 0)]).toEqual([expect.closeTo(0), 0])
  })

  it('give back what they did not use, to retries as well', () => {
    const budget = budgetOf({ minPerSecond: 0.2 })
    const taken = budget.tryWithdrawHedge(0) as Withdrawal
    expect([drainHedges(budget, 0), budget.balance(0)]).toEqual([0, expect.closeTo(1)])
    budget.giveBack(taken, 0)
    budget.giveBack(taken, 0)
    expect([budget.hedgeBalance(0), budget.balance(0)]).toEqual([expect.closeTo(1), expect.closeTo(2)])
    expect(drain(budget, 0)).toBe(2)
  })

  it('never pass half, nor with retries the whole, whatever is asked and given back, also when the settings move', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            ms: fc.integer({ min: 0, max: 700 }),
            act: fc.constantFrom('call', 'call', 'call', 'hedge', 'hedge', 'retry', 'back', 'edit'),
          }),
          { maxLength: 300 },
        ),
        steps => {
          const budget = budgetOf()
          const [successes, hedges, all]: [number[], number[], number[]] = [[], [], []]
          const live: { readonly withdrawal: Withdrawal; readonly at: number; readonly hedge: boolean }[] = []
          let now = 0
          for (const { ms, act } of steps) {
            now += ms
            // What a slot of the window holds leaves with it: count what surely lies inside.
            const within = (list: readonly number[]) => list.filter(at => at > now - 9_000).length
            if (act === 'call') {
              budget.onFirstAttempt(now)
              budget.onFirstSuccess(now)
              successes.push(now)
            } else if (act === 'edit') budget.reconfigure({ ...DEFAULTS }, now)
            else if (act === 'back') {
              const one = live.pop()
              if (one === undefined) continue
              budget.giveBack(one.withdrawal, now)
              all.splice(all.indexOf(one.at), 1)
              if (one.hedge) hedges.splice(hedges.indexOf(one.at), 1)
            } else {
              const withdrawal = act === 'hedge' ? budget.tryWithdrawHedge(now) : budget.tryWithdraw(now, now)
              if (withdrawal === null) continue
              live.push({ withdrawal, at: now, hedge: act === 'hedge' })
              all.push(now)
              if (act === 'hedge') hedges.push(now)
            }
            const most = 0.2 * successes.filter(at => at > now - 10_000).length + 5
            if (act === 'hedge') expect(within(hedges)).toBeLessThanOrEqual(most / 2 + 1e-6)
            if (act === 'hedge' || act === 'retry') expect(within(all)).toBeLessThanOrEqual(most + 1e-6)
          }
        },
      ),
    )
  })
})
