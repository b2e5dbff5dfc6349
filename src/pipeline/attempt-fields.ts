import { outgoingBaggage } from '../core/layers.js'
import type { RawHeaders } from './ports.js'
import { baggageOf, type RequestFacts } from './request-facts.js'

export interface AttemptFieldsInput {
  /** 1-based. */
  readonly attempt: number
  /** Time left, ms: while the body still comes in, the whole that runs from its end; `Infinity` = no limit. */
  readonly remainingMs: number
  readonly facts: RequestFacts
  readonly propagate: boolean
  readonly headers: RawHeaders
  readonly keyHeader: string
  /** The key that forbear minted for this request, or `null`. */
  readonly mintedKey: string | null
  readonly wallNowMs: number
}

/** Fields that forbear adds to one attempt. */
export function attemptFields(input: AttemptFieldsInput): string[] {
  const { attempt, facts } = input
  const fields = ['forbear-attempt', String(attempt)]
  if (input.remainingMs !== Number.POSITIVE_INFINITY) {
    fields.push('forbear-timeout-ms', String(Math.max(1, Math.floor(input.remainingMs))))
  }
  if (input.mintedKey !== null) fields.push(input.keyHeader, input.mintedKey)
  if (input.propagate && attempt > 1) {
    const resend = Math.max(attempt, facts.incomingResend ?? 0)
    fields.push('baggage', outgoingBaggage(baggageOf(input.headers), resend, input.wallNowMs))
  }
  return fields
}
