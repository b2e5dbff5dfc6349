import type { BreakerSettings, SettledOutcome } from '../../src/core/breaker-rules.js'
import type { BreakerTransition, CallKind } from '../../src/pipeline/breaker-port.js'
import { createBreaker } from '../../src/proxy/opossum-breaker.js'
import { BUILT_IN_POLICY } from '../support/built-in.js'

export const DEFAULTS: BreakerSettings = BUILT_IN_POLICY.breaker

/** A breaker on the (faked) timers of the process; `random` 0.5 by default: an opening lasts three quarters. */
export function rig(over: Partial<BreakerSettings> = {}, random = () => 0.5) {
  const settings: BreakerSettings = { ...DEFAULTS, ...over }
  const changes: BreakerTransition[] = []
  const told = { p95Ms: null as number | null }
  const breaker = createBreaker(Object.freeze(settings), {
    nowMs: () => performance.now(),
    random,
    p95Ms: () => told.p95Ms,
    onTransition: change => void changes.push(change),
  })
  const permit = (kind: CallKind = 'first') => {
    const answer = breaker.acquire(kind)
    if (!answer.granted) throw new Error(`refused for ${answer.retryAfterMs} ms`)
    return answer
  }
  /** One whole call; `false` when it was refused. */
  const call = (outcome: SettledOutcome, kind: CallKind = 'first') => {
    const answer = breaker.acquire(kind)
    if (answer.granted) breaker.record(answer, outcome)
    return answer.granted
  }
  const steps = () => changes.map(change => `${change.from} → ${change.to}: ${change.reason}`)
  return { breaker, settings, changes, steps, told, permit, call }
}

export type Rig = ReturnType<typeof rig>
