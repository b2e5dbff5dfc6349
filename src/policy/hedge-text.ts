/** What `forbear explain` says of hedging: when one is sent, and what it may cost. */
import { type HedgeSettings, mayRunTwice } from '../core/hedge.js'
import type { EffectivePolicy } from '../core/snapshot.js'
import { durationText } from './duration-text.js'
import { type Forecast, retriesInTenSeconds } from './forecast.js'

/** Calls a second for which the cost is told. */
const RATES = [1, 10, 100] as const

/** Nothing where it is off. */
export function hedgeTexts(method: string, policy: EffectivePolicy, future: Forecast): string[] {
  const { hedge } = policy
  if (hedge.mode === 'disabled') return []
  const never = whyNever(method, policy, future)
  if (never !== null) return [`never: ${never}`]
  const most = Math.min(hedge.maxHedges, future.maxAttempts - 1)
  const calls =
    most === 1 ? 'one more call goes out' : `up to ${most} more calls go out, each so long after the one before,`
  const what =
    hedge.mode === 'observe' ? 'one more call would go out; it is only counted' : `${calls} on another connection`
  const lines = [`${lateText(hedge)}, ${what}`]
  if (hedge.mode === 'observe') return lines
  return [
    ...lines,
    'the first good answer counts and ends the others; a failure brings the next one forward, unless it asks for a pause',
    'never while the breaker is not closed, the gate is shut or no slot is free',
    costText(policy),
  ]
}

function whyNever(method: string, { hedge, longPoll }: EffectivePolicy, { repeatability, maxAttempts }: Forecast) {
  if (longPoll) return 'the answer of a long poll is never late'
  if (maxAttempts === 1) return 'a hedge is an attempt, and only one is allowed'
  if (mayRunTwice(method, repeatability.kind, hedge.keyedWrites)) return null
  return hedge.keyedWrites
    ? `${method} is hedged only with an idempotency key`
    : `${method} is not hedged, only GET, HEAD and OPTIONS are`
}

function lateText({ after, floorMs, ceilingMs, minSamples }: HedgeSettings): string {
  if (after.kind === 'fixed') return `without an answer after ${durationText(after.delayMs)}`
  const bounds = `at least ${durationText(floorMs)}, at most ${durationText(ceilingMs)}`
  return `later than ${percentText(after.q)} of the last answers (${bounds}, once ${minSamples} are known)`
}

function costText({ hedge: { after, maxHedges }, budget }: EffectivePolicy): string {
  const half = { ...budget, ratio: budget.ratio / 2, minPerSecond: budget.minPerSecond / 2 }
  const granted = RATES.map(rate => `${retriesInTenSeconds(half, rate, true)} at ${rate} a second`).join(', ')
  const usual = after.kind === 'quantile' && maxHedges === 1 ? `about ${percentText(1 - after.q)} more calls; ` : ''
  return `${usual}never more in 10s than half of the budget: ${granted}`
}

function percentText(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`
}
