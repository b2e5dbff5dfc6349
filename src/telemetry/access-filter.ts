import type { Outcome } from '../core/reasons.js'
import type { RequestFinished } from './events.js'

/**
 * `errors`: outcome other than delivered and hedge-won, or status from 500. `sampled`: every request that was not plainly
 * delivered by its first attempt, and one of N of the rest. Independent of the level.
 */
export type AccessLog = 'all' | 'sampled' | 'errors' | 'off'

/** One of so many plain requests, unless another number is given. */
export const DEFAULT_SAMPLE = 100

/** Which requests get a line. `sample`: the N of `sampled`. */
export function accessFilter(which: AccessLog, sample: number): (event: RequestFinished) => boolean {
  switch (which) {
    case 'all':
      return () => true
    case 'off':
      return () => false
    case 'errors':
      return event => !isGood(event.outcome) || event.status >= 500
    case 'sampled':
      return sampled(sample)
  }
}

function sampled(sample: number): (event: RequestFinished) => boolean {
  let untraced = 0
  return event => {
    if (!isPlain(event)) return true
    if (event.traceId !== null) return isChosen(event.traceId, sample)
    const chosen = untraced === 0
    untraced = (untraced + 1) % sample
    return chosen
  }
}

/** All sidecars with the same N choose the same traces: the end of a trace id is random (W3C trace context, level 2). */
function isChosen(traceId: string, sample: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < 2 ** 32 / sample
}

function isPlain({ outcome, status, attempts, denied, polls }: RequestFinished): boolean {
  return outcome === 'delivered' && status < 500 && attempts === 1 && denied === null && polls === 0
}

function isGood(outcome: Outcome): boolean {
  return outcome === 'delivered' || outcome === 'hedge-won'
}
