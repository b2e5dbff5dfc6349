import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BreakerPermit, SettledOutcome } from '../../src/core/breaker-rules.js'
import type { CallKind } from '../../src/pipeline/breaker-port.js'
import { DEFAULTS, rig } from './breaker-harness.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Step =
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'acquire'; readonly kind: CallKind }
  | { readonly do: 'record'; readonly pick: number; readonly outcome: SettledOutcome }
  | { readonly do: 'p95'; readonly ms: number | null }
  | { readonly do: 'edit'; readonly windowMs: number; readonly mode: 'enforce' | 'observe' }
  | { readonly do: 'force'; readonly to: 'open' | 'closed' | 'auto' }

const outcome = fc.constantFrom<SettledOutcome>(
  'success',
  'failure',
  'failure',
  'failure',
  'ratio-failure',
  'throttled',
  'none',
)
const kind = fc.constantFrom<CallKind>('first', 'first', 'retry', 'long-poll')
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 1_200 }) }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('acquire' as const), kind }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('record' as const), pick: fc.nat(), outcome }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('p95' as const), ms: fc.constantFrom(null, 10, 900) }) },
)
const edits: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('edit' as const),
    windowMs: fc.constantFrom(1_000, 10_000, 60_000),
    mode: fc.constantFrom('enforce' as const, 'observe' as const),
  }),
  fc.record({
    do: fc.constant('force' as const),
    to: fc.constantFrom('open' as const, 'closed' as const, 'auto' as const),
  }),
)

const LEGAL = new Set([
  'closed → open: failure-ratio',
  'closed → open: consecutive-failures',
  'open → half-open: time',
  'half-open → open: probe-failed',
  'half-open → closed: probe-succeeded',
  'closed → open: manual',
  'half-open → open: manual',
  'open → closed: manual',
  'half-open → closed: manual',
])

function play(steps: readonly Step[], check: (r: ReturnType<typeof rig>, held: BreakerPermit[]) => void): void {
  let seed = 1
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const r = rig({ minRequests: 4, consecutiveFailures: 3 }, random)
  const held: BreakerPermit[] = []
  for (const action of steps) {
    if (action.do === 'pass') vi.advanceTimersByTime(action.ms)
    else if (action.do === 'p95') r.told.p95Ms = action.ms
    else if (action.do === 'force') r.breaker.force(action.to)
    else if (action.do === 'edit')
      r.breaker.reconfigure({ ...r.settings, windowMs: action.windowMs, mode: action.mode })
    else if (action.do === 'acquire') {
      const answer = r.breaker.acquire(action.kind)
      if (answer.granted) held.push(answer)
      else expect(answer.retryAfterMs).toBeGreaterThan(0)
    } else {
      const [permit] = held.splice(action.pick % Math.max(1, held.length), 1)
      if (permit !== undefined) r.breaker.record(permit, action.outcome)
    }
    check(r, held)
  }
  r.breaker.retire()
}

describe('any trace through the breaker', () => {
  it('goes through legal transitions only, each from the state the last one led to', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 12, arbitrary: step }, { weight: 1, arbitrary: edits }), { maxLength: 300 }),
        steps => {
          play(steps, r => {
            const last = r.changes.at(-1)
            expect(r.breaker.state).toBe(last?.to ?? 'closed')
            expect(last?.from).toBe(last && (r.changes.at(-2)?.to ?? 'closed'))
            if (last !== undefined) expect(LEGAL).toContain(r.steps().at(-1))
          })
        },
      ),
      { numRuns: 60 },
    )
  })

  it('never has two live probes at once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        const startedMs = new Map<BreakerPermit, number>()
        play(steps, (r, held) => {
          for (const permit of held)
            if (permit.probe && !startedMs.has(permit)) startedMs.set(permit, performance.now())
          if (r.breaker.state !== 'half-open') return
          const generation = Math.max(...held.map(permit => permit.generation))
          const live = held.filter(
            permit =>
              permit.probe &&
              permit.generation === generation &&
              performance.now() - (startedMs.get(permit) ?? 0) < 1_000,
          )
          expect(live.length).toBeLessThanOrEqual(1)
        })
      }),
      { numRuns: 100 },
    )
  })

  it('opens for no less than half of openFor and no more than maxOpenFor', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        play(steps, r => {
          const last = r.changes.at(-1)
          if (last?.to !== 'open') return
          expect(last.openForMs).toBeGreaterThanOrEqual(DEFAULTS.openForMs / 2)
          expect(last.openForMs).toBeLessThanOrEqual(DEFAULTS.maxOpenForMs)
          expect(r.breaker.openForMs).toBeLessThanOrEqual(last.openForMs ?? 0)
        })
      }),
      { numRuns: 60 },
    )
  })

  it('comes back: once the upstream is well, first attempts close it', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const r = rig({ minRequests: 4, consecutiveFailures: 3 })
        for (const action of steps) {
          if (action.do === 'pass') vi.advanceTimersByTime(action.ms)
          else if (action.do === 'acquire') r.breaker.acquire(action.kind)
          else if (action.do === 'record') r.call(action.outcome)
        }
        for (let i = 0; i < 20; i++) {
          vi.advanceTimersByTime(1_000)
          r.call('success')
        }
        expect(r.breaker.state).toBe('closed')
        r.breaker.retire()
      }),
      { numRuns: 60 },
    )
  })
})
