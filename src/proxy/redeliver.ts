import type { Clock } from '../clock/clock.js'
import { headerValue } from '../core/headers.js'
import type { Redelivery } from '../core/park.js'
import { retryAfterMs } from '../core/retry-after.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import { ReplayDownstream, type ReplayedAnswer, type StoredRequest } from './replay-downstream.js'

/** Sends a stored request through the pipeline once, and resolves with how it went. */
export function redeliver(
  pipeline: Pick<Pipeline, 'redeliver'>,
  clock: Clock,
  pseudonym: string,
  request: StoredRequest,
  upstream: string,
): Promise<Redelivery> {
  return new Promise(resolve => {
    const downstream = new ReplayDownstream(request, pseudonym, answer => resolve(resultOf(answer, clock.wallMs())))
    const listener = pipeline.redeliver(downstream, upstream)
    if (typeof listener === 'string') resolve({ kind: 'not-sent', outcome: listener, retryAfterMs: null })
    else downstream.listener = listener
  })
}

function resultOf(answer: ReplayedAnswer, wallNowMs: number): Redelivery {
  const { status, headers, outcome, attempts, fromUpstream } = answer
  if (fromUpstream) return { kind: 'response', status, retryAfterMs: retryAfterMs(headers, wallNowMs) }
  // We are leaving, so nothing is known of it.
  if (attempts > 0 && outcome !== 'draining') return { kind: 'failure', outcome }
  const seconds = Number(headerValue(headers, 'retry-after') ?? Number.NaN)
  return { kind: 'not-sent', outcome, retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null }
}
